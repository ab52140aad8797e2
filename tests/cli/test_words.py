"""One way to say each thing: the task that `check` measures, other programs' options, and old names."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from cli.commands import Run, is_a_sentence
from howlate.cli._job import Job
from howlate.cli._of_others import PROGRAMS, RENAMED
from howlate.errors import UsageError
from howlate.plan.changes import parse_change
from howlate.studies import find_study
from howlate.system import paths as places
from tree_of_commands import leaves, parsed

OPTIONS = Path(__file__).parents[1] / "fixtures" / "options"
LISTED = [
    line
    for name in ("cyclictest.txt", "rtla-timerlat.txt")
    for line in (OPTIONS / name).read_text().splitlines()
    if not line.startswith("#")
]
LISTED += [
    "-P d:500us:1ms",
    "-P r:5",
    "-P o:0",
    "-a 1-2,5",
    "-a 1ms",
    "-p 95 -i 1000",
    "-i 500 -d 60",
    "-h 400 -R -q",
]
OWN = {"--period", "--policy", "--priority", "--cpus", "--warm-up", "-D", "--duration"}
"""Those that `check` has itself, with units and policies spelt its way."""
PROBE = places.probe_path()
PLANNED: set[str] = set()
"""Lines of answers that were planned already."""
SHORT = ("--duration", "1s", "--no-wait", "--load", "none", "--dry-run")


@pytest.mark.parametrize("words", LISTED)
def test_an_option_of_another_program_is_taken_or_answered(
    words: str, howlate: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of the answer are calls; those of `check` can be planned by the real probe."""
    monkeypatch.setenv("HOWLATE_PROBE", str(PROBE))
    done = howlate("check", *words.split(), "--dry-run")
    if re.split("[ =]", words)[0] in OWN and done.code in (0, 3):
        return
    assert done.code == 2 and is_a_sentence(done.err), done
    if re.split("[ =]", words)[0] in OWN:  # without a unit, say: the sentence shows how it is spelt
        return
    lines = re.findall(r"`howlate ([^`]*)`", done.err)
    assert lines, done.err
    for line in set(lines) - PLANNED:
        argv = shlex.split(line)
        parsed(argv)
        if argv[0] == "check":
            planned = howlate(*argv, *([] if "--duration" in argv else SHORT[:2]), *SHORT[2:])
            assert planned.code in (0, 3), (line, planned)
        PLANNED.add(line)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (
            "-p 95 -i 1000",
            "`howlate check --priority 95 --period 1000us` or `howlate check --period 95us --threshold 1000us`",
        ),
        ("-m -S -p 95 -h 400 -q", "`howlate check --cpus all --priority 95 --histogram --brief`"),
        ("-S -R", "`howlate check --cpus all` and `howlate probe clock --duration 2s`"),
        ("-a 1-2,5", "`howlate check --cpus 1-2,5`"),
        (
            "--load none,disk -l 500 -D3 --no-wait",
            "`howlate check --load none,disk -D3 --no-wait --set activations=500`",
        ),
        ("-P d:500us:1ms", "`howlate check --policy deadline:500us:1ms:1ms`"),
        ("-t 2 -i 500 -S", "`howlate check --cpus all --period 500us`"),
        (
            "-t 3 -a 1",
            "`howlate check --cpus 1` or `howlate check --threshold 1us --set break-trace=true`",
        ),
    ],
)
@pytest.mark.parametrize("command", ["check", ""])
def test_all_options_of_another_program_are_one_line(
    command: str, words: str, answer: str, howlate: Run
) -> None:
    """Also where no command is named; no option but --set stands twice in it."""
    if not command and words.startswith("--load"):
        return
    said = howlate(*command.split(), *words.split()).err
    assert said.endswith(f". Write {answer}.\n"), said


def test_help_is_help_and_an_unknown_option_stays_unknown(howlate: Run) -> None:
    assert howlate("check", "-h").code == 0
    assert 'no option "--frobnicate"' in howlate("check", "--frobnicate").err


@pytest.mark.parametrize("name", PROGRAMS)
def test_another_program_is_answered_with_a_call(name: str, howlate: Run) -> None:
    done = howlate(name, "-p", "80")
    line = re.search(r"`howlate ([^`]*)`", done.err)
    assert done.code == 2 and line is not None
    assert line[1].split()[0] in {words.split()[0] for words in leaves()}


DIFFER = {"--format"}
"""What is read and what is written have formats of their own."""


def _meaning(option: click.Option) -> tuple[object, ...]:
    """What may be given: a value of which kind, how often."""
    kind = "choice" if isinstance(option.type, click.Choice) else option.type.name.removesuffix(" range")
    return (option.metavar or "").split("[")[0], option.is_flag, option.multiple, kind


def test_an_option_means_the_same_in_all_commands() -> None:
    found: dict[str, dict[tuple[object, ...], list[str]]] = {}
    for command, leaf in leaves().items():
        for option in (param for param in leaf.params if isinstance(param, click.Option)):
            for name in option.opts:
                found.setdefault(name, {}).setdefault(_meaning(option), []).append(command)
    assert {name: kinds for name, kinds in found.items() if len(kinds) > 1 and name not in DIFFER} == {}


def test_a_folder_of_a_run_and_a_file_for_a_result_are_told_apart() -> None:
    """--out is a run folder, and -o and --output are two names of one option."""
    for command, leaf in leaves().items():
        for option in (param for param in leaf.params if isinstance(param, click.Option)):
            if "--out" in option.opts:
                assert option.metavar == "DIR" and "run folder" in (option.help or "").lower(), command
            if {"-o", "--output"} & set(option.opts):
                assert option.opts == ["-o", "--output"] and option.metavar == "FILE", command


@pytest.mark.parametrize(
    ("command", "old"), [(command, old) for command, own in RENAMED.items() for old in own]
)
def test_an_old_name_is_taken_with_a_hint(command: str, old: str, howlate: Run) -> None:
    """The new name is the command's, and the old one is not any more."""
    options = {name: param for param in leaves()[command].params for name in param.opts}
    new = RENAMED[command][old]
    assert new in options and old not in options
    found = options[new]
    assert isinstance(found, click.Option)
    done = howlate(*command.split(), old, *([] if found.is_flag else ["?"]), "--", "--nothing")
    assert done.err.startswith(f"howlate: {old} of {command} is called {new} now")


@pytest.mark.parametrize(
    ("job", "changes"),
    [
        (Job(), {}),
        (Job(period="500us", policy="fifo:90"), {"period": "500us", "policy": "fifo:90"}),
        (Job(priority="90"), {"policy": "fifo:90"}),
        (Job(policy="rr", priority="9,10"), {"policy": ("rr:9", "rr:10")}),
        (Job(cpus="2-3,5"), {"cpus": "2-3,5"}),
        (Job(loads=("none,cpu:50,cpus=1", "disk")), {"load": ("none", "cpu:50,cpus=1", "disk")}),
        (Job(deadline="300us", warm_up="1s"), {"deadline": "300us", "warm-up": "1s"}),
        (Job(duration="10"), {"duration": "2s"}),
        (Job(duration="10s", loads=("none",)), {"duration": "10s"}),
        (
            Job(duration="10s", loads=("none",), period="1ms,2ms"),
            {"period": ("1ms", "2ms"), "duration": "5s"},
        ),
        (Job(cell_duration="10s"), {"duration": "10s"}),
    ],
)
def test_a_job_is_settings_of_the_study(job: Job, changes: dict[str, str | tuple[str, ...]]) -> None:
    """--duration is the whole measurement's, and --cell-duration one cell's."""
    set_ = dict(map(parse_change, job.changes(find_study("check"), ())))
    own = {name: values if isinstance(values, tuple) else (values,) for name, values in changes.items()}
    assert {name: value for name, value in set_.items() if name in own} == {**own} and set(own) <= set(set_)
    assert set_.keys() - own.keys() <= {"load"}


@pytest.mark.parametrize(
    "job",
    [
        Job(period=""),
        Job(policy="fifo:90", priority="80"),
        Job(duration="10s", cell_duration="1s"),
        Job(duration="1ms"),
        Job(cell_duration="8d"),
        Job(deadline="0"),
    ],
)
def test_a_job_that_contradicts_itself_is_refused(job: Job) -> None:
    with pytest.raises(UsageError):
        job.changes(find_study("check"), ())


def test_check_plans_the_job(howlate: Run) -> None:
    words = "--period 500us --policy other --load none,disk --cpus 0 --deadline 300us --cell-duration 2s"
    done = howlate("check", *words.split(), "--target", "local", "--dry-run", "--json")
    assert done.code == 0
    cells = json.loads(done.out)["cells"]
    assert [cell["labels"]["load"] for cell in cells] == ["none", "disk"]
