"""The command line: every mistake is a sentence with a remedy and the documented exit code."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from cli.commands import Run, is_a_sentence
from fakes import FACTS
from howlate import __main__ as entry
from howlate import cli
from howlate.studies import studies
from processes import completed, environment
from rights import without_rights
from sentences import meant

COMMANDS = cli.howlate.list_commands(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["", *COMMANDS, "studies show", "lab kernels", "lab fetch"])
def test_every_help_ends_with_an_example_that_is_right(howlate: Run, command: str) -> None:
    said = howlate(*command.split(), "--help")
    assert said.code == 0
    last = said.out.strip().splitlines()[-1].strip()
    assert last.startswith(f"Example: howlate {command}".strip())
    options = re.findall(r"(?<= )--?[a-z-]+", last)
    assert command == "probe" or all(option in said.out for option in options)


def test_help_lists_every_file_with_its_first_line(howlate: Run) -> None:
    said = howlate("--help")
    package = Path(cli.__file__).parent.parent
    files = [path.stem for path in package.rglob("cli/*.py") if not path.stem.startswith("_")]
    files += [path.parent.name for path in package.glob("*/cli/*/__init__.py")]
    assert sorted(f.rstrip("_") for f in files) == COMMANDS
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\S", said.out, re.MULTILINE)


def test_help_imports_no_command_and_nothing_heavy() -> None:
    code = (
        "import sys; from howlate.__main__ import main; main(['--help'])\n"
        "late = ('numpy', 'scipy', 'duckdb', 'rich', 'howlate.cli.run', 'howlate.measure.prepare')\n"
        "heavy = [name for name in late if name in sys.modules]\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = completed([sys.executable, "-c", code], env=environment())
    assert done.returncode == 0, done.stderr


UNTIL_MEASURED = """
import json, os, sys
from howlate.__main__ import main
def seen(event, values):
    if event == "subprocess.Popen" and "cyclic" in values[1]:
        print(json.dumps(sorted(sys.modules)), flush=True)
        os._exit(0)
sys.addaudithook(seen)
main(["check", "--no-wait", "--out", sys.argv[1]])
"""
RESULTS = "numpy scipy duckdb rich logging concurrent.futures statistics howlate.document howlate.statistics"
RESULTS += " howlate.sides howlate.store.loaded howlate.store.duck howlate.model.summary howlate.model.bins"
RESULTS += " howlate.model.trace"


def test_the_first_cell_waits_for_no_module_of_results(howlate: Run) -> None:
    """What is imported until the probe measures, of a `check` without options: what reads, judges or draws results is
    not among it."""
    done = completed([sys.executable, "-c", UNTIL_MEASURED, "run"], env=environment(), check=True)
    modules = json.loads(done.stdout)
    assert [name for name in modules if f"{name}.".startswith(tuple(f"{n}." for n in RESULTS.split()))] == []
    assert "howlate.measure.session" in modules
    assert len(modules) <= 335


@pytest.mark.parametrize(
    ("argv", "code", "part"),
    [
        (["chekc"], 2, 'Did you mean "check"?'),
        (["run"], 2, "`howlate run --help` shows how"),
        (["run", "mine.toml", "--scael", "2"], 2, "--scale"),
        (["run", "mine.toml", "--scale", "lots"], 2, "is not a valid float"),
        (["run", "mine.toml", "--scale", "0"], 2, "--scale must be above 0"),
        (["run", "timer"], 2, 'Did you mean "timers"?'),
        (["run", "absent.toml"], 2, "absent.toml does not exist"),
        (["run", "mine.toml", "--target", "snail:board"], 2, 'there is no target "snail"'),
        (["run", "mine.toml", "--set", "perid=1ms"], 2, 'Did you mean "period"?'),
        (["run", "mine.toml", "--set", "period=250"], 2, "Write it like 250us"),
        (["run", "mine.toml", "--set", "order.repetitions=9999"], 2, "Allow it with --most-cells 19998"),
        (["run", "mine.toml", "--resume"], 2, "no unfinished run of mine"),
        (["check", "--duration", "0"], 2, "--duration must be between 1s and 168h, not 0"),
        (["check", "--duration", "8y"], 2, '--duration: "y" is not a unit of time; known are'),
        (["check", "-D", "8d"], 2, "--duration must be between 1s and 168h, not 8d"),
        (["check", "--duration", "abc"], 2, '--duration: "abc" is not a time; write it like'),
        (["check", "--duration"], 2, "`howlate check --help` shows how"),
        (["lab", "fetch", "--mirror"], 2, "`howlate lab fetch --help` shows how"),
        (["check", "--duration", "5us"], 2, "--duration must be between 1s and 168h, not 5us"),
        (["run", "mine.toml", "--set", "dither=on", "--set", f"seed={'9' * 23}"], 2, "is too large"),
        (["check", "--cpus", "x"], 2, '"x" is not the number of a CPU. Write a list like 0-3,5 or all.'),
        (["check", "--cpus", '"]'], 2, "is not the number of a CPU"),
        (["check", "--duration", "9", "--long"], 2, "--long"),
        (["show", "absent"], 2, "absent does not exist"),
        (["show", "r", "r", "--brief"], 2, "Leave --brief out"),
        (["show", "."], 2, "has no run.json"),
        (["report"], 2, "there is no run below runs/"),
        (["report", "absent"], 2, "absent does not exist"),
        (["report", "mine="], 2, '"mine=" names no run folder'),
        (["compare", "a=.", "a=.."], 2, 'name "a"'),
        (["export", "absent", "--format", "csv"], 2, "absent does not exist"),
        (["report", ".", "--axis", "latency=5us:2us"], 2, "is empty"),
        (["report", ".", "--axis", "latncy=log"], 2, 'no chart has an axis "latncy"'),
        (["export", ".", "--format", "xls"], 2, "'csv', 'gnuplot', 'parquet'"),
        (["studies", "show", "chek"], 2, 'Did you mean "check"?'),
        (["doctor", "--run", "absent"], 2, "absent does not exist"),
        (["doctor", "--run", "absent", "--target", "local"], 2, "Leave --target out"),
        (["doctor", "--restore", "--json"], 2, "Leave --json out"),
        (["doctor", "--restore", "--target", "local"], 2, "Leave --target out"),
        (["lab", "kernel"], 2, 'Did you mean "kernels"?'),
        (["lab", "fetch"], 2, "missing argument"),
        (["lab", "run", "mine.toml", "--seeds", "0"], 2, "0 is not in the range 1-10000."),
        (["lab", "fetch", "6.1-RT"], 2, 'Did you mean "6.1-rt"?'),
        (["lab", "fetch", "6.1", "--mirror", "here"], 2, "is not the address of a mirror"),
        (["lab", "kernels", "--keyring", "absent"], 2, "absent cannot be used: it does not exist"),
    ],
)
def test_a_mistake_is_one_sentence_with_a_remedy(howlate: Run, argv: list[str], code: int, part: str) -> None:
    said = howlate(*argv)
    assert (said.code, said.out) == (code, "")
    assert is_a_sentence(said.err), said.err
    assert part in said.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["shw"], "show"),
        (["studies", "shw"], "show"),
        (["run", "mine.toml", "--scael", "2"], "--scale"),
        (["show", "--jsno", "r"], "--json"),
        (["run", "timer"], "timers"),
        (["studies", "show", "chek"], "check"),
        (["run", "mine.toml", "--set", "perid=1ms"], "period"),
    ],
)
def test_a_name_that_was_probably_meant_is_told_in_one_way(howlate: Run, argv: list[str], name: str) -> None:
    said = howlate(*argv)
    assert (said.code, meant(said.err)) == (2, name), said.err


def test_a_run_prints_its_folder_last_and_its_report_before(howlate: Run) -> None:
    said = howlate("run", "mine.toml", "--out", "r")
    assert said.code == 0, said.err
    *_, report, _circumstances, rest, brief = said.out.strip().splitlines()
    assert brief.startswith("MEASURED max=") and brief.endswith(" r")
    assert report == str(Path("r/report.html")) and rest.endswith(": howlate show --all r")
    assert Path("r/report.html").stat().st_size < 2_000_000
    assert "worst" not in said.out.lower()


def test_the_default_folder_is_a_new_one_below_runs(howlate: Run) -> None:
    folders = [Path(howlate("run", "mine.toml").out.split()[-1]) for _ in range(2)]
    assert folders[0] != folders[1]
    assert all(f.parent == Path("runs") and (f / "run.json").exists() for f in folders)


@pytest.mark.parametrize("options", [[], ["--all"], ["--cells"], ["--histogram"]])
def test_programs_find_the_same_line_last_whatever_is_shown(howlate: Run, options: list[str]) -> None:
    howlate("run", "mine.toml", "--out", "r")
    shown = howlate("show", "r", *options).out.splitlines()
    assert shown[-1:] == howlate("show", "r", "--brief").out.splitlines()


def test_json_is_json_alone(howlate: Run) -> None:
    value = json.loads(howlate("run", "mine.toml", "--out", "r", "--json").out)
    assert value["run"] == "r"
    assert [c["labels"]["load"] for c in value["cells"]] == ["none", "cpu:50"]
    shown = json.loads(howlate("show", "r", "--json").out)
    assert shown["cells"] == value["cells"]
    assert "cpu:50" in howlate("show", "r").out


def test_a_histogram_is_shown_where_it_is_asked_for(howlate: Run) -> None:
    measured = howlate("run", "mine.toml", "--out", "r", "--histogram").out
    again = howlate("show", "r", "--histogram").out
    plain = howlate("show", "r").out
    assert "wake-ups per bin" in measured and "wake-ups per bin" in again
    assert "wake-ups per bin" not in plain
    sheets = [
        item["sheet"]["kind"]
        for section in json.loads(howlate("show", "r", "--histogram", "--json").out)["document"]
        for item in section["items"]
        if "sheet" in item
    ]
    assert sheets.count("histogram") == 1


def test_a_dry_run_shows_the_plan_and_writes_nothing(howlate: Run) -> None:
    said = howlate("run", "mine.toml", "--set", "timer=spin,io_uring", "--dry-run")
    assert said.code == 0
    assert "2 of 4 cells" in said.out
    assert "not possible here" in said.out
    value = json.loads(howlate("run", "mine.toml", "--dry-run", "--json").out)
    assert len(value["cells"]) == 2
    assert value["expected_s"] > 0
    assert not Path("runs").exists()


def test_failed_cells_are_told_and_repeated_by_the_same_command(howlate: Run) -> None:
    said = howlate("run", "mine.toml", "--out", "r", stand_in="broken")
    assert said.code == 4
    assert "exit code 4" in said.out
    assert said.out.split()[-1] == "r"
    assert howlate("run", "mine.toml", "--out", "r").code == 0
    assert howlate("run", "mine.toml", "--resume").code == 2  # r is not below runs/


def test_where_nothing_is_possible_the_code_is_three(howlate: Run) -> None:
    said = howlate("run", "mine.toml", "--out", "r", stand_in="no-fifo")
    assert said.code == 3
    assert "Grant CAP_SYS_NICE" in said.out
    assert "machine late" not in said.out


def test_scale_and_changes_are_told(howlate: Run) -> None:
    assert howlate("run", "mine.toml", "--scale", "0.5", "--set", "load=none", "--out", "r").code == 0
    assert "0.5 times the study's" in howlate("show", "r", "--all").out
    run = json.loads(Path("r/run.json").read_text())
    assert run["scale"] == 0.5
    assert run["changes"] == {"load": "none"}
    assert run["study"]["settings"]["activations"] == "50"


def test_folders_that_cannot_be_written_are_sentences(howlate: Run) -> None:
    Path("file").write_text("")
    for out in ("file", "file/below", "/proc/howlate"):
        said = howlate("run", "mine.toml", "--out", out)
        assert said.code in (2, 4)
        assert is_a_sentence(said.err.splitlines(keepends=True)[-1]), said.err


@pytest.mark.parametrize("closed", ["above", "above/r", "above/r/cells", "above/r/cells/*"])
def test_a_folder_that_may_not_be_searched_is_a_sentence(howlate: Run, closed: str) -> None:
    """As nobody, for a run below a folder of somebody else's."""
    Path("above").mkdir()
    assert howlate("run", "mine.toml", "--out", "above/r").code == 0
    calls: list[tuple[str, ...]] = [
        ("show", "above/r"),
        ("show", "above/r", "--json"),
        ("report", "above/r", "-o", "report.html"),
        ("export", "above/r", "--format", "csv", "-o", "r.csv"),
        ("doctor", "--run", "above/r"),
    ]
    for argv in calls:
        assert howlate(*argv).code == 0  # and what it imports is imported
    Path("r.csv").unlink()
    for argv in calls:
        with without_rights(next(Path().glob(closed))):
            said = howlate(*argv)
        assert said.code == 4, said
        assert is_a_sentence(said.err.splitlines(keepends=True)[-1]), said.err
        assert "Permission denied" in said.err and "fault" not in said.err, said.err


@pytest.mark.parametrize("argv", [("export", "r", "--format", "csv", "-o"), ("report", "r", "-o")])
def test_an_output_that_may_not_be_looked_at_is_a_sentence(howlate: Run, argv: tuple[str, ...]) -> None:
    howlate("run", "mine.toml", "--out", "r")
    Path("closed").mkdir()
    assert howlate(*argv, "closed/out").code == 0
    with without_rights(Path("closed")):
        said = howlate(*argv, "closed/out")
    assert said.code == 4
    assert is_a_sentence(said.err), said.err
    assert "fault" not in said.err
    assert said.err.endswith("with -o.\n"), said.err


@pytest.mark.parametrize("damage", ["", "{", "[]", "\x00" * 99])
def test_a_damaged_run_folder_is_a_sentence(howlate: Run, damage: str) -> None:
    howlate("run", "mine.toml", "--out", "r")
    summary = next(Path("r/cells").glob("*/summary.json"))
    for file in (summary, Path("r/run.json")):
        file.write_text(damage)
        for argv in (
            ["show", "r"],
            ["show", "r", "--json"],
            ["report", "r"],
            ["run", "mine.toml", "--out", "r"],
        ):
            said = howlate(*argv)
            if file == summary and argv[0] == "report":
                assert said.code in (0, 4)
                continue
            assert said.code == 4, argv
            assert is_a_sentence(said.err.splitlines(keepends=True)[-1]), said.err
    shutil.rmtree("r")


def test_export_writes_every_sample(howlate: Run) -> None:
    howlate("run", "mine.toml", "--out", "r")
    said = howlate("export", "r", "--format", "text3", "-o", "r.txt")
    assert said.code == 0, said.err
    assert said.out.strip() == "r.txt"
    lines = Path("r.txt").read_text().splitlines()
    assert len([line for line in lines if line and not line.startswith("#")]) == 200
    assert howlate("export", "r", "--format", "csv").out.strip() == "r.csv"
    piped = howlate("export", "r", "--format", "text3", "-o", "-")
    assert (piped.code, piped.out) == (0, Path("r.txt").read_text())
    assert piped.err.strip() == "200 samples" and not Path("-").exists()
    for form in ("gnuplot", "parquet", "sh7780data"):
        refused = howlate("export", "r", "--format", form, "-o", "-")
        assert (refused.code, refused.out) == (2, "")
        assert f"--format {form}" in refused.err and is_a_sentence(refused.err)


def test_a_report_is_drawn_on_the_axes_that_are_asked_for(howlate: Run) -> None:
    howlate("run", "mine.toml", "--out", "r")
    asked = ("--axis", "latency=0:1ns,linear", "--axis", "counts=linear")
    said = howlate("report", "r", *asked, "-o", "r.html")
    assert said.code == 0, said.err
    assert "100 beyond 1\u202fns" in Path("r.html").read_text()
    refused = howlate("report", "r", "--axes", "published", "-o", "p.html")
    assert refused.code == 2 and not Path("p.html").exists()
    assert "published" in refused.err and is_a_sentence(refused.err)


def test_a_fault_of_our_own_is_a_sentence_and_a_file(
    howlate: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fault(text: str) -> None:
        raise RuntimeError("of our own\nsecond line")

    monkeypatch.setattr("howlate.cli._job.find_study", fault)
    said = howlate("run", "mine.toml")
    assert said.code == 4
    assert is_a_sentence(said.err)
    assert "RuntimeError" in said.err
    (file,) = tmp_path.glob("howlate-fault-*.txt")
    assert str(file) in said.err
    assert "Traceback" in file.read_text()


def test_studies_are_listed_and_shown_as_they_stand(howlate: Run) -> None:
    assert {line.split()[0] for line in howlate("studies").out.splitlines()} >= {"check", "timers"}
    assert howlate("studies", "show", "timers").out == studies()["timers"].read_text()
    assert json.loads(howlate("studies", "show", "check", "--json").out)["id"] == "check"
    assert {s["id"] for s in json.loads(howlate("studies", "--json").out)["studies"]} >= {"check", "timers"}


def test_doctor_looks_at_this_machine_and_at_a_runs(howlate: Run) -> None:
    here = json.loads(howlate("doctor", "--json").out)["findings"]
    howlate("run", "mine.toml", "--out", "r")
    assert json.loads(howlate("doctor", "--run", "r", "--json").out)["findings"] == here
    run = json.loads(Path("r/run.json").read_text())
    assert run["facts"] == FACTS
    assert {f["check"] for f in run["findings"]} == {f["check"] for f in here}
    assert howlate("doctor").code == 0
    assert "nothing to restore" in howlate("doctor", "--restore").out


def test_the_probe_is_handed_its_arguments() -> None:
    done = completed(
        [sys.executable, "-m", "howlate", "probe", "--json", "x", "--help"],
        env=environment(HOWLATE_PROBE="/bin/echo"),
    )
    assert (done.returncode, done.stdout) in [(0, "--json x --help\n"), (0, "--json x --help \n")]


def test_every_help_says_the_same_number_of_loads(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for words in (["--help"], ["check", "--help"]):
        entry.main(words)
        said.append(" ".join(capsys.readouterr().out.split()))
    assert all("four loads" in text and "five loads" not in text for text in said)


def test_the_command_that_compare_gives_for_a_page_makes_the_page_of_that_comparison(
    howlate: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOWLATE_COMMAND", "./howlate")
    howlate("run", "mine.toml", "--set", "timer=spin,clock_nanosleep", "--out", "two ways")
    said = howlate("compare", "Tuesday=two ways", "--by", "timer")
    assert said.code == 0, said.err
    last = said.out.splitlines()[-1]
    assert last == "as a page: ./howlate report 'Tuesday=two ways' --by timer"
    assert howlate(*shlex.split(last.partition("./howlate ")[2]), "-o", "page.html").code == 0
    page = Path("page.html").read_text()
    assert 'id="compare"' in page and "Tuesday: " in page
    howlate("report", "two ways", "-o", "plain.html")
    assert 'id="compare"' not in Path("plain.html").read_text()
    refused = howlate("report", "two ways", "--by", "timer", "--format", "svg")
    assert refused.code == 2 and is_a_sentence(refused.err)


def test_a_page_of_two_runs_calls_them_by_their_names(howlate: Run) -> None:
    howlate("run", "mine.toml", "--out", "r")
    howlate("run", "mine.toml", "--set", "load=none", "--set", "period=2ms", "--out", "s")
    assert howlate("report", "quick=r", "slow=s", "-o", "page.html").code == 0
    page = Path("page.html").read_text()
    assert ">quick " in page and ">slow " in page and ">quick · cpu:50" in page


def test_commands_to_go_on_are_given_as_they_are_typed(howlate: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hint without a placeholder, with the run's own folder, and howlate as it was called."""
    monkeypatch.setenv("HOWLATE_COMMAND", "./howlate")
    howlate("run", "mine.toml", "--set", "timer=spin,clock_nanosleep", "--set", "load=none", "--out", "few")
    few = howlate("show", "few", "--all")
    assert "RUN" not in few.out and "`--set order.repetitions=8`" in few.out
    asked = ("--set", "timer=spin,clock_nanosleep", "--set", "load=none", "--set", "order.repetitions=8")
    howlate("run", "mine.toml", *asked, "--out", "eight times")
    many = howlate("show", "eight times", "--all")
    command = "./howlate compare 'eight times' --by timer"
    assert f"`{command}`" in " ".join(many.out.split())
    assert howlate(*shlex.split(command)[1:]).code == 0
