"""How a run goes on that was interrupted: one answer, wherever it is asked."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from howlate.errors import UsageError
from howlate.model.run import Run, policy_without_right
from howlate.model.study import spell
from howlate.studies import studies
from howlate.words.printable import shell_line, shell_path

BY_ROUNDS = ("run.until-decided", "run.rounds-apart")
"""Rules of what a run notes whose rounds were added while it was measured."""
OPTIONS = {"threshold", "order.repetitions"}
"""Changes that options of `check` make, which do more than what they set: end the run, or wait between rounds."""


def command_of(
    run: Run, folder: Path, command: str = "run", study: str = "", added: Collection[str] = ()
) -> list[str]:
    """The command that measures the cells that a run lacks, with the options that its folder keeps. `added`: changes
    that the user did not give."""
    words = [*command.split(), study or run.study.id, "--out", str(folder)]
    words += [f"--set={name}={value}" for name, value in run.changes.items() if name not in added]
    words += [f"--set={name}={value}" for name, value in _chosen_here(run).items()]
    words += [f"--scale={run.scale:g}"] if run.scale != 1 else []
    words += [f"--target={run.target}"] if run.target != "local" and command == "run" else []
    return words


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
    is_kept = run.study.id in studies() and not {note.rule for note in run.warnings} & {*BY_ROUNDS}
    if run.virtual or run.machines or not is_kept or OPTIONS & run.changes.keys():
        return f"the same command with --out {shell_path(folder)}"
    return f"`howlate {shell_line(command_of(run, folder))}`"


def no_whole_cell(run: Run, folder: Path) -> UsageError:
    return UsageError(
        "{run} has no whole cell", remedy="go on with {command}", run=folder, command=go_on_with(run, folder)
    )
