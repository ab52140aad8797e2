"""Results as they are published and pasted: the unit that a file gives away or that is asked for, two results in one
file, reduced rows, and what terminals, journals and pages put around a tool's lines."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from howlate.errors import DamagedError, UsageError
from howlate.imports.formats import all_importers, find_importer
from howlate.imports.formats._checks import UNIT_OPEN
from howlate.imports.formats._rt_tests import options, period_and_policy
from howlate.imports.formats._text import SECOND_RESULT, plain
from imports.foreign import BY_NAME, FIXTURES, LATENCY, File
from imports.test_foreign import cell_of, importer_of, written

HISTOGRAM = """\
# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000\t000000
000001 000000\t000000
000002 000010\t000000
000003 000985\t000920
000004 000004\t000078
# Total: 000000999 000000998
# Min Latencies: 00002 00003
# Avg Latencies: 00003 00003
# Max Latencies: 00017 00004
# Histogram Overflows: 00001 00000
# Histogram Overflow at cycle number:
# Thread 0: 00512
# Thread 1:

"""
SCREEN = """\
# /dev/cpu_dma_latency set to 0us
policy: fifo: loadavg: 0.62 0.59 0.38 3/148 2916          

T: 0 (    0) P:80 I:1000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0
T: 1 ( 2916) P:80 I:1500 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0
\x1b[4Apolicy: fifo: loadavg: 0.62 0.59 0.38 3/148 2916          

T: 0 ( 2915) P:80 I:1000 C:    946 Min:      8 Act:   10 Avg:   19 Max:      88
T: 1 ( 2916) P:80 I:1500 C:    603 Min:      7 Act:   20 Avg:   18 Max:      79
\x1b[4Apolicy: fifo: loadavg: 0.62 0.59 0.38 3/148 2916          

T: 0 ( 2915) P:80 I:1000 C:   1946 Min:      8 Act:   10 Avg:   19 Max:     103
T: 1 ( 2916) P:80 I:1500 C:   1303 Min:      7 Act:   20 Avg:   18 Max:      97
"""  # noqa: W291
NS_SCREEN = "T: 0 ( 1636) P:97 I:1000 C:  10000 Min:   1890 Act:    2018 Avg:    2215 Max:   34412\n"
US_SCREEN = "T: 0 ( 1636) P:97 I:1000 C:  10000 Min:      9 Act:   18 Avg:   15 Max:      34\n"
STARVED = US_SCREEN + "T: 1 ( 1637) P:97 I:1500 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n"
RAW = "Thread 0 Interval: 1000\n" + "".join(f"       0:{n:8d}:{20 + n % 7:8d}\n" for n in range(60))


def cyclictest_json(command: str = "cyclictest -q -D 1 -t 1 -p 80", /, **members: Any) -> str:
    thread = {"histogram": {"8": 900, "9": 100}, "cycles": 1000, "min": 8, "max": 9, "avg": 8.1, "cpu": 2}
    value = {
        "file_version": 1,
        "cmdline:": command,
        "return_code": 0,
        "num_threads": 1,
        "resolution_in_ns": 0,
        "thread": {"0": thread},
    }
    return json.dumps({**value, **members}, indent=2)


def max_ns(path: Path, out: Path, mapping: Mapping[str, str] = {}) -> int | None:
    return cell_of(path, out, mapping).columns[LATENCY].max


def refused(path: Path, mapping: Mapping[str, str] = {}) -> tuple[str, int]:
    """The rule and the line of the error."""
    with pytest.raises((DamagedError, UsageError)) as raised:
        importer_of(path).read([path], {}, mapping)
    values = raised.value.statement.values
    return raised.value.statement.rule, line_of(values)


def line_of(values: Mapping[str, object]) -> int:
    """The line that an error names; 0 if it names none."""
    return int(str(values.get("place", "line 0")).removeprefix("line "))


# -- the unit


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("cyclictest -qN -D 1", {"quiet": "", "nsecs": "", "duration": "1"}),
        ("cyclictest -mSN", {"m": "", "smp": "", "nsecs": ""}),
        ("cyclictest --nsec -i 200", {"nsecs": "", "interval": "200"}),
        ("cyclictest --nsecs", {"nsecs": ""}),
        ("cyclictest -m -Sp90 -i200 -h400 -q", {"m": "", "smp": "", "priority": "90", "interval": "200",
                                                "histogram": "400", "quiet": ""}),
        ("cyclictest --interval=200 --prio 5 --json=N", {"interval": "200", "prio": "5", "json": "N"}),
        ("cyclictest -D 1N -o 10", {"duration": "1N", "oscope": "10"}),
    ],
)  # fmt: skip
def test_options_are_read_as_getopt_reads_them(command: str, found: dict[str, str]) -> None:
    assert options(command) == found


@pytest.mark.parametrize(
    ("command", "threads", "period", "policy"),
    [
        ("cyclictest -Sp90 -i200", 2, None, "fifo:90"),
        ("cyclictest -Sp90 -i200 -d0", 2, "200us", "fifo:90"),
        ("cyclictest -t1 -i 200", 1, "200us", ""),
        ("cyclictest -t2 -i 200 --distance=0 --policy=rr -p 3", 2, "200us", "rr:3"),
    ],
)
def test_threads_have_one_period_only_without_a_distance(
    command: str, threads: int, period: str | None, policy: str
) -> None:
    parameters, found = period_and_policy(command, threads)
    assert (parameters.get("period"), found) == (period, policy)


@pytest.mark.parametrize("command", ["cyclictest -qN -t1", "cyclictest -mSN", "cyclictest -q --nsec"])
def test_json_in_nanoseconds_is_read_in_nanoseconds(command: str, tmp_path: Path) -> None:
    path = written(tmp_path, cyclictest_json(command, resolution_in_ns=1), "a.json")
    assert max_ns(path, tmp_path / "run") == 9


def test_json_whose_command_and_resolution_differ_is_refused_with_the_line(tmp_path: Path) -> None:
    text = cyclictest_json("cyclictest -qN", resolution_in_ns=0)
    line = text[: text.index("resolution")].count("\n") + 1
    assert refused(written(tmp_path, text, "a.json")) == ("import.bad-file", line)
    text = cyclictest_json(resolution_in_ns=1)
    assert refused(written(tmp_path, text, "b.json")) == ("import.bad-file", line)


@pytest.mark.parametrize(("text", "largest"), [(NS_SCREEN, 34_412), (US_SCREEN, 34_000)])
def test_the_widths_of_a_screen_tell_its_unit(text: str, largest: int, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert max_ns(path, tmp_path / "run") == largest
    for unit in ("ns", "us"):
        if (unit == "ns") != (text == NS_SCREEN):
            assert refused(path, {"unit": unit}) == ("import.bad-map", 0)


@pytest.mark.parametrize(
    "text",
    [
        re.sub(" +", " ", NS_SCREEN),
        HISTOGRAM.replace("# Avg Latencies: 00003 00003", "# Avg Latencies: 00300 00300"),
        re.sub(r" {2}(2[0-9])\n", r"20\1\n", RAW),
        "150 3\n151 4\n",
        "0 3\n1000 4\n",
    ],
)
def test_a_unit_that_stays_open_is_asked_for_once(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        importer_of(path).read([path], {})
    assert raised.value.statement.values["reason"] == UNIT_OPEN
    one, thousand = (importer_of(path).read([path], {}, {"unit": unit}) for unit in ("ns", "us"))
    assert one.streams.keys() == thousand.streams.keys()


def test_the_command_above_a_result_tells_its_unit_and_policy(tmp_path: Path) -> None:
    text = "root@board:~# cyclictest -qN -p 80 -S -h 400\n" + HISTOGRAM
    path = written(tmp_path, text)
    assert max_ns(path, tmp_path / "run") == 17
    with pytest.raises(UsageError):
        importer_of(path).read([path], {}, {"unit": "us"})


def test_a_mean_far_above_the_period_is_in_nanoseconds(tmp_path: Path) -> None:
    """Blanks are lost, and 134 ms late on average at a period of 1 ms is no cyclic task."""
    line = "T: 0 ( 1636) P:97 I:1000 C: 953 Min: 58861 Act: 67729 Avg: 134139 Max: 5218895\n"
    assert max_ns(written(tmp_path, line), tmp_path / "run") == 5_218_895


# -- two results, reduced results


PAIRS = [
    file
    for file in BY_NAME.values()
    if file.format not in ("jitterdebugger-raw", "csv", "histogram", "rteval")
]


@pytest.mark.parametrize("file", PAIRS, ids=lambda file: file.name)
def test_two_results_in_one_file_are_refused_with_the_line(file: File, tmp_path: Path) -> None:
    """The second is of another process, at the same command."""
    text = file.path.read_text(encoding="utf-8")
    second = re.sub(r"\((1939)([45])\)", r"(2939\2)", text)
    path = tmp_path / file.name
    path.write_text(text + second, encoding="utf-8")
    with pytest.raises(DamagedError) as raised:
        importer_of(path, file.format).read([path], {}, file.mapping)
    assert raised.value.statement.values["problem"] == SECOND_RESULT
    assert text.count("\n") < line_of(raised.value.statement.values) <= 2 * text.count("\n")


def test_the_screens_of_two_kernels_are_not_one_result(tmp_path: Path) -> None:
    text = f"realtime:\n{US_SCREEN}\ndefault:\n{US_SCREEN.replace('1636', '4234')}"
    assert refused(written(tmp_path, text)) == ("import.bad-file", 5)


def test_the_largest_of_several_cycles_are_not_all_samples(tmp_path: Path) -> None:
    reduced = "Thread 0 Interval: 1000\n" + "".join(
        f"       0:{10 * n + n % 10:8d}:      14\n" for n in range(30)
    )
    assert refused(written(tmp_path, reduced)) == ("import.bad-file", 3)


@pytest.mark.parametrize("lost", [3, 30])
def test_lost_rows_are_named(lost: int, tmp_path: Path) -> None:
    rows = RAW.splitlines(keepends=True)
    del rows[lost]
    assert refused(written(tmp_path, "".join(rows))) == ("import.bad-file", lost + 1)


# -- logs


@pytest.mark.parametrize(
    "log",
    [
        HISTOGRAM.replace("\n", "\r\n"),
        "".join(f"    {line}\n" for line in HISTOGRAM.splitlines()),
        "".join(f"> {line}\n" for line in HISTOGRAM.splitlines()),
        "".join(f"2024-05-01T10:00:00.1234567Z {line}\n" for line in HISTOGRAM.splitlines()),
        "".join(f"May 01 10:00:00 board cyclictest[812]: {line}\n" for line in HISTOGRAM.splitlines()),
        f"```\n{HISTOGRAM}```\n",
        f"<pre>\n{HISTOGRAM}</pre>\n",
        f"root@board:~# cyclictest -q -p 80 -S -h 400 -D 1h\n{HISTOGRAM}root@board:~# \n",
        HISTOGRAM.replace("000003 ", "[  412.883412] mmc0: tuning execution failed: -5\n000003 "),
        HISTOGRAM.replace("# Histogram\n", "", 1),
        "cyclictest -l100000 -m -Sp90 -i200 -h5 -q" + HISTOGRAM.replace("# Histogram\n", "", 1),
    ],
)  # fmt: skip
def test_a_captured_histogram_is_the_same_histogram(log: str, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(log.encode())
    assert find_importer(path).name == "cyclictest"
    column = cell_of(path, tmp_path / "run").columns[LATENCY]
    assert (column.count, column.min, column.max) == (1998, 2000, 17_000)


def test_a_screen_is_read_whose_first_frames_are_empty(tmp_path: Path) -> None:
    path = written(tmp_path, SCREEN)
    cell = cell_of(path, tmp_path / "run")
    assert (cell.columns[LATENCY].count, cell.columns[LATENCY].max) == (1946 + 1303, 103_000)


def test_a_thread_that_never_woke_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, STARVED)
    measured = importer_of(path).read([path], {})
    assert len(measured.notes) == 1 and "line 2" in measured.notes[0] and "thread 1" in measured.notes[0]
    assert max_ns(path, tmp_path / "run") == 34_000


@pytest.mark.parametrize(
    ("text", "smi"),
    [
        (US_SCREEN.replace("\n", " SMI:       2\n"), 2),
        (RAW.replace("\n", "       0\n").replace("1000       0", "1000"), 0),
        (HISTOGRAM.rstrip() + "\n# SMIs: 00003 00003\n\n", 3),
    ],
)
def test_smis_are_an_outcome(text: str, smi: int, tmp_path: Path) -> None:
    assert cell_of(written(tmp_path, text), tmp_path / "run").outcomes["smi"] == smi


def test_spikes_are_no_lines_of_threads(tmp_path: Path) -> None:
    text = US_SCREEN + "\nT: 0 Spike:     131: TS:   1898890826\nspikes = 1\n"
    assert max_ns(written(tmp_path, text), tmp_path / "run") == 34_000


def test_what_a_program_says_of_its_end_is_a_note(tmp_path: Path) -> None:
    path = written(tmp_path, US_SCREEN + "# Thread Ids: 01636\n# Break thread: 1636\n# Break value: 34\n")
    assert "34" in importer_of(path).read([path], {}).notes[0]
    path = written(tmp_path, cyclictest_json(return_code=1), "a.json")
    assert "return code 1" in importer_of(path).read([path], {}).notes[0]


@pytest.mark.parametrize("name", ["Counter Freq", "CPU Freq"])
def test_oslat_is_known_by_either_name_of_its_frequency(name: str, tmp_path: Path) -> None:
    text = (FIXTURES / "oslat-2.4.txt").read_text(encoding="utf-8").replace("Counter Freq", name)
    assert find_importer(written(tmp_path, text)).name == "oslat"


@pytest.mark.parametrize("version", [None, 1, 2])
def test_jitterdebugger_of_any_version_is_known(version: int | None, tmp_path: Path) -> None:
    cpu = {"histogram": {"2": 5, "3": 90, "4": 5}, "count": 100, "min": 2, "max": 4, "avg": 3.0}
    value = {**({} if version is None else {"version": version}), "cpu": {"0": cpu, "1": cpu}}
    path = written(tmp_path, json.dumps(value, indent=2), "results.json")
    assert find_importer(path).name == "jitterdebugger"
    assert max_ns(path, tmp_path / "run") == 4000


def test_hwlatdetect_before_rt_tests_1_has_its_samples(tmp_path: Path) -> None:
    text = (FIXTURES / "hwlatdetect.txt").read_text(encoding="utf-8")
    text = re.sub(r"ts: .*\n", "", text).replace("Max Latency: 187us", "Max Latency: 21us").rstrip("\n")
    times = ("1408928107.0286324723\t18\t17", "1408928180.0296881126\t15\t21", "1408928181.0296881126\t15\t21",
             "1408928212.0300332889\t18\t18")  # fmt: skip
    path = written(tmp_path, "\n".join([text, *times, ""]))
    cell = cell_of(path, tmp_path / "run")
    assert cell.valid and cell.columns["outer_ns"].max == 21_000 and cell.columns["inner_ns"].count == 4


# -- CSV


def test_floats_of_pandas_are_times(tmp_path: Path) -> None:
    text = (
        ",t_s,lat_s\n0,1.000012163423779,1.2163423779076865e-05\n1,1.0010138594616804,8.459695341134221e-06\n"
    )
    path = written(tmp_path, text, "a.csv")
    column = cell_of(path, tmp_path / "run", {"time_s": "2", "latency_s": "3"}).columns[LATENCY]
    assert (column.min, column.max) == (8459, 12_163)


@pytest.mark.parametrize(
    "text",
    [
        "# host board\n# kernel 6.12\nt_s,lat_us\n1.0,12.5\n1.1,13.5\n",
        "t_s;lat_us\n1,0;12,5\n1,1;13,5\n",
        "t_s  lat_us\n1.0  12.5\n1.1  13.5\n",
        "measured on board\nof friday\nt_s,lat_us\n1.0,12.5\n1.1,13.5\n",
    ],
)
def test_columns_are_found_by_name_in_what_programs_write(text: str, tmp_path: Path) -> None:
    mapping = {"time_s": "t_s", "latency_us": "lat_us"}
    path = written(tmp_path, text, "log.txt")
    assert find_importer(path, None, mapping).name == "csv"
    column = cell_of(path, tmp_path / "run", mapping, "csv").columns[LATENCY]
    assert (column.count, column.min, column.max) == (2, 12_500, 13_500)


@pytest.mark.parametrize(
    ("unit", "values", "resolution_ns"),
    [
        ("s", ("0.0000121", "0.0000142"), 100),
        ("s", ("1.2163423779076865e-05", "8.459695341134221e-06"), 1),
        ("ms", ("0.012", "0.014"), 2000),  # that a value in between could have stood there is not known
        ("us", ("12", "13"), 1000),
        ("us", ("12.5", "13"), 500),
        ("us", ("10", "20"), 1000),
        ("us", ("0", "0"), 1000),
        ("ns", ("7000", "9000"), 1),
    ],
)
def test_values_are_as_coarse_as_their_decimals(
    unit: str, values: Sequence[str], resolution_ns: int, tmp_path: Path
) -> None:
    path = written(tmp_path, "\n".join(["lat", *values, ""]), "a.csv")
    cell = cell_of(path, tmp_path / "run", {f"latency_{unit}": "lat"})
    assert cell.known.resolution_ns == resolution_ns


def test_time_stamps_alone_are_answered_with_what_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path, "stamp\n1.0\n1.1\n", "a.csv")
    with pytest.raises(UsageError) as raised:
        importer_of(path).read([path], {}, {"time_s": "1"})
    assert "latency_us=COLUMN" in raised.value.remedy


# -- errors, and files of other tools


JSONS = [file for file in BY_NAME.values() if file.name.endswith(".json")]


@pytest.mark.parametrize("file", JSONS, ids=lambda file: file.name)
@pytest.mark.parametrize("other", ["missing", "text", None, [], {}, 1.5, {"a": "b"}], ids=str)
def test_a_member_that_does_not_fit_is_named_in_words(file: File, other: object, tmp_path: Path) -> None:
    """Each member of the file and of its first thread or CPU, missing or of another type."""
    value = json.loads(file.path.read_text(encoding="utf-8"))
    parent = value["thread" if "thread" in value else "cpu"]
    for container in (value, next(iter(parent.values()))):
        for name, own in list(container.items()):
            container[name] = other
            if other == "missing":
                del container[name]
            path = written(tmp_path, json.dumps(value, indent=2), "a.json")
            container[name] = own
            try:
                importer_of(path, file.format).read([path], {})
            except (DamagedError, UsageError) as problem:
                assert not re.search(
                    r"Statement|rule=|\bstr\b|\bint\b|\bdict\b|object at|`|None", str(problem)
                )


def test_a_member_that_is_missing_is_named_with_its_thread(tmp_path: Path) -> None:
    value = json.loads(cyclictest_json())
    del value["thread"]["0"]["min"]
    path = written(tmp_path, json.dumps(value, indent=2), "a.json")
    with pytest.raises(DamagedError, match="thread 0: there is no min"):
        importer_of(path).read([path], {})


@pytest.mark.parametrize("file", JSONS, ids=lambda file: file.name)
def test_json_that_says_something_twice_is_refused_with_the_line(file: File, tmp_path: Path) -> None:
    rows = file.path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number in [n for n, row in enumerate(rows) if re.match(r' *"\w+": [0-9]+,', row)][::7]:
        path = written(tmp_path, "".join([*rows[: number + 1], *rows[number:]]), "a.json")
        assert refused(path) == ("import.bad-file", number + 2)


OTHERS = {
    "latmus": "# test started on: Tue\n# libevl version: evl.0.48\n# clock gravity: 1500i\n2 1200\n3 20000\n4 30\n",
    "Xenomai": "== Sampling period: 100 us\nRTT|  00:00:01\nRTH|----lat min|----lat avg\nRTD|  1.204|  3.110\n",
    "signaltest": "T: 0 (13835) P:80 C:   2913 Min:     17 Act:   21 Avg:   30 Max:     257\n",
    "pmqtest": "#1: ID13903, P80, CPU0, I1000\n#1 -> #0, Min    3, Cur    5, Avg    5, Max   55\n",
    "svsematest": cyclictest_json("/usr/bin/svsematest -D 2"),
    "stress-ng": "stress-ng: info:  [2436] cyclic:   min: 2603 ns, max: 2073993 ns\n",
    "runqlat": "     usecs               : count     distribution\n         0 -> 1          : 233      |***|\n",
}


@pytest.mark.parametrize("tool", OTHERS)
def test_files_of_tools_that_are_not_read_are_nobodys(tool: str, tmp_path: Path) -> None:
    path = written(tmp_path, OTHERS[tool])
    with pytest.raises(UsageError) as raised:
        find_importer(path)
    assert tool in str(raised.value.statement.values["reason"])


@pytest.mark.parametrize("file", BY_NAME.values(), ids=lambda file: file.name)
def test_one_importer_knows_a_file(file: File) -> None:
    knows = [its.name for its in all_importers() if its.recognises(file.path)]
    assert knows == [file.format]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("\x1b[2J\x1b[1;1HT: 0", "T: 0"),
        ("> > T: 0", "T: 0"),
        ("2024-05-01 10:00:00,123 T: 0  \r", "T: 0"),
        ("[10:00:00] # Total: 1", "# Total: 1"),
        ("    000001 000002", "    000001 000002"),
        ("0.100;0;5.2", "0.100;0;5.2"),
    ],
)
def test_what_stands_around_a_line_is_taken_away(line: str, text: str) -> None:
    assert plain(line) == text
