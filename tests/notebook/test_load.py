"""`howlate.load`: the values of a run are those of its files, and of the commands that print them."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from cli.commands import Run
from hostile.made import make_run
from howlate import load
from howlate.errors import DamagedError, NotPossibleError, UsageError
from howlate.notebook.load import DataColumns, LoadedRun
from lacks import lack
from processes import completed
from store.runs import a_folder
from store.streams import stream

FOREIGN = Path(__file__).parents[1] / "fixtures" / "imported"
needs_libraries = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("pandas", "pyarrow"))),
    reason=lack("pandas or pyarrow", "python3 -m pip install pandas pyarrow"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_run(tmp_path / "run", ("traced", "none", "late"))
    return tmp_path / "run"


@pytest.fixture
def run(path: Path) -> LoadedRun:
    return load(path)


def test_metadata_and_cells_are_those_of_the_files(run: LoadedRun, path: Path) -> None:
    stored = json.loads((path / "run.json").read_text())
    assert run.metadata == stored
    assert [cell.id for cell in run.cells] == ["traced", "none", "late"]
    assert (run.failed, run.gone, run.unmeasured) == ({}, (), ())
    late = run.cell("late")
    kept = json.loads((path / "cells" / "late" / "summary.json").read_text())
    assert (late.test, late.labels, late.valid) == (kept["test"], kept["labels"], kept["valid"])
    assert late.summary["columns"]["latency_ns"]["max"] == kept["columns"]["latency_ns"]["max"]


def test_cells_are_what_show_prints(howlate: Run, run: LoadedRun, path: Path) -> None:
    shown = json.loads(howlate("show", path, "--json").out)
    assert [dict(cell.summary) for cell in run.cells] == shown["cells"]


def test_samples_are_the_rows_of_the_file(run: LoadedRun, path: Path) -> None:
    for cell in run.cells:
        samples = cell.samples()
        file = path / "cells" / cell.id / "samples.parquet"
        rows = duckdb.connect().execute(f"SELECT * FROM '{file}'").fetchnumpy()
        assert list(samples) == list(rows) and len(samples) == len(rows)
        assert all(np.array_equal(samples[name], rows[name]) for name in rows)
        assert samples["latency_ns"].max() == cell.summary["columns"]["latency_ns"]["max"]


def test_summaries_have_a_row_for_each_column_of_each_cell(run: LoadedRun) -> None:
    rows = run.summaries()
    assert {len(column) for column in rows.values()} == {3}
    assert list(rows["cell"]) == list(rows["load"]) == ["traced", "none", "late"]
    assert rows["max_ns"].dtype == np.int64 and rows["mean_ns"].dtype == np.float64
    assert rows["max_ns"][2] == 2_000_000
    assert np.ma.is_masked(rows["p99_999_ns"]) and "p99_999_ns" in repr(rows)


def test_a_label_called_like_a_column_is_another_column(tmp_path: Path) -> None:
    a_folder(tmp_path / "run", {"one": stream([7])}, labels={"one": {"valid": "yes", "board": "b"}})
    rows = load(tmp_path / "run").summaries()
    assert (*rows["label_valid"], *rows["valid"], *rows["board"]) == ("yes", True, "b")


def test_verdict_and_causes_are_those_that_the_commands_print(
    howlate: Run, run: LoadedRun, path: Path
) -> None:
    for deadline in ("1ms", "100us"):
        printed = json.loads(howlate("verdict", path, "--deadline", deadline, "--json").out)
        assert run.verdict(deadline) == printed and printed["outcome"] in ("PASS", "FAIL", "INCONCLUSIVE")
    assert run.verdict() == json.loads(howlate("verdict", path, "--json").out)
    for words in ((), ("traced",)):
        assert run.causes(*words) == json.loads(howlate("why", path, *words, "--json").out)
    assert run.causes()["causes"]


def test_an_error_has_its_remedy_where_python_shows_it(tmp_path: Path, run: LoadedRun) -> None:
    calls: dict[str, Callable[[], object]] = {
        "does not exist": lambda: load(tmp_path / "none"),
        f"{__file__} has no run.json": lambda: load(__file__),
        "has no run.json": lambda: load(str(tmp_path)),
        "--miss-rate must be from 0 to below 1": lambda: run.verdict("1ms", miss_rate=2),
        'there is no whole cell "nothing"': lambda: run.causes("nothing"),
        'there is no whole cell "absent"': lambda: run.cell("absent"),
        "--cluster must be at least 1": lambda: run.verdict("1ms", miss_rate=0.1, cluster=0),
    }
    for sentence, call in calls.items():
        with pytest.raises(UsageError, match=sentence) as raised:
            call()
        assert raised.value.__notes__ == [raised.value.remedy] and raised.value.remedy


def test_what_was_changed_since_is_refused(path: Path, run: LoadedRun) -> None:
    samples = path / "cells" / "late" / "samples.parquet"
    altered = bytearray(samples.read_bytes())
    altered[len(altered) // 3] ^= 1
    samples.write_bytes(altered)
    with pytest.raises(DamagedError, match=r"samples\.parquet"):
        run.cell("late").samples()
    (path / "cells" / "late" / "summary.json").write_text("{}")
    with pytest.raises(DamagedError, match=r"summary\.json"):
        load(path)


def test_a_cell_that_is_not_there_is_named(path: Path) -> None:
    (path / "cells" / "late" / "summary.json").unlink()
    assert load(path).gone == ("late",)


def test_without_a_library_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = DataColumns({"a": np.array([1])})
    for name, convert in {"pandas": columns.to_pandas, "pyarrow": columns.to_arrow}.items():
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(NotPossibleError, match=f"{name} is not installed") as raised:
            convert()
        assert raised.value.remedy.endswith(f"-m pip install {name}")


@needs_libraries
def test_pandas_and_arrow_have_the_same_values(path: Path, tmp_path: Path) -> None:
    run = load(path)
    samples, summaries = run.cell("none").samples(), run.summaries()
    frame, table = samples.to_pandas(), samples.to_arrow()
    assert list(frame) == table.column_names == list(samples)
    for name, column in samples.items():
        assert frame[name].tolist() == table[name].to_pylist() == column.tolist()
        assert str(frame[name].dtype) == str(table[name].type) == str(column.dtype)
    frame, table = summaries.to_pandas(), summaries.to_arrow()
    assert frame.set_index("cell").loc["late", "max_ns"] == 2_000_000
    assert frame["p99_999_ns"].isna().all() and table["p99_999_ns"].null_count == 3
    assert table["load"].to_pylist() == ["traced", "none", "late"]


def test_a_row_of_a_histogram_is_masked_in_the_columns_of_others(tmp_path: Path, howlate: Run) -> None:
    assert howlate("import", FOREIGN / "timerlat-hist.txt", "--out", tmp_path / "run").code == 0
    run = load(tmp_path / "run")
    for cell in run.cells:
        samples = cell.samples()
        names = [name for name in samples if name.endswith("_latency_ns")]
        known = [np.ma.count(samples[name]) for name in names]
        assert len(names) > 1 and sum(known) == len(samples["samples"])


def test_what_howlate_imports_did_not_grow() -> None:
    """`load` costs those nothing who do not call it."""
    code = "import sys, howlate; print(*(name for name in sys.modules if name.startswith('howlate')))"
    done = completed([sys.executable, "-c", code], check=True)
    assert {*done.stdout.split()} == {"howlate", "howlate.system", "howlate.system.version"}
