"""`howlate lab run`, and `run` and `show` of several kernels, with kernels that are made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

import howlate.lab.targets.lab as backend
from cli.commands import Run
from fakes import FakeLab
from howlate.cli._say import say
from howlate.errors import REMEDIED, TargetError, UsageError
from howlate.lab.archive.apt import AptArchive
from howlate.lab.archive.mirror import MirrorArchive
from howlate.lab.archive.packages import Archive
from howlate.model.guest_cpus import GUEST, USUAL, GuestCpus
from howlate.statistics.groups import VIRTUAL_TIME as VIRTUAL_TIME_RULE
from howlate.store.run_folder import RunFolder
from howlate.targets import LabOptions
from howlate.words.say import english
from made_study import study_text

VIRTUAL_TIME = english(VIRTUAL_TIME_RULE())
RUN = ("lab", "run", "mine.toml", "--kernels", "6.1,6.1-rt", "--seeds", "2", "--set", "activations=50")
STUDY = study_text(activations="50", dither=True, axes={"load": ["none", "cpu:50"]})


@pytest.fixture
def opened(howlate: Run, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the lab was opened with last, and the lab, which `lab` may replace."""
    seen: dict[str, Any] = {"lab": None}

    def open_lab(
        names: str,
        options: LabOptions = LabOptions(),  # noqa: B008 - frozen
        archive: Archive | None = None,
        say: Callable[[str], None] = print,
    ) -> FakeLab:
        seen.update(asdict(options), names=names, archive=archive, say=say)
        return seen["lab"] or FakeLab(tuple(names.split(",")))

    monkeypatch.setattr(backend, "open_lab", open_lab)
    Path("mine.toml").write_text(STUDY)
    return seen


def test_a_lab_run_ends_with_its_folder_and_goes_on(
    howlate: Run,
    opened: dict[str, Any],
) -> None:
    said = howlate(*RUN, "--out", "r")
    assert said.code == 0, said.err
    assert said.out.split()[-1] == "r"
    assert len(said.out.splitlines()) <= 23 and VIRTUAL_TIME[:60] in said.out
    every = howlate("show", "r", "--all").out
    assert "2 seeds" in every and "kernels late" in every
    assert VIRTUAL_TIME in " ".join(every.split())
    assert opened["names"] == "6.1,6.1-rt"
    assert (opened["clock"], opened["jobs"], opened["cached"]) == ("virtual", 0, True)
    assert len(RunFolder.open(Path("r")).whole_cells()) == 8
    opened["lab"] = FakeLab()
    assert howlate(*RUN, "--out", "r", "--no-cache", "--jobs", "1").code == 0
    assert opened["lab"].measured == []
    assert (opened["jobs"], opened["cached"]) == (1, False)


def test_a_guests_speed_is_in_the_tables_and_the_run(howlate: Run, opened: dict[str, Any]) -> None:
    slow = GuestCpus(mips=250)
    opened["lab"] = FakeLab(facts=slow.facts())
    said = howlate(*RUN, "--mips", "250", "--out", "r")
    assert said.code == 0, said.err
    assert (opened["mips"], opened["cpus"], opened["turn_ns"]) == (250, None, 0)
    assert f"guest {slow}" in " ".join(howlate("show", "r", "--all").out.split())
    cells = json.loads(Path("r/run.json").read_text())["plan"]["cells"]
    assert {cell["labels"][GUEST] for cell in cells} == {str(slow)}
    opened["lab"] = FakeLab()
    assert howlate(*RUN, "--out", "usual").code == 0
    assert "MIPS" not in Path("usual/run.json").read_text()
    said = howlate("compare", "r", "usual", "--json")
    for guest in (slow, USUAL):  # a table of its own, with the kernels as its sides
        assert any(each["labels"][GUEST] == str(guest) for each in json.loads(said.out)["tables"])
    assert howlate("compare", "r", "usual", "--by", GUEST).code == 0


def test_a_study_says_how_many_cpus_its_guests_have_and_the_user_overrides_it(
    howlate: Run, opened: dict[str, Any]
) -> None:
    Path("mine.toml").write_text(STUDY + "[lab]\ncpus = 2\n")
    for words, cpus in (
        (("lab", "run", "mine.toml", "--kernels", "6.1"), 2),
        (("lab", "run", "mine.toml", "--kernels", "6.1", "--guest-cpus", "1"), 1),
        (("lab", "run", "mine.toml", "--kernels", "6.1", "--guest-cpus", "4"), 4),
        (("run", "mine.toml", "--target", "lab:6.1"), 2),
        (("run", "mine.toml", "--target", "lab:6.1", "--set", "load=none"), 2),
    ):
        assert howlate(*words, "--seeds", "1", "--dry-run").code == 0
        assert opened["cpus"] == cpus, words


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ("0", "turns of 0"),
        ("0us", "turns of 0"),
        ("1500ns", "turns of 1500 ns"),
        ("2ms", "turns of 2"),
        ("5", "has no unit"),
        ("-5us", "not a time"),
        ("fast", "not a time"),
        ("", "not a time"),
    ],
)
def test_a_turn_that_cannot_be_is_refused_before_the_lab_is_opened(
    howlate: Run, opened: dict[str, Any], turn: str, reason: str
) -> None:
    said = howlate(*RUN, "--guest-cpus", "2", f"--turn={turn}")
    assert said.code == 2, said.err
    assert reason in said.err and "us" in said.err
    assert "turn_ns" not in opened


def test_a_turn_that_can_be_is_what_the_lab_is_opened_with(howlate: Run, opened: dict[str, Any]) -> None:
    assert howlate(*RUN, "--guest-cpus", "2", "--turn", "20us", "--dry-run").code == 0
    assert opened["turn_ns"] == 20_000


def test_a_lab_run_goes_on_only_in_the_same_guests(howlate: Run, opened: dict[str, Any]) -> None:
    opened["lab"] = FakeLab(behaviours={"6.1": ["broken"]})
    assert howlate(*RUN, "--out", "r").code == 4
    for changed, why in (
        ({"lab.guest": "2"}, "another build of the probe"),
        ({"lab.guest": "2", "lab.emulator": "QEMU 9"}, "another version of QEMU"),
    ):
        opened["lab"] = FakeLab(facts=changed)
        said = howlate(*RUN, "--out", "r")
        assert said.code == 2
        assert "another guest of 6.1" in said.err and why in said.err
        assert opened["lab"].measured == []
    opened["lab"] = FakeLab()
    assert howlate(*RUN, "--out", "r").code == 0
    assert len(opened["lab"].measured) == 1


def test_run_says_what_it_fetches_too(howlate: Run, opened: dict[str, Any]) -> None:
    howlate("run", "mine.toml", "--target", "lab:6.1", "--seeds", "1", "--dry-run")
    assert opened["names"] == "6.1"
    assert opened["say"] is say


def test_no_seed_is_refused_and_a_changed_one_is_not_lost_without_a_word(
    howlate: Run,
    opened: dict[str, Any],
) -> None:
    for command in (("lab", "run", "mine.toml", "--kernels=6.1"), ("run", "mine.toml", "--target=lab:6.1")):
        said = howlate(*command, "--seeds", "0")
        assert said.code == 2 and "--seeds" in said.err
    told, rules = [], []
    for name, changes in (("r", ("--set", "seed=7")), ("other", ())):
        howlate(*RUN, "--out", name, *changes)
        told.append(" ".join(howlate("show", name, "--all").out.split()))
        rules.append({note.rule: note for note in RunFolder.open(Path(name)).read_run().warnings})
    note = rules[0]["run.seed-changes-nothing"]
    assert note.values["seeds"] == 2 and english(note) in told[0]
    assert "run.seed-changes-nothing" not in rules[1]


def test_json_of_a_lab_run_has_cells_and_groups(howlate: Run, opened: dict[str, Any]) -> None:
    value = json.loads(howlate(*RUN, "--out", "r", "--json").out)
    assert (len(value["cells"]), len(value["groups"])) == (8, 4)
    assert value["clock"] == "virtual"
    assert json.loads(howlate("show", "r", "--json").out)["groups"] == value["groups"]


def test_a_dry_run_shows_kernels_and_seeds(howlate: Run, opened: dict[str, Any]) -> None:
    said = howlate(*RUN, "--dry-run")
    assert said.code == 0
    assert "8 of 8 cells" in said.out and "with 2 at once" in said.out
    assert VIRTUAL_TIME in " ".join(said.out.split())
    rows = [line.split()[-3:-1] for line in said.out.splitlines() if line.startswith("6.1-rt")]
    assert [cells for cells, _each in rows] == ["2", "2"]
    cells = json.loads(howlate(*RUN, "--dry-run", "--json").out)["cells"]
    assert {c["machine"] for c in cells} == {"6.1", "6.1-rt"}
    assert not list(Path().glob("runs/*"))


def test_a_kernel_that_does_not_know_its_parameter_is_told_and_the_others_go_on(
    howlate: Run,
    opened: dict[str, Any],
) -> None:
    unknown = UsageError(
        REMEDIED(problem="the kernel of 6.1 does not know the parameter nosuch", remedy="leave it out")
    )
    opened["lab"] = FakeLab(answers={"6.1": unknown})
    said = howlate(*RUN, "--out", "r")
    assert said.code == 4
    assert len(RunFolder.open(Path("r")).whole_cells()) == 4
    assert f"failed: {unknown.message}. Leave it out" in said.err
    assert "does not know" in said.out
    assert "3 more cells" in " ".join(howlate("show", "r", "--all").out.split())


def test_what_fails_is_told_with_the_last_lines_of_the_console(
    howlate: Run,
    opened: dict[str, Any],
) -> None:
    opened["lab"] = FakeLab(behaviours={"6.1": ["panic"]})
    said = howlate(*RUN, "--out", "r")
    assert said.code == 4
    assert "the guest panicked\n    Kernel panic - not syncing: made\n" in said.err
    assert "not measured" in said.out or "the guest panicked" in said.out


def test_a_kernel_that_does_not_boot_is_told_once(howlate: Run, opened: dict[str, Any]) -> None:
    opened["lab"] = FakeLab(answers={"6.1": TargetError(REMEDIED(problem="6.1 did not boot", remedy=""))})
    said = howlate(*RUN, "--out", "r")
    assert said.code == 4
    assert said.out.count("6.1 did not boot") == 1
    assert "3 more cells" in howlate("show", "r", "--all").out


def test_kernels_and_seeds_have_to_be_named_rightly(howlate: Run, opened: dict[str, Any]) -> None:
    said = howlate("lab", "run", "mine.toml")
    assert said.code == 2
    assert "--kernels 6.1,6.1-rt" in said.err
    assert howlate(*RUN, "--set", "order.repetitions=3").code == 2
    with_axis = "\n".join((*STUDY.splitlines(), 'kernel = ["7.2"]'))
    Path("mine.toml").write_text(with_axis)
    assert howlate("lab", "run", "mine.toml", "--seeds", "1", "--out", "r").code == 0
    assert opened["names"] == "7.2"
    opened["lab"] = FakeLab(("bzImage-mine",))
    assert (
        howlate("lab", "run", "mine.toml", "--own-kernel", "bzImage-mine", "--out", "own", "--seeds=1").code
        == 0
    )
    assert (opened["names"], [str(p) for p in opened["own"]]) == ("", ["bzImage-mine"])


def test_a_study_of_kernels_is_refused_on_this_machine(howlate: Run) -> None:
    Path("mine.toml").write_text("\n".join((*STUDY.splitlines(), 'kernel = ["6.1", "6.1-rt"]')))
    said = howlate("run", "mine.toml")
    assert said.code == 2
    assert "(6.1, 6.1-rt)" in said.err and "lab run mine`" in said.err


def test_an_interrupt_says_how_to_go_on_with_kernels_and_seeds(
    howlate: Run,
    opened: dict[str, Any],
) -> None:
    opened["lab"] = FakeLab(behaviours={"6.1": ["hang", "interrupt"]})
    said = howlate(*RUN, "--out", "r")
    assert said.code == 5
    assert "mine.toml --out r" in said.err
    assert "--seeds=2 --kernels=6.1,6.1-rt" in said.err
    assert "--target" not in said.err


def test_kernels_come_from_a_mirror_where_there_is_no_apt(howlate: Run, opened: dict[str, Any]) -> None:
    howlate(*RUN, "--out", "r", "--dry-run", "--mirror", "file:///made", "--keyring", "mine.toml")
    assert isinstance(opened["archive"], MirrorArchive)
    assert opened["archive"].addresses == ("file:///made",)
    howlate(*RUN, "--out", "r", "--dry-run")
    assert isinstance(opened["archive"], AptArchive)


def test_show_tells_of_cells_and_kernels(howlate: Run, opened: dict[str, Any]) -> None:
    howlate(*RUN, "--out", "r")
    assert sum(line.startswith("6.1-rt") for line in howlate("show", "r", "--cells").out.splitlines()) == 4
    said = howlate("show", "r", "--configs")
    assert "PREEMPT_RT: n (6.1); y (6.1-rt)" in said.out
    howlate("run", "mine.toml", "--out", "plain")
    said = howlate("show", "plain", "--configs")
    assert said.code == 2


def test_the_study_s_own_kernels_are_the_lab_s_where_none_are_named(
    howlate: Run,
    opened: dict[str, Any],
) -> None:
    """Not an axis: on this machine the study has the kernel that is here."""
    Path("own.toml").write_text(STUDY + '[lab]\nkernels = ["6.1", "6.1-rt"]\n')
    words = ("own.toml", "--seeds", "2", "--dry-run")
    assert howlate("lab", "run", *words).code == 0
    assert opened["names"] == "6.1,6.1-rt"
    assert howlate("lab", "run", *words, "--kernels", "6.12").code == 0
    assert opened["names"] == "6.12"
    assert howlate("run", *words, "--target", "lab").code == 0
    assert opened["names"] == "6.1,6.1-rt"
    opened.clear()
    said = howlate("run", "own.toml", "--dry-run")
    assert said.code == 0 and "2 of 2 cells" in said.out and not opened


def test_parts_of_a_lab_run_have_tables_of_their_own(howlate: Run, opened: dict[str, Any]) -> None:
    part = STUDY.partition('test = "cyclic"')[2]
    text = STUDY.partition("test =")[0]
    for name in ("one", "two"):
        own = part.replace("[settings]", "[part.settings]").replace("[axes]", "[part.axes]")
        text += f'[[part]]\nid = "{name}"\ntitle = "The {name}"\ntest = "cyclic"\n{own}'
    Path("parts.toml").write_text(text)
    words = ("parts.toml", "--kernels", "6.1,6.1-rt", "--seeds", "2", "--out", "r")
    said = howlate("lab", "run", *words, "--set", "two.load=none")
    assert said.code == 0, said.err
    first, _, second = howlate("show", "r", "--all").out.partition("two: The two")
    assert "one: The one" in first
    assert (first.count("spread over 2 seeds"), second.count("spread over 2 seeds")) == (1, 1)
    assert "cpu:50" in first and "cpu:50" not in second.partition("What makes")[0]
    page = Path("r/report.html").read_text()
    assert 'id="part-one"' in page and 'id="part-two"' in page
    idents = [line.split('"')[0] for line in page.split(' id="')[1:]]
    assert len(idents) == len(set(idents))
    value = json.loads(howlate("show", "r", "--json").out)
    assert [group["labels"]["part"] for group in value["groups"]] == ["one"] * 4 + ["two"] * 2
    for form in ("csv", "parquet", "gnuplot", "text3"):
        assert howlate("export", "r", "--format", form, "-o", f"r.{form}").code == 0


@pytest.mark.parametrize("named", [(), ("--own-kernel", "other=bzImage")])
def test_why_asks_for_the_file_of_a_kernel_of_ones_own(
    howlate: Run, opened: dict[str, Any], named: tuple[str, ...]
) -> None:
    opened["lab"] = FakeLab(("mine[preempt=none]",))
    run = ("lab", "run", "mine.toml", "--own-kernel", "mine=bzImage[preempt=none]", "--seeds", "1")
    assert howlate(*run, "--set", "load=none", "--out", "r").code == 0
    opened["lab"] = FakeLab(("other",))
    done = howlate("lab", "why", "r", *named)
    assert done.code == 2 and "--own-kernel mine[preempt=none]=PATH" in done.err, done.err


def test_prove_opens_the_lab_with_kernels_and_modules_of_ones_own(
    howlate: Run, opened: dict[str, Any]
) -> None:
    opened["lab"] = FakeLab(
        ("mine",), answers={"mine": TargetError(REMEDIED(problem="mine is stuck", remedy=""))}
    )
    built = ("--own-kernel", "mine=bzImage", "--module", ".")
    done = howlate("lab", "prove", *built, "--load", "none")
    assert done.code == 4 and "mine is stuck" in done.err
    assert (opened["names"], opened["own"], opened["modules"]) == (
        "",
        (Path("mine=bzImage"),),
        (Path(),),
    )
