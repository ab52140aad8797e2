"""How a run goes on that was interrupted: one answer, wherever it is asked."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from howlate.errors import UsageError
from howlate.model.run import NOT_EXPLAINED, Run, policy_without_right
from howlate.model.study import spell
from howlate.model.units import format_duration
from howlate.studies import studies
from howlate.words.printable import shell_line, shell_path

UNTIL_DECIDED, UNTIL_CLUSTER, ROUNDS_APART = "run.until-decided", "run.until-cluster", "run.rounds-apart"
"""Rules of what a run notes whose rounds were added while it was measured (verdict/judge.py)."""
ROUNDS = ("order.kind", "order.repetitions")
"""Changes that the options of rounds make."""


def command_of(
    run: Run, folder: Path, command: str = "run", study: str = "", added: Collection[str] = ()
) -> list[str]:
    """The command that measures the cells that a run lacks, with the options that its folder keeps. `added`: changes
    that the user did not give."""
    words = [*command.split(), study or run.study.id, "--out", str(folder)]
    threshold = run.changes.get("threshold", "")
    if threshold and words[:2] == ["run", "check"] and _is_of_check(run):  # `check` ends the run as well
        words, added = [*words[1:], f"--threshold={threshold}"], {*added, "threshold"}
    words += [f"--set={name}={value}" for name, value in run.changes.items() if name not in added]
    words += [f"--set={name}={value}" for name, value in _chosen_here(run).items()]
    words += [f"--scale={run.scale:g}"] if run.scale != 1 else []
    words += [f"--target={run.target}"] if run.target != "local" and command == "run" else []
    return words


def _is_of_check(run: Run) -> bool:
    """Whether its cells record causes where that is possible without an option, as `check` has it."""
    is_refused = any(note.rule == NOT_EXPLAINED.id for note in run.warnings)
    is_explained = is_refused or any(cell.parameters.get("explain") for cell in run.plan.cells)
    return is_explained and "explain" not in run.changes


def _chosen_here(run: Run) -> dict[str, str]:
    """What `check` and the machine chose beyond the study and its changes."""
    is_studied = any(
        name.endswith(".explain") and held.get("value") is True for name, held in run.settings.items()
    )
    names = [] if is_studied else ["explain"]
    names += ["policy"] if any(map(policy_without_right, run.warnings)) else []
    found = {name: {spell(cell.parameters.get(name, False)) for cell in run.plan.cells} for name in names}
    chosen = {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
    return {name: value for name, value in chosen.items() if value != "off" and name not in run.changes}


def go_on_with(run: Run, folder: Path) -> str:
    """The command whole; where it had options or files that no run folder keeps, how to repeat it."""
    rounds = _rounds(run)
    if run.virtual or run.machines or run.study.id not in studies() or rounds is None:
        return f"the same command with --out {shell_path(folder)}"
    words = command_of(run, folder, added=ROUNDS if rounds else ())
    return f"`howlate {shell_line([*words, *rounds])}`"


def _rounds(run: Run) -> list[str] | None:
    """The options of a run that is measured in rounds; None where it does not say which."""
    noted = {note.rule: note for note in run.warnings}
    if (apart := noted.get(ROUNDS_APART)) is not None:
        number = max((cell.repetition for cell in run.plan.cells), default=1)
        every_s = apart.number("every_s")
        return [f"--rounds={number}", f"--every={_spelt(every_s)}"] if every_s else None
    if (asked := noted.get(UNTIL_DECIDED)) is None:
        return None if "order.repetitions" in run.changes else []
    at_most_s, horizon_s = (asked.number(name) for name in ("at_most_s", "horizon_s"))
    miss_rate = asked.number("miss_rate", 0, 1)
    cluster = noted[UNTIL_CLUSTER].number("cluster", 1) if UNTIL_CLUSTER in noted else 1
    if (
        not at_most_s
        or horizon_s is None
        or miss_rate is None
        or cluster is None
        or not horizon_s + miss_rate
    ):
        return None
    given = {
        "at-most": _spelt(at_most_s),
        "miss-rate": miss_rate,
        "horizon": _spelt(horizon_s) if horizon_s else "",
        "cluster": cluster if cluster != 1 else "",
    }
    return ["--until-decided", *(f"--{name}={value}" for name, value in given.items() if value)]


def _spelt(seconds: float) -> str:
    return format_duration(round(seconds * 1e9) or 1)


def no_whole_cell(run: Run, folder: Path) -> UsageError:
    return UsageError(
        "{run} has no whole cell", remedy="go on with {command}", run=folder, command=go_on_with(run, folder)
    )
