"""The delays that a cell made on purpose: a damaged cell.json is a sentence."""

from pathlib import Path
from typing import Any

import pytest

from howlate.errors import DamagedError
from howlate.store.duck import connection, quoted
from howlate.store.files import read_json, write_json
from howlate.store.loaded import load_run
from howlate.store.run_folder import CELL, INJECTIONS
from howlate.why.calibrate.injected import MadeDelay
from howlate.why.calibrate.injections import injected_cell
from store.runs import a_folder
from store.streams import stream


def test_a_cell_without_injection_has_no_delays(tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run", {"plain": stream([10, 20])})
    cell = injected_cell(folder.files("plain"), load_run(folder.path).cells[0].summary)
    assert (cell.kind, cell.delays, len(cell.windows)) == ("", (), 2)


@pytest.mark.parametrize(
    "header", ["x", {"in_force": []}, {"in_force": {"inject": "lock"}}, {"in_force": {"inject": {"kind": 7}}}]
)
def test_a_header_that_is_none_is_damage_with_a_remedy(tmp_path: Path, header: Any) -> None:
    folder = a_folder(tmp_path / "run", {"plain": stream([10, 20])})
    summary = load_run(folder.path).cells[0].summary
    path = folder.cell_path("plain") / CELL
    write_json(path, {**read_json(path), "header": header})
    (folder.cell_path("plain") / "checksums.json").unlink()
    with pytest.raises(DamagedError, match="header") as caught:
        injected_cell(folder.files("plain"), summary)
    assert caught.value.remedy


MADE = "SELECT 100 AS begin_ns, 900 AS end_ns, 800 AS wanted_ns, 1 AS cpu, 7 AS pid, 1 AS state"


@pytest.mark.parametrize(("more", "uncertainty_ns"), [("", 0), (", 40 AS uncertainty_ns", 40)])
def test_a_delay_of_an_older_probe_has_no_uncertainty(tmp_path: Path, more: str, uncertainty_ns: int) -> None:
    folder = a_folder(tmp_path / "run", {"plain": stream([10, 20])})
    summary = load_run(folder.path).cells[0].summary
    path = folder.cell_path("plain")
    write_json(path / CELL, {**read_json(path / CELL), "header": {"in_force": {"inject": {"kind": "lock"}}}})
    (path / "checksums.json").unlink()
    with connection(path) as database:
        database.execute(f"COPY ({MADE}{more}) TO {quoted(path / INJECTIONS)} (FORMAT parquet)")
    (made,) = injected_cell(folder.files("plain"), summary).delays
    assert made == MadeDelay(100, 900, 800, 1, 7, is_as_wanted=False, uncertainty_ns=uncertainty_ns)
