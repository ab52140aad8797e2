import contextlib
import json
import struct
from pathlib import Path

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.errors import DamagedError, UsageError
from howlate.lab.guests import window
from howlate.lab.guests.window import State, decode_tree
from howlate.store.job_text import job_text
from lab.made_results import encode_tree

TREES = st.dictionaries(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), st.binary()
)


def leave(path: Path, state: int, data: bytes, crc: int | None = None) -> None:
    """As a guest leaves its result."""
    with path.open("r+b") as file:
        file.seek(24)
        file.write(struct.pack("<QQQ", state, len(data), google_crc32c.value(data) if crc is None else crc))
        file.seek(1 << 20)
        file.write(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    window.create(tmp_path / "window")
    return tmp_path / "window"


def test_an_empty_window_has_its_room(path: Path) -> None:
    assert path.stat().st_size == window.SIZE
    assert path.stat().st_blocks * 512 >= window.SIZE  # another guest does not count on its room
    assert window.read_answer(path).state is State.NOTHING


def test_a_job_stands_where_the_guest_looks_for_it(path: Path) -> None:
    job = job_text([["howlate-probe", "cyclic"], ["module", "x y"]])
    window.put_job(path, job)
    data = path.read_bytes()[: 1 << 20]
    length, crc, state = struct.unpack_from("<8xQQQ", data)
    assert data[:8] == b"howlwin1"
    assert (length, crc, state) == (len(job), google_crc32c.value(job), 1)
    assert [json.loads(line) for line in data[4096 : 4096 + length].splitlines()] == [
        ["howlate-probe", "cyclic"],
        ["module", "x y"],
    ]


def test_a_job_that_would_reach_into_the_result_is_refused(path: Path) -> None:
    with pytest.raises(UsageError, match="too large"):
        window.put_job(path, b"x" * (1 << 20))


def test_a_result_is_read_with_its_checksum(path: Path) -> None:
    leave(path, State.RESULT, b"the result")
    assert window.read_answer(path) == window.GuestAnswer(State.RESULT, b"the result")
    leave(path, State.RESULT, b"the result", crc=1)
    with pytest.raises(DamagedError, match="checksum"):
        window.read_answer(path)


def test_a_guest_that_waits_for_a_job_has_said_so_with_its_clock(path: Path) -> None:
    assert window.read_ready(path) is None
    with path.open("r+b") as file:
        file.seek(24)
        file.write(struct.pack("<QQQQ", 4, 0, 0, 6_107_880_075))
    assert window.read_ready(path) == 6_107_880_075


@pytest.mark.parametrize(("state", "length"), [(7, 0), (2, window.SIZE)])
def test_a_window_that_was_written_over_is_told(path: Path, state: int, length: int) -> None:
    with path.open("r+b") as file:
        file.seek(24)
        file.write(struct.pack("<QQQ", state, length, 0))
    with pytest.raises(DamagedError):
        window.read_answer(path)


@given(TREES)
def test_a_tree_comes_back(files: dict[str, bytes]) -> None:
    assert decode_tree(encode_tree(files)) == files


@given(TREES.filter(bool), st.data())
def test_a_tree_that_is_cut_is_never_taken_for_another(files: dict[str, bytes], data: st.DataObject) -> None:
    whole = encode_tree(files)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    try:
        found = decode_tree(cut)
    except DamagedError:
        return
    assert found.items() < files.items()  # between two files


@given(st.binary())
def test_any_bytes_are_a_tree_or_damaged(data: bytes) -> None:
    with contextlib.suppress(DamagedError):
        decode_tree(data)


def test_a_changed_byte_of_a_file_is_seen() -> None:
    whole = bytearray(encode_tree({"0/stream": b"12345678"}))
    whole[-1] ^= 1
    with pytest.raises(DamagedError, match="0/stream"):
        decode_tree(bytes(whole))
