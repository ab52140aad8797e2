"""The stream's decoder: strict about what it takes, tolerant of where it ends, and never anything but
DamagedError."""

import io
import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howlate.errors import DamagedError
from howlate.store.frames import BATCH, HEADER, MAGIC, NO_TRAILER, TRAILER, EndKind, encode_frame
from howlate.store.stream import NO_STREAM, Batch, StreamReader
from sentences import values_of
from store.streams import StreamWriter

from .streams import header, rows, stream


def read(data: bytes) -> tuple[StreamReader, list[Batch]]:
    reader = StreamReader(io.BytesIO(data))
    return reader, list(reader.batches())


def latencies(batches: list[Batch]) -> list[int]:
    return [int(value) for batch in batches for value in batch.columns.get("latency_ns", [])]


def frame_ends(data: bytes) -> list[int]:
    """Offsets at which a whole frame ends."""
    ends, at = [], len(MAGIC)
    while at < len(data):
        at += 12 + struct.unpack_from("<I", data, at)[0]
        ends.append(at)
    return ends


def test_a_whole_stream_is_read_back() -> None:
    reader, batches = read(stream([5, 7, 6], [0, 1, 4], batch_rows=2, warm_up=1))
    assert reader.header.test == "cyclic"
    assert reader.header.t0_ns == 5_000
    assert reader.header.raw["parameters"]["period"] == "1ms"
    assert [table.name for table in reader.header.tables] == ["samples", "cpus", "loads"]
    assert [batch.rows for batch in batches] == [2, 1]
    assert latencies(batches) == [5, 7, 6]
    assert batches[0].columns["flags"].tolist() == [1, 0]
    last = batches[1].totals
    assert (last.rows_total, last.releases, last.overruns, last.dropped) == (3, 5, 2, 0)
    assert reader.trailer is not None
    assert reader.trailer["accounting"][0]["latency_ns_max"] == 7
    assert reader.end is not None
    assert reader.end.kind is EndKind.WHOLE


def test_a_stream_is_the_bytes_of_the_format() -> None:
    """By hand, from docs/stream.md, so that encoder and decoder cannot be wrong together."""
    payload = (
        struct.pack("<IIqqqq", 3, 0, 3, 3, 0, 0)
        + struct.pack("<3q", 1, 2, 3)
        + bytes([1, 0, 0, 0, 0, 0, 0, 0])
    )
    tables = [{"id": 9, "name": "t", "columns": [{"name": "a", "type": "i64"}, {"name": "b", "type": "u8"}]}]
    head = json.dumps({"stream": 1, "test": "x", "t0_ns": 1, "tables": tables}).encode()
    data = b"HOWLATE\x01" + encode_frame(1, 0, head) + encode_frame(2, 9, payload)
    _, (batch,) = read(data)
    assert batch.columns["a"].tolist() == [1, 2, 3]
    assert batch.columns["b"].tolist() == [1, 0, 0]
    out = io.BytesIO()
    StreamWriter(out, json.loads(head)).batch(9, {"a": [1, 2, 3], "b": [1, 0, 0]}, releases=3)
    assert out.getvalue() == data


def test_a_cut_anywhere_gives_the_whole_frames_before_it() -> None:
    data = stream(list(range(40)), batch_rows=7)
    ends = frame_ends(data)
    for cut in range(len(data)):
        whole = sum(end <= cut for end in ends)
        if whole == 0:
            with pytest.raises(DamagedError):
                read(data[:cut])
            continue
        reader, batches = read(data[:cut])
        assert latencies(batches) == list(range(min(7 * (whole - 1), 40)))
        assert reader.end is not None
        assert reader.end.kind is EndKind.CUT
        assert reader.end.at == ends[whole - 1]


def test_a_flipped_bit_ends_the_reading_before_its_frame() -> None:
    data = stream(list(range(20)), batch_rows=5)
    ends = frame_ends(data)
    for at in range(ends[0], len(data)):
        altered = bytearray(data)
        altered[at] ^= 0x10
        reader, batches = read(bytes(altered))
        whole = sum(end <= at for end in ends)
        assert latencies(batches) == list(range(5 * (whole - 1)))
        assert reader.end is not None
        assert reader.end.kind in (EndKind.DAMAGED, EndKind.CUT)


def test_bytes_behind_the_trailer_are_named() -> None:
    reader, batches = read(stream([1]) + b"x")
    assert reader.end is not None
    assert (reader.end.kind, reader.end.statement.values["part"]) == (EndKind.DAMAGED, "place")
    assert latencies(batches) == [1]


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"", {"bytes": 0, "length": 8}),
        (b"HOWL", {"bytes": 4, "length": 8}),
        (b"HOWLATE\x02", {"version": 2, "known": 1}),
        (b"PAR1PAR1", {"problem": NO_STREAM()}),
        (MAGIC, {"problem": NO_TRAILER()}),
        (MAGIC + encode_frame(BATCH, 0, b""), {"part": "kind", "given": BATCH}),
        (MAGIC + encode_frame(HEADER, 0, b"\xff"), {"part": "JSON"}),
        (MAGIC + encode_frame(HEADER, 0, b"[" * 100_000), {"part": "JSON"}),
        (MAGIC + encode_frame(HEADER, 0, b"[]"), {"part": "JSON", "given": "no object"}),
        (MAGIC + encode_frame(HEADER, 0, b'{"a": NaN}'), {"part": "JSON"}),
        (MAGIC + encode_frame(HEADER, 0, b'{"a": 1e999}'), {"part": "JSON"}),
        (MAGIC + encode_frame(HEADER, 0, b'{"a": "\\ud800"}'), {"part": "JSON"}),
    ],
)
def test_a_stream_without_header_is_a_sentence(data: bytes, values: dict[str, object]) -> None:
    with pytest.raises(DamagedError) as caught:
        read(data)
    assert values.items() <= values_of(caught.value).items()
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ({"stream": 2}, {"version": "2"}),
        ({"stream": True}, {"version": "True"}),
        ({"test": ""}, {"key": "test", "given": '""'}),
        ({"test": 1}, {"key": "test", "given": "a whole number"}),
        ({"t0_ns": "0"}, {"key": "t0_ns"}),
        ({"t0_ns": 2**63}, {"key": "t0_ns"}),
        ({"parameters": []}, {"key": "parameters"}),
        ({"tables": {}}, {"key": "tables", "given": "a table"}),
        ({"tables": [1]}, {"key": "tables", "given": "one with a whole number"}),
        ({"tables": [{"id": -1, "name": "a", "columns": []}]}, {"key": "id", "given": "-1"}),
        ({"tables": [{"id": 1, "name": "a", "columns": []}]}, {"key": "columns", "given": "empty"}),
        ({"tables": [{"id": 1, "name": "a", "columns": [{"name": "b", "type": "f64"}]}]}, {"given": '"f64"'}),
        ({"tables": [{"id": 1, "name": "a", "columns": [{"name": "b", "type": []}]}]}, {"given": "a list"}),
        (
            {"tables": [{"id": 1, "name": "a", "columns": [{"name": "b", "type": "u8"}] * 2}]},
            {"what": "column", "name": "b"},
        ),
        ({"tables": header()["tables"] * 2}, {"what": "table"}),
    ],
)
def test_a_header_that_cannot_be_used_is_a_sentence(
    changes: dict[str, Any], values: dict[str, object]
) -> None:
    payload = json.dumps(header(**changes)).encode()
    with pytest.raises(DamagedError) as caught:
        read(MAGIC + encode_frame(HEADER, 0, payload))
    assert values.items() <= values_of(caught.value).items()


def batch_payload(n: int, total: int, zero: int = 0, extra: bytes = b"") -> bytes:
    columns = rows(list(range(n)), list(range(n)))
    body = b"".join(columns[name].tobytes() + bytes(-columns[name].nbytes % 8) for name in columns)
    return struct.pack("<IIqqqq", n, zero, total, total, 0, 0) + body + extra


@pytest.mark.parametrize(
    ("frame", "part", "given"),
    [
        (encode_frame(HEADER, 0, b"{}"), "kind", HEADER),
        (encode_frame(77, 0, b""), "kind", 77),
        (encode_frame(BATCH, 500, batch_payload(3, 3)), "table", 500),
        (encode_frame(BATCH, 0, b"123"), "length", 3),
        (encode_frame(BATCH, 0, batch_payload(3, 3, zero=1)), "reserved word", 1),
        (encode_frame(BATCH, 0, batch_payload(3, 3, extra=b"12345678")), "length", 152),
        (encode_frame(BATCH, 0, batch_payload(3, 4)), "number of rows", 4),
        (encode_frame(TRAILER, 0, b"7"), "JSON", "no object"),
    ],
)
def test_a_frame_that_cannot_be_used_ends_the_reading(frame: bytes, part: str, given: int | str) -> None:
    data = MAGIC + encode_frame(HEADER, 0, json.dumps(header()).encode()) + frame
    reader, batches = read(data)
    assert batches == []
    assert reader.trailer is None
    assert reader.end is not None
    assert reader.end.kind is EndKind.DAMAGED
    assert reader.end.statement.values == {"part": part, "given": given}


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(DamagedError, match="cannot be read"):
            StreamReader.open(path)


def test_the_writer_refuses_what_the_reader_would() -> None:
    with pytest.raises(ValueError, match="test"):
        StreamWriter(io.BytesIO(), header(test=""))
    writer = StreamWriter(io.BytesIO(), header())
    with pytest.raises(ValueError, match="no table"):
        writer.batch(99, {})
    with pytest.raises(ValueError, match="has not the"):
        writer.batch(0, rows([1, 2], [0, 1]) | {"flags": np.zeros(3)})


int64s = st.integers(-(2**63), 2**63 - 1)


@given(
    st.lists(
        st.lists(st.tuples(int64s, st.integers(-(2**31), 2**31 - 1), st.integers(0, 255)), max_size=9),
        max_size=6,
    )
)
def test_any_rows_are_read_back(parts: list[list[tuple[int, int, int]]]) -> None:
    columns = [{"name": "a", "type": "i64"}, {"name": "b", "type": "i32"}, {"name": "c", "type": "u8"}]
    out = io.BytesIO()
    writer = StreamWriter(out, header(tables=[{"id": 3, "name": "t", "columns": columns}]))
    for part in parts:
        table = {
            name: np.array([row[n] for row in part], kind)
            for n, (name, kind) in enumerate(zip("abc", ("i8", "i4", "u1"), strict=True))
        }
        writer.batch(3, table)
    writer.trailer({})
    reader, batches = read(out.getvalue())
    assert reader.end is not None
    assert reader.end.kind is EndKind.WHOLE
    found = [list(zip(*(batch.columns[name].tolist() for name in "abc"), strict=True)) for batch in batches]
    assert found == parts


@settings(max_examples=300)
@given(st.data())
def test_no_bytes_raise_anything_else(data: st.DataObject) -> None:
    """Random payloads behind right checksums: what is behind the frames is reached as well."""
    blob = st.binary(max_size=80)
    frames = data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), blob), max_size=5))
    body = b"".join(encode_frame(*frame) for frame in frames)
    start = data.draw(
        st.sampled_from([b"", MAGIC, MAGIC + encode_frame(HEADER, 0, json.dumps(header()).encode())])
    )
    survive(start + body + data.draw(blob))


def survive(data: bytes) -> None:
    """Reads it to its end; anything but DamagedError fails the test."""
    try:
        reader, _ = read(data)
    except DamagedError as error:
        assert error.message
        return
    assert reader.end is not None
    assert 0 <= reader.end.at <= len(data)
    assert reader.end.reason


def mutated(data: bytes, chance: random.Random) -> bytes:
    """One to four alterations: bits, bytes, cuts, insertions, repetitions of parts."""
    altered = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(altered)) if altered else 0
        length = chance.choice((1, 2, 4, 8, 16, 60))
        match chance.randrange(6):
            case 0 if altered:
                altered[at] ^= 1 << chance.randrange(8)
            case 1:
                altered[at : at + length] = chance.randbytes(length)
            case 2:
                del altered[at:]
            case 3:
                del altered[at : at + length]
            case 4:
                altered[at:at] = altered[: chance.randrange(100)]
            case _:
                altered[at : at + 4] = chance.choice(
                    (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\0\0\0\x01")
                )
    return bytes(altered)


def sealed_again(data: bytes) -> bytes:
    """The same with every frame's checksum made right, so that alterations get past it."""
    out, at = bytearray(data[:8]), 8
    while at + 12 <= len(data):
        length, kind, _, table, _ = struct.unpack_from("<IBBHI", data, at)
        payload = data[at + 12 : at + 12 + length]
        if length > len(data):
            break
        out += encode_frame(kind, table, payload)
        at += 12 + length
    return bytes(out) + data[at:]


@pytest.mark.parametrize("sealed", [False, True], ids=["altered", "altered-behind-the-checksum"])
def test_thousands_of_altered_streams_raise_nothing_else(sealed: bool) -> None:
    """A fuzz test with a fixed seed: the same streams every time."""
    chance = random.Random(7)
    seeds = [stream(list(range(30)), batch_rows=9), stream([3, 9], [0, 5], warm_up=1), stream([])]
    for _ in range(4_000):
        data = mutated(chance.choice(seeds), chance)
        survive(sealed_again(data) if sealed else data)
