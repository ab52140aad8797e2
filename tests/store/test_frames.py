"""Frames: every whole one is returned, whatever happens behind it."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.store.frames import MAGIC, PAYLOAD_MAX, End, EndKind, Frame, crc32c, encode_frame, read_frames


def test_crc32c_is_castagnoli() -> None:
    """The check value of the CRC catalogue, and the vectors of RFC 3720, B.4."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_crc32c_goes_on_from_a_seed(first: bytes, second: bytes) -> None:
    assert crc32c(second, crc32c(first)) == crc32c(first + second)


def test_a_frame_is_the_bytes_of_the_format() -> None:
    frame = encode_frame(2, 0x0304, b"ab")
    assert frame[:8] == bytes([2, 0, 0, 0, 2, 0, 4, 3])
    assert frame[8:12] == crc32c(frame[:8] + b"ab").to_bytes(4, "little")
    assert frame[12:] == b"ab"


def read(data: bytes) -> tuple[list[Frame], End]:
    *frames, end = read_frames(io.BytesIO(data))
    assert isinstance(end, End)
    assert all(isinstance(frame, Frame) for frame in frames)
    return [frame for frame in frames if isinstance(frame, Frame)], end


def test_frames_end_where_the_file_ends() -> None:
    data = encode_frame(1, 0, b"x") + encode_frame(2, 7, b"")
    frames, end = read(data)
    assert [(frame.kind, frame.table, frame.payload) for frame in frames] == [(1, 0, b"x"), (2, 7, b"")]
    assert (end.kind, end.at) == (EndKind.CUT, len(MAGIC) + len(data))


@pytest.mark.parametrize("cut", range(1, 15))
def test_a_cut_frame_ends_the_reading_at_its_beginning(cut: int) -> None:
    whole = encode_frame(1, 0, b"abc")
    frames, end = read(whole + encode_frame(2, 0, b"abc")[:cut])
    assert len(frames) == 1
    assert (end.kind, end.at) == (EndKind.CUT, len(MAGIC) + len(whole))


@pytest.mark.parametrize("bit", range(15 * 8))
def test_every_flipped_bit_is_found(bit: int) -> None:
    whole = bytearray(encode_frame(2, 1, b"abc"))
    whole[bit // 8] ^= 1 << bit % 8
    frames, _ = read(bytes(whole) + encode_frame(2, 1, b"next"))
    assert frames == []


def test_a_length_beyond_the_limit_is_refused_before_it_is_read() -> None:
    head = (PAYLOAD_MAX + 1).to_bytes(4, "little") + bytes(8)
    frames, end = read(head)
    assert frames == []
    assert end.kind is EndKind.DAMAGED
    with pytest.raises(ValueError, match="more than"):
        encode_frame(2, 0, bytes(PAYLOAD_MAX + 1))
