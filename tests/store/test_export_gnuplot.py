"""Exports for gnuplot, which draws them: a panel for each cell, and nothing said on standard error."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from howlate.errors import UsageError
from howlate.store.export.gnuplot import HIGH
from howlate.store.run_folder import RunFolder
from made_pictures import Pixels, of_colour, pixels_of
from processes import completed

from .exports import ABSENT, doubtful, exporter, hackbench
from .runs import a_folder
from .streams import points_stream, stream

FIRST, SECOND = (148, 0, 211), (0, 158, 115)
"""gnuplot's colours of the first and the second series of a panel."""


def drawn(folder: Path, run: RunFolder) -> dict[str, Pixels]:
    """The pictures that gnuplot makes of a run; it must say nothing."""
    folder.mkdir()
    exporter("gnuplot")(run, folder / "x.gp", ())
    done = completed(["gnuplot", str(folder / "x.gp")], timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return {path.stem.removeprefix("x-"): pixels_of(path) for path in folder.glob("*.png")}


def points_seen(pixels: Pixels, panels: int, colour: tuple[int, int, int] = FIRST) -> list[int]:
    """How many pixels of a series' colour each panel has, from the top."""
    found = of_colour(pixels, colour)
    title = pixels.shape[0] - HIGH * panels
    return [int(part.sum()) for part in np.array_split(found[title:], panels)]


def tut_2017(part: str, kernel: str, load: str) -> tuple[dict[str, list[int]], str, dict[str, str]]:
    """Columns, test and labels of a cell of the study."""
    columns, test, timer = {
        "preemption": (("cs1_ns", "wait_ns", "cs2_ns"), "preemption", ""),
        "clock": (("dt_ns",), "clock", ""),
        "switch": (("switch_ns",), "switch", ""),
        "timer-absolute": (("delay_ns",), "timer", "clock_nanosleep"),
        "timer-relative": (("delay_ns",), "timer", "clock_nanosleep-relative"),
        "smi": (("gap_ns",), "hardware-gap", ""),
    }[part]
    size = 900 if part == "timer-relative" else 100
    values = {name: [size + 7 * (i % 5) for i in range(40)] for name in columns}
    labels = {"part": part, "kernel": kernel, "load": load, **({"timer": timer} if timer else {})}
    return values, test, labels


def test_gnuplot_draws_the_script_without_change(tmp_path: Path) -> None:
    """From another folder than the script's, whose name has all that a shell and gnuplot would stumble over."""
    assert shutil.which("gnuplot"), "install gnuplot-nox; ./dev test does"
    folder = tmp_path / "it's a %d folder"
    folder.mkdir()
    cells = {
        "a": points_stream({"cs1_ns": [5, 6, 900], "wait_ns": [7, 8, 9]}, flags=[1, 0, 0]),
        "b": points_stream({"cs1_ns": [50, 60], "wait_ns": [70, 80]}, index=[0, 7]),
    }
    run = a_folder(tmp_path / "run", cells, {"a": {"load": "it's {a}_load"}, "b": {"load": "none"}})
    assert exporter("gnuplot")(run, folder / "x.gp", ()) == 4
    assert (folder / "x.dat").read_text().split("\n\n\n") == [
        "# index cs1_ns wait_ns\n# a thread 0\n1 6 8\n2 900 9",
        "# b thread 0\n0 50 70\n7 60 80\n",
    ]
    for where, script in ((tmp_path, folder / "x.gp"), (folder, Path("x.gp"))):
        done = completed(["gnuplot", str(script)], cwd=where)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert sorted(path.name for path in folder.iterdir()) == ["x-cs1.png", "x-wait.png", "x.dat", "x.gp"]
        for name in ("x-cs1.png", "x-wait.png"):
            picture = folder / name
            assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 1_000
            picture.unlink()


def test_gnuplot_draws_every_panel_of_tut_2017(tmp_path: Path) -> None:
    """Six parts with columns of their own: a picture a column, with a panel for each cell that has it; absolute and
    relative timers are two colours of one."""
    streams, labels = {}, {}
    for kernel in ("6.1", "6.1-rt"):
        for load in ("none", "cpu:100,nice=10"):
            for part in ("preemption", "clock", "switch", "timer-absolute", "timer-relative", "smi"):
                if part == "smi" and (kernel, load) != ("6.1-rt", "none"):
                    continue
                values, test, own = tut_2017(part, kernel, load)
                cell = f"{part}-{kernel}-{load[:3]}-1"
                streams[cell], labels[cell] = points_stream(values, test=test), own
    pictures = drawn(tmp_path / "out", a_folder(tmp_path / "run", streams, labels))
    assert set(pictures) == {"cs1", "wait", "cs2", "dt", "switch", "delay", "gap"}
    for name, pixels in pictures.items():
        panels = 1 if name == "gap" else 4
        assert pixels.shape == (max(300, HIGH * panels + 30), 1000, 3)
        assert min(points_seen(pixels, panels)) >= 40, f"a panel of {name} is empty"
        assert (min(points_seen(pixels, panels, SECOND)) >= 40) is (name == "delay")


def test_gnuplot_draws_every_panel_of_sh7780_2008(tmp_path: Path) -> None:
    """A part that measures nothing but the load's time has none of the columns, and has no panel."""
    streams, labels = {}, {}
    for argument in (1, 10, 40):
        for part in ("time", "latency"):
            cell = f"{part}-{argument}"
            labels[cell], trailer = hackbench(argument, "6.1-rt", part)
            values = {"irq_latency_ns": [1_000 + i for i in range(60)], "wake_latency_ns": [5_000] * 60}
            streams[cell] = (
                points_stream(
                    values, test="irq", time_ns=[i * 10**6 for i in range(60)], trailer_changes=trailer
                )
                if part == "latency"
                else points_stream({"run_ns": [1, 2, 3]}, test="unmeasured", trailer_changes=trailer)
            )
    pictures = drawn(tmp_path / "out", a_folder(tmp_path / "run", streams, labels))
    assert set(pictures) == {"irq_latency", "wake_latency", "run"}
    for pixels in pictures.values():
        assert min(points_seen(pixels, 3)) >= 15


def test_a_cell_without_rows_has_no_panel(tmp_path: Path) -> None:
    """All of it was warm-up: gnuplot would say that the x range is invalid."""
    cells = {"a": points_stream({"dt_ns": [5, 6]}, flags=[1, 1]), "b": points_stream({"dt_ns": [5, 6]})}
    run = a_folder(tmp_path / "run", cells)
    assert points_seen(drawn(tmp_path / "out", run)["dt"], 1)[0] > 0


def test_a_script_has_no_place_in_a_pipe(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    os.mkfifo(tmp_path / "pipe.gp")
    for out in (tmp_path / "pipe.gp", tmp_path / "x.dat"):
        with pytest.raises(UsageError, match="cannot be the script"):
            exporter("gnuplot")(run, out, ())


def test_gnuplot_titles_say_which_cells_are_not_valid_or_not_loaded(tmp_path: Path) -> None:
    run = doubtful(tmp_path / "run")
    drawn(tmp_path / "out", run)
    script = (tmp_path / "out" / "x.gp").read_text()
    titles = [line for line in script.splitlines() if line.startswith("set title 'load")]
    assert titles[:4] == [
        "set title 'load good' noenhanced",
        "set title 'load cut (not valid)' noenhanced",
        "set title 'load absent (not loaded)' noenhanced",
        "set title 'load starved (not loaded)' noenhanced",
    ]
    assert "# absent thread 0 (not loaded)\n" in (tmp_path / "out" / "x.dat").read_text()


def test_overlaid_series_say_it_of_the_one_that_it_is_of(tmp_path: Path) -> None:
    """Absolute and relative timers share a panel, and only one of them was under its load."""
    cells = {
        "a-1": points_stream({"delay_ns": [5, 6]}, test="timer"),
        "r-1": points_stream({"delay_ns": [7, 8]}, test="timer", trailer_changes={"loads": [ABSENT]}),
    }
    labels = {
        "a-1": {"timer": "absolute", "load": "cpu:100"},
        "r-1": {"timer": "relative", "load": "cpu:100"},
    }
    drawn(tmp_path / "out", a_folder(tmp_path / "run", cells, labels))
    script = (tmp_path / "out" / "x.gp").read_text()
    assert "title 'absolute'" in script and "title 'relative (not loaded)'" in script
    assert "set title 'a-1' noenhanced" in script
