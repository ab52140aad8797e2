"""A script that gnuplot draws without change, and its data next to it: each measured column of each cell, value
against index. A column's picture has a panel for each cell and thread that has the column; absolute and relative
timers of the test `timer` share one. Warm-up is left out. Titles say which cells are not valid or not loaded.

`NAME.gp` reads `NAME.dat` and writes `NAME-<column>.png`, wherever the folder is taken and gnuplot is called from."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
from msgspec import Struct

from howlate.errors import UsageError
from howlate.model.columns import column_title
from howlate.store.duck import connection, scan
from howlate.store.export._rows import (
    Format,
    chosen,
    copy,
    fetch,
    mark,
    scratch,
    shape_of,
    sql_name,
    threads_of,
)
from howlate.store.files import OUTPUT, storing, write_output, written_output
from howlate.store.run_folder import SAMPLES, RunFolder
from howlate.store.shape import Shape

OVERLAID: Mapping[str, tuple[str, ...]] = {"timer": ("timer", "part")}
"""Of a test the labels whose values are drawn in one panel, each in a colour of its own."""
MOST_OVERLAID = 4
"""More than these in one panel cannot be told apart."""
MOST_BELOW = 24
"""Panels that are one below the other; more are side by side."""
HIGH, WIDE = 260, 1000
"""Pixels of a panel."""


class DataBlock(Struct, frozen=True):
    """What gnuplot calls an index of the data: a cell's thread."""

    cell: str
    thread: int
    test: str
    labels: Mapping[str, str]
    spans: Mapping[str, tuple[int, int]]
    """Of each column that it has, the smallest and the largest value."""
    rows: int
    first: int = 0
    last: int = 0
    """The range of its indices."""
    mark: str = ""
    """What is wrong with its cell, to be put behind its name."""


class DataSeries(Struct, frozen=True):
    """A block in a panel."""

    index: int
    block: DataBlock
    name: str
    """What tells it from the others of the panel; "" of one alone."""


class Plot(Struct, frozen=True):
    title: str
    series: tuple[DataSeries, ...]


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """`out` is the script; the data stand beside it. Returns the rows written."""
    data = out.with_suffix(".dat")
    if data == out or (out.exists() and not out.is_file() and not out.is_dir()):
        raise UsageError(
            "{out} cannot be the script: its data file next to it would have the same name",
            remedy="name it NAME.gp",
            out=out,
        )
    with connection(run.path) as database:
        wanted = chosen(run, cells)
        shapes = {cell: shape_of(database, run, cell) for cell in wanted}
        columns = list(dict.fromkeys(name for shape in shapes.values() for name in shape.measured))
        every = [
            _described(database, run, cell, thread, shapes[cell])
            for cell in wanted
            for thread in threads_of(database, run, cell)
        ]
        blocks = [block for block in every if block.rows]  # one without a line would be no index of gnuplot's
        rows = 0
        with (
            written_output(data) as place,
            scratch(data) as made,
            storing(data, OUTPUT),
            place.open("wb") as file,
        ):
            file.write(f"# index {' '.join(columns)}\n".encode())
            for number, block in enumerate(blocks):
                file.write(f"{chr(10) * 2 if number else ''}{_head(block)}\n".encode())
                rows += _write_block(database, run, block, shapes[block.cell], columns, made)
                with made.open("rb") as source:
                    shutil.copyfileobj(source, file, 1 << 20)
    write_output(out, script(out.stem, columns, blocks), OUTPUT)
    return rows


def _head(block: DataBlock) -> str:
    return f"# {block.cell} thread {block.thread}{block.mark}"


def _described(
    database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str, thread: int, shape: Shape
) -> DataBlock:
    summary, names = run.summary(cell), [_index(shape), *(sql_name(name) for name in shape.measured)]
    ranges = ", ".join(f"min(v{i}), max(v{i})" for i in range(len(names)))
    values = ", ".join(f"{name} AS v{i}" for i, name in enumerate(names))
    where = f"thread = {thread} AND {shape.counted}"
    query = f"SELECT count(*), {ranges} FROM (SELECT {values} FROM {{}} WHERE {where})"
    found = [0 if value is None else int(str(value)) for value in fetch(database, run, cell, query)[0]]
    rows, pairs = found[0], list(zip(found[1::2], found[2::2], strict=True))
    spans = dict(zip(shape.measured, pairs[1:], strict=True))
    return DataBlock(cell, thread, summary.test, summary.labels, spans, rows, *pairs[0], mark(summary))


def _index(shape: Shape) -> str:
    return sql_name(shape.index) if shape.index is not None else "row_number() OVER () - 1"


def _write_block(
    database: duckdb.DuckDBPyConnection,
    run: RunFolder,
    block: DataBlock,
    shape: Shape,
    columns: Sequence[str],
    out: Path,
) -> int:
    source = run.cell_path(block.cell) / SAMPLES
    values = [f"{sql_name(name)}::VARCHAR" if name in shape.columns else "'nan'" for name in columns]
    query = (
        f"SELECT concat_ws(' ', {_index(shape)}, {', '.join(values)}) FROM {scan(database, source)} "
        f"WHERE thread = {block.thread} AND {shape.counted}"
    )
    return copy(
        database, query, [source], out, "(FORMAT csv, HEADER false, DELIMITER '\\t', QUOTE '', ESCAPE '')"
    )


def panels_of(blocks: Sequence[DataBlock], column: str) -> list[Plot]:
    """The panels of a column's picture: of the blocks that have it, in order."""
    having = [(number, block) for number, block in enumerate(blocks) if column in block.spans]
    grouped: dict[tuple[object, ...], list[tuple[int, DataBlock]]] = {}
    for number, block in having:
        grouped.setdefault(_panel_key(block), []).append((number, block))
    shown = [block for _, block in having]
    panels = []
    for key, members in grouped.items():
        together = [members] if len(members) <= MOST_OVERLAID and key[0] else [[one] for one in members]
        for some in together:
            apart = OVERLAID.get(some[0][1].test, ()) if len(some) > 1 else ()
            title = _name(some[0][1], shown, without=apart) + ("" if apart else some[0][1].mark)
            series = [DataSeries(n, block, _name_apart(block, apart)) for n, block in some]
            panels.append(Plot(title, tuple(series)))
    return panels


def _name_apart(block: DataBlock, apart: Sequence[str]) -> str:
    return block.labels.get(apart[0], "") + block.mark if apart else ""


def _panel_key(block: DataBlock) -> tuple[object, ...]:
    """Blocks with the same are drawn in one panel; of most tests each block is alone."""
    apart = OVERLAID.get(block.test)
    if apart is None:
        return (False, block.cell, block.thread)
    rest = tuple(sorted((name, text) for name, text in block.labels.items() if name not in apart))
    number = block.cell.rpartition("-")[2]  # the repetition
    return (True, block.test, rest, number, block.thread)


def _name(block: DataBlock, blocks: Sequence[DataBlock], without: Sequence[str] = ()) -> str:
    """A block by the labels in which those of the picture differ, and its thread where a cell has several."""
    names = dict.fromkeys(name for other in blocks for name in other.labels if name not in without)
    vary = [name for name in names if len({other.labels.get(name) for other in blocks}) > 1]
    text = ", ".join(f"{name} {block.labels.get(name, '-')}" for name in vary) or block.cell
    threads = sum(other.cell == block.cell for other in blocks)
    return text if threads == 1 else f"{text}, thread {block.thread}"


def script(stem: str, columns: Sequence[str], blocks: Sequence[DataBlock]) -> str:
    """gnuplot's commands: a picture a column."""
    lines = [
        "# Written by howlate; draw it with: gnuplot " + stem + ".gp",
        "# The data are read from the folder of this script, wherever that is, and the pictures are put there.",
        "folder(s) = strlen(s) == 0 || s[strlen(s):] eq '/' ? s : folder(s[1:strlen(s) - 1])",
        "here = folder(ARG0)",
        f"data = here.{_quoted(stem + '.dat')}",
        "set grid",
        "set xlabel 'index'",
        "set ylabel 'us'",
        "set datafile missing 'nan'",
    ]
    for number, column in enumerate(columns, 2):
        panels = panels_of(blocks, column)
        if panels:
            lines += _picture(stem, column, number, panels)
    return "\n".join([*lines, ""])


def _picture(stem: str, column: str, number: int, panels: Sequence[Plot]) -> list[str]:
    across = -(-len(panels) // MOST_BELOW)
    below = -(-len(panels) // across)
    lines = [
        "",
        f"set terminal png size {WIDE * across},{max(300, HIGH * below + 30)}",
        "set output here." + _quoted(f"{stem}-{column.removesuffix('_ns')}.png"),
        f"set multiplot layout {below},{across} title {_quoted(column_title(column))} noenhanced",
    ]
    for panel in panels:
        lines += [f"set title {_quoted(panel.title)} noenhanced", *_ranges(panel, column)]
        lines.append(f"set key {'above right noenhanced' if len(panel.series) > 1 else 'off'}")
        plots = [
            f"data index {one.index} using 1:(${number} / 1000.0) with points pointtype 7 "
            f"pointsize {_size(one.block.rows)} title {_quoted(one.name)}"
            for one in panel.series
        ]
        lines.append("plot " + ", ".join(plots))
    return [*lines, "unset multiplot", "unset output"]


def _ranges(panel: Plot, column: str) -> list[str]:
    """gnuplot finds them itself but where all values are one, of which it would complain."""
    first = min(one.block.first for one in panel.series)
    last = max(one.block.last for one in panel.series)
    low = min(one.block.spans[column][0] for one in panel.series) / 1000
    high = max(one.block.spans[column][1] for one in panel.series) / 1000
    x = "set autoscale x" if first < last else f"set xrange [{first - 1}:{last + 1}]"
    room = abs(low) * 0.1 or 1.0
    return [x, "set autoscale y" if low < high else f"set yrange [{low - room:.10g}:{high + room:.10g}]"]


def _size(rows: int) -> float:
    """Few points are seen only where each is large."""
    return 0.7 if rows <= 1_000 else 0.4 if rows <= 20_000 else 0.2


def _quoted(text: str) -> str:
    """A text of gnuplot's in which nothing is expanded."""
    return "'" + "".join(c for c in text if c.isprintable()).replace("'", "''") + "'"


FORMAT = Format("gnuplot", ".gp", "a script with its data: gnuplot draws each column", write, one_text=False)
