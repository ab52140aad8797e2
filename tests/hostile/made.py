"""The runs that are altered, and those that show what is left to say where a cell is missing or not valid."""

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from msgspec.structs import replace

from hostile.alter import reseal
from howlate import __version__

CELLS = ("traced", "none", "late")
RUN, LAB, OTHER, WITHOUT, NOT_VALID = "run", "lab", "other", "without", "not-valid"
MACHINES = Path(__file__).parents[1] / "fixtures" / "machines"


def without(*cells: str) -> str:
    return "-".join((WITHOUT, *sorted(cells)))


def make_runs(place: Path) -> None:
    """`run` has three cells: one of them recorded what the kernel did, one has another load. `lab` is the same as if
    the lab had measured it, `other` another run of the same study, which was slower. In `without-CELL` and
    `without-CELL-CELL` these were never measured, in `not-valid-CELL` it is not valid."""
    make_run(place / RUN, CELLS)
    make_run(place / LAB, CELLS, lab=True)
    make_run(place / OTHER, CELLS, slow=True)
    for pair in combinations(CELLS, 2):
        make_run(place / without(*pair), [name for name in CELLS if name not in pair])
    for cell in CELLS:
        make_run(place / without(cell), [name for name in CELLS if name != cell])
        make_run(place / f"{NOT_VALID}-{cell}", CELLS)
        declare_not_valid(place / f"{NOT_VALID}-{cell}", cell)


def make_run(
    place: Path,
    measured: Sequence[str],
    lab: bool = False,
    slow: bool = False,
    planned: Sequence[str] = CELLS,
) -> None:
    from made_evidence import quiet
    from made_trace import late_samples
    from store.runs import a_folder, a_run
    from store.streams import header, stream, traced_stream

    changes = {"parameters": header()["parameters"] | {"deadline": "1ms"}}
    calm = [int(value) for value in quiet(2_000)]
    streams = {
        "traced": traced_stream(late_samples(3)),
        "none": stream(calm, header_changes=changes),
        "late": stream([*calm[:-1], 2_000_000], header_changes=changes),
    }
    facts = json.loads((MACHINES / "rt-box-tuned.json").read_text())
    run = replace(a_run(*planned), facts=facts, versions={"howlate": __version__}, token=place.name)
    if slow:
        streams |= {
            cell: stream([2 * value for value in calm], header_changes=changes) for cell in ("none", "late")
        }
    if lab:
        machines = {"6.1": facts}
        run = replace(
            run, machines=machines, configs={"6.1": "kernels/6.1.config"}, clock="virtual", target="lab"
        )
    folder = a_folder(place, {cell: streams[cell] for cell in measured}, run=run)
    if lab:
        folder.write_config("kernels/6.1.config", "CONFIG_PREEMPT_RT=y\nCONFIG_HZ=250\n")


def declare_not_valid(run: Path, cell: str) -> None:
    """By a check more that failed."""
    from howlate.statistics.valid import FAILED
    from howlate.store.run_folder import RunFolder, write_summary

    folder = RunFolder(run)
    was = folder.summary(cell)
    failed = replace(was, valid=False, warnings=(FAILED(), *was.warnings), failed_checks=1 + len(was.failed))
    write_summary(folder.cell_path(cell), failed)
    reseal(folder.cell_path(cell))
