from __future__ import annotations

import struct
from pathlib import Path

import pytest

from howlate.errors import TargetError
from howlate.lab.snapshot import AFTER_NS, set_clock
from lab.guests import RT, bench, cell, stream_of

READ_NS, INSTRUCTIONS = 6_107_000_000, 6_106_000_000
MARK = b"\x05\x0ctimer/icount\x00\x00\x00\x01"


def saved(path: Path, bias: int, mark: bytes = MARK) -> Path:
    """As much of a saved machine as its clock is of."""
    path.write_bytes(b"before" + mark + struct.pack(">qq", bias, INSTRUCTIONS) + b"after")
    return path


def test_a_clock_that_the_host_moved_on_is_set_to_what_the_guest_read(tmp_path: Path) -> None:
    """QEMU's main loop may or may not have moved it to the next timer's expiry: both become the same file."""
    still, moved = saved(tmp_path / "still", 1_000_014), saved(tmp_path / "moved", 4_159_367)
    assert set_clock(still, READ_NS) == 14
    assert set_clock(moved, READ_NS) == 3_159_367
    assert still.read_bytes() == moved.read_bytes()
    bias, instructions = struct.unpack(">qq", still.read_bytes()[-21:-5])
    assert (bias + instructions, instructions) == (READ_NS + AFTER_NS, INSTRUCTIONS)


@pytest.mark.parametrize(
    ("mark", "bias"), [(b"nothing", 1_000_014), (b"", 0), (MARK, 999_999), (MARK, 1 << 62)]
)
def test_what_is_not_the_guests_clock_is_not_written_over(tmp_path: Path, mark: bytes, bias: int) -> None:
    path = saved(tmp_path / "state", bias, mark)
    before = path.read_bytes()
    with pytest.raises(TargetError, match="clock"):
        set_clock(path, READ_NS)
    assert path.read_bytes() == before


def test_a_clock_that_is_there_twice_is_not_guessed(tmp_path: Path) -> None:
    path = saved(tmp_path / "state", 1_000_014)
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(TargetError, match="clock"):
        set_clock(path, READ_NS)


@pytest.mark.slow
def test_the_clock_is_all_that_the_hosts_timing_has_touched(tmp_path: Path) -> None:
    """Guests are saved until one clock was moved on and one was not (about half are); their cells are equal."""
    streams: dict[int, bytes] = {}
    for number in range(4):
        cache = tmp_path / str(number)
        stream = stream_of(bench(cache, RT), cell(100))
        (record,) = cache.glob("snapshots/*/snapshot.json")
        streams.setdefault(int(record.read_text().partition('"moved_ns": ')[2].partition(",")[0]), stream)
        assert stream == next(iter(streams.values()))
        if len(streams) > 1:
            break
