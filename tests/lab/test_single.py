"""The words of a single release, written by hand. No guest is needed."""

import struct
from pathlib import Path

import google_crc32c
import pytest

from howlate.errors import DamagedError, TargetError
from howlate.lab.guests.single import LEAST_AHEAD_NS, SingleState, put_instant, read_moment, read_single

PLANNED_NS, STOPPED_NS = 1_000_000_000, 995_000_000
THREADS = b"16 1 99 1000 3 migration/0\n57 1 80 2000 4 howlate-probe\n"


def window(
    folder: Path, state: SingleState, armed_ns: int, instant_ns: int, threads: bytes = THREADS
) -> Path:
    words = (state, 7, PLANNED_NS, STOPPED_NS, instant_ns, 4_000, 0, armed_ns, STOPPED_NS)
    said = struct.pack("<9Q", *words) + struct.pack(
        "<Qq2Q", 0, 50_000, len(threads), google_crc32c.value(THREADS)
    )
    place = folder / "window"
    place.write_bytes((bytes(64) + said).ljust(1 << 20, b"\0") + threads)
    return place


@pytest.mark.parametrize("ahead_ns", [LEAST_AHEAD_NS - 1, 0, -5_000])
def test_a_release_that_was_due_before_its_timer_was_armed_is_refused(tmp_path: Path, ahead_ns: int) -> None:
    armed_ns = PLANNED_NS - ahead_ns
    with pytest.raises(TargetError, match="ahead of it"):
        read_single(window(tmp_path, SingleState.HAS_LATENCY, armed_ns, PLANNED_NS))
    assert (
        read_single(window(tmp_path, SingleState.STOPPED_BEFORE, armed_ns, PLANNED_NS)).armed_ns == armed_ns
    )


def test_how_far_ahead_a_timer_is_armed_is_told_for_the_first_release_that_there_can_be(
    tmp_path: Path,
) -> None:
    armed_ns = STOPPED_NS + 3_000
    place = window(tmp_path, SingleState.HAS_LATENCY, armed_ns, PLANNED_NS + 6_000_000)
    moment = read_moment(place)
    assert (moment.ahead_ns, moment.run_ns, len(moment.threads)) == (4_997_000, 50_000, 2)
    assert read_moment(window(tmp_path, SingleState.STOPPED_BEFORE, 0, 0)).ahead_ns is None


def test_a_list_of_threads_with_another_checksum_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DamagedError):
        read_moment(window(tmp_path, SingleState.STOPPED_BEFORE, 0, 0, THREADS.replace(b"99", b"98")))


def test_the_instant_is_a_word_of_its_own(tmp_path: Path) -> None:
    place = window(tmp_path, SingleState.STOPPED_BEFORE, 0, 0)
    before = read_single(place)
    put_instant(place, 123)
    assert (read_single(place).instant_ns, before.planned_ns) == (123, read_single(place).planned_ns)
