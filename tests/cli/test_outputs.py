"""Where the output goes: pipes, full disks, closed descriptors, terminals; and what an interrupt says."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import stand_in
from cli.commands import STUDY, Terminal, is_a_sentence
from fakes import capabilities, make_plan, study
from howlate.cli._progress import CPU_HEADING, ProgressLine, cpu_rows, latency
from howlate.model.plan import Cell
from howlate.targets import CpuProgress, Progress
from howlate.words.quantities import clock
from lacks import needs_root
from made_evidence import quiet
from processes import completed, environment, told_through
from store.runs import a_folder
from store.streams import stream


def test_a_reader_that_went_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "howlate", "studies", "show", "check"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


SAMPLES = [int(value) for value in quiet(20_000)]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--deadline", "5us"), 1),
        (("--deadline", "200us"), 0),
        (("--deadline", "200us", "--horizon", "30min"), 5),
        (("--deadline", "5us", "--json"), 1),
        (("--deadline", "200"), 2),
    ],
)
@pytest.mark.parametrize("lines", [0, 1])
def test_the_exit_code_that_was_earned_survives_a_reader_that_leaves(
    tmp_path: Path, words: tuple[str, ...], code: int, lines: int
) -> None:
    """`howlate verdict RUN | head -1`: a FAIL that ended with 0 would turn a red job green. The reader leaves before
    anything is written, or behind the first line."""
    a_folder(tmp_path / "r", {"none": stream(SAMPLES)})
    reader, writer = os.pipe()
    if not lines:
        os.close(reader)
    done = subprocess.Popen(
        [sys.executable, "-m", "howlate", "verdict", str(tmp_path / "r"), *words],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    os.close(writer)
    if lines:
        with os.fdopen(reader, "rb") as first:
            first.readline()
    _, said = done.communicate(timeout=120)
    assert done.returncode == code
    assert b"Broken" not in said and b"Traceback" not in said


def test_both_outputs_may_lose_their_readers() -> None:
    """`howlate ... 2>&1 | head -1`, where the error is what is cut off."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "howlate", "show", "absent"],
        stdout=writer,
        stderr=writer,
        env=environment(),
        check=False,
    )
    os.close(writer)
    assert done.returncode == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_by_the_command_that_the_launcher_calls(shell: str) -> None:
    done = completed([sys.executable, "-m", "howlate", "completion", shell], env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert "_HOWLATE_COMPLETE" in done.stdout


def run_in_a_shell(redirection: str) -> subprocess.CompletedProcess[str]:
    return completed(
        ["/bin/sh", "-c", f'"{sys.executable}" -m howlate studies {redirection}'], env=environment()
    )


def test_output_that_a_full_disk_swallows_is_a_sentence() -> None:
    done = run_in_a_shell("> /dev/full")
    assert done.returncode == 4
    assert is_a_sentence(done.stderr) and "No space left" in done.stderr


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_outputs_are_no_fault(redirection: str) -> None:
    done = run_in_a_shell(redirection)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_keeps_what_is_whole_and_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    probe = tmp_path / "probe"
    wait = f'case "$*" in *--load=*) echo "$$" > {tmp_path}/waits; exec sleep 600;; esac'
    stand_in.put(probe, wait)
    (tmp_path / "my study.toml").write_text(STUDY)
    os.mkfifo(tmp_path / "waits")
    process = subprocess.Popen(
        [sys.executable, "-m", "howlate", "run", "my study.toml", "--out", "a b", "--most-cells", "7"],
        cwd=tmp_path,
        env=environment(HOWLATE_PROBE=str(probe)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    waiting = int(told_through(tmp_path / "waits"))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert "Traceback" not in err
    assert "1 of 2 cells" in err
    assert "run 'my study.toml' --out 'a b' --most-cells=7\n" in err
    assert out.strip().splitlines()[-1] == "a b"
    assert not Path(f"/proc/{waiting}").exists()


def test_an_interrupt_inside_of_an_import_does_not_replace_the_code() -> None:
    """The interpreter remembers one that passed through an exec(), and would end with SIGINT for it."""
    lines = [
        "from howlate import __main__ as entry",
        "try: exec('raise KeyboardInterrupt')",
        "except KeyboardInterrupt: pass",
        "entry._end(5)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], env=environment(), check=False)
    assert done.returncode == 5


def test_times_for_people() -> None:
    assert [clock(s) for s in (0, 34.4, 61, 3723)] == ["0:00", "0:34", "1:01", "1:02:03"]
    assert [latency(ns) for ns in (1500, 12_000_000)] == ["1.5 us", "12.0 ms"]


def test_a_terminal_without_escapes_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")

    terminal = Terminal()
    line = ProgressLine(("load",), terminal)
    line.starts(Cell("c", "cyclic", {}, {"load": "none"}, 1, 1.0), 1, 5, 60.0)
    line.close()
    assert terminal.getvalue() == "1 of 5  none  time left 1:00\n"


def test_progress_lines_survive_a_terminal_that_went_away() -> None:
    class Gone:
        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

        def flush(self) -> None:
            pass

    line = ProgressLine(("load",), Gone())  # type: ignore[arg-type]
    line.close()


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100])
def test_a_live_line_never_cuts_a_number_off(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "24")
    terminal = Terminal()
    line = ProgressLine(("load",), terminal)
    cell = make_plan(study(axes={"load": ("cpu:50+disk:10MiB/s",)}), capabilities()).cells[0]
    line.progress(cell, Progress(12_345, 12.3, 1_234_567), 71.0)
    drawn = terminal.getvalue().removeprefix("\r").removesuffix("\x1b[K")
    assert len(drawn) < width
    whole = ["time left 1:11", "largest seen 1234.6 us", "12,345 activations"]
    _, *parts = drawn.split("  ")
    assert parts[0] == whole[0]
    assert set(parts) <= set(whole)
    assert width < 100 or set(parts) == set(whole)


def test_each_cpu_has_a_row_with_its_largest_latency() -> None:
    rows = cpu_rows([CpuProgress(0, 12_345, 33_100), CpuProgress(1, 9, 12_000_000)], 80, 20)
    assert rows == [
        CPU_HEADING,
        "    0           12,345       33.1 us",
        "    1                9       12.0 ms",
    ]


def test_one_cpu_and_a_small_screen_have_no_table() -> None:
    two = [CpuProgress(cpu, 1, 1) for cpu in (0, 1)]
    assert not cpu_rows(two[:1], 80, 20)
    assert not cpu_rows(two, len(CPU_HEADING), 20)
    assert not cpu_rows(two, 80, 3)


@pytest.mark.parametrize("cpus", [2, 8, 9, 10, 256])
def test_of_many_cpus_those_with_the_largest_latencies_are_shown(cpus: int) -> None:
    rows = cpu_rows([CpuProgress(cpu, 1, 1000 * cpu) for cpu in range(cpus)], 80, 10)
    assert len(rows) == min(cpus + 1, 10)
    shown = [row.split()[0] for row in rows[1:] if "with smaller" not in row]
    left_out = cpus - len(shown)
    assert shown == [str(cpu) for cpu in range(left_out, cpus)]
    assert left_out == 0 or rows[-1].startswith(f"  {left_out} CPUs with smaller")


def test_the_rows_of_the_cpus_are_drawn_over_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    terminal = Terminal()
    line = ProgressLine(("load",), terminal)
    cell = Cell("c", "cyclic", {}, {"load": "none"}, 1, 1.0)
    line.starts(cell, 1, 1, 60.0)
    line._drawn = float("-inf")
    line.progress(cell, Progress(2, 1.0, 5000, cpus=(CpuProgress(0, 1, 5000), CpuProgress(1, 1, 4000))), 59.0)
    drawn = terminal.getvalue()
    assert drawn.count("\n") == 3 and "\n    1" in drawn
    line.close()
    assert terminal.getvalue().removeprefix(drawn) == "\r\x1b[3A\x1b[J"


@needs_root
@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_disk_that_is_full_at_the_report_still_shows_the_result(
    tmp_path: Path, json: tuple[str, ...]
) -> None:
    """The page is all that is missing: what was measured is printed, and the message says how to see it again."""
    disk, probe = tmp_path / "disk", tmp_path / "probe"
    disk.mkdir()
    stand_in.put(probe)
    (tmp_path / "mine.toml").write_text(STUDY)
    script = (
        'mount -t tmpfs -o size=160k tmpfs "$1" && shift && '
        f'"{sys.executable}" -m howlate run "$0" --set deadline=1us --out "$@"'
    )
    done = completed(
        ["unshare", "-m", "sh", "-c", script, str(tmp_path / "mine.toml"), str(disk), str(disk / "r"), *json],
        env=environment(HOWLATE_PROBE=str(probe)),
    )
    assert done.returncode == 4, done.stderr
    assert ("FAIL" in done.stdout and "cpu:50" in done.stdout) and ("FAIL  deadline" in done.stdout or json)
    assert f"`howlate show {disk / 'r'}`" in done.stderr and "report.html could not" in done.stderr
