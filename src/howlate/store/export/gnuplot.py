"""A script that gnuplot draws without change, and its data beside it: each measured column of each cell, value
against index, as in `tut-2017`. Warm-up is left out.

`NAME.gp` reads `NAME.dat` and writes `NAME-<column>.png`, wherever the folder is taken and gnuplot is called from."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb

from howlate.errors import UsageError
from howlate.model.columns import column_title
from howlate.store.duck import connection, scan
from howlate.store.export._format import Format
from howlate.store.export._rows import chosen, copy, scratch, shape_of, sql_name, target, threads_of
from howlate.store.files import OUTPUT, storing, write_text
from howlate.store.run_folder import SAMPLES, RunFolder

Block = tuple[str, int]
"""Cell and thread: an index of the data."""


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """`out` is the script; the data stand beside it. Returns the rows written."""
    data = out.with_suffix(".dat")
    if data == out or (out.exists() and not out.is_file()):
        raise UsageError(
            f"{out} cannot be the script: its data stand beside it, in a file .dat", "name it NAME.gp"
        )
    with connection(run.path) as database:
        wanted = chosen(run, cells)
        shapes = {cell: shape_of(database, run, cell) for cell in wanted}
        columns = list(dict.fromkeys(name for shape in shapes.values() for name in shape.measured))
        blocks = [(cell, thread) for cell in wanted for thread in threads_of(database, run, cell)]
        rows = 0
        with (
            target(data) as place,
            scratch(data, place) as block,
            storing(data, OUTPUT),
            place.open("wb") as file,
        ):
            file.write(f"# index {' '.join(columns)}\n".encode())
            for number, (cell, thread) in enumerate(blocks):
                file.write(f"{chr(10) * 2 if number else ''}# {cell} thread {thread}\n".encode())
                rows += _block(database, run, (cell, thread), columns, block)
                with block.open("rb") as made:
                    shutil.copyfileobj(made, file, 1 << 20)
    labels = {cell: run.summary(cell).labels for cell in wanted}
    write_text(out, script(out.stem, columns, [_name(block, labels, blocks) for block in blocks]), OUTPUT)
    return rows


def _block(
    database: duckdb.DuckDBPyConnection, run: RunFolder, block: Block, columns: Sequence[str], out: Path
) -> int:
    cell, thread = block
    shape, source = shape_of(database, run, cell), run.cell_path(cell) / SAMPLES
    index = sql_name(shape.index) if shape.index is not None else "row_number() OVER () - 1"
    values = [f"{sql_name(name)}::VARCHAR" if name in shape.columns else "'nan'" for name in columns]
    query = (
        f"SELECT concat_ws(' ', {index}, {', '.join(values)}) FROM {scan(source)} "
        f"WHERE thread = {thread} AND {shape.counted}"
    )
    return copy(
        database, query, [source], out, "(FORMAT csv, HEADER false, DELIMITER '\\t', QUOTE '', ESCAPE '')"
    )


def _name(block: Block, labels: dict[str, dict[str, str]], blocks: Sequence[Block]) -> str:
    """A block by the labels in which the cells differ, and its thread where a cell has several."""
    cell, thread = block
    names = dict.fromkeys(name for own in labels.values() for name in own)
    vary = [name for name in names if len({own.get(name) for own in labels.values()}) > 1]
    text = ", ".join(f"{name} {labels[cell].get(name, '-')}" for name in vary) or cell
    return text if sum(other == cell for other, _ in blocks) == 1 else f"{text}, thread {thread}"


def script(stem: str, columns: Sequence[str], names: Sequence[str]) -> str:
    """gnuplot's commands: a picture a column, a panel a block."""
    rows = max(1, len(names))
    lines = [
        "# Written by howlate; draw it with: gnuplot " + stem + ".gp",
        "# The data are taken from beside this script, wherever that is, and the pictures are put there.",
        "folder(s) = strlen(s) == 0 || s[strlen(s):] eq '/' ? s : folder(s[1:strlen(s) - 1])",
        "here = folder(ARG0)",
        f"data = here.{_quoted(stem + '.dat')}",
        f"set terminal png size 1000,{max(300, min(4000, 260 * rows))}",
        "set grid",
        "set key off",
        "set xlabel 'index'",
        "set ylabel 'us'",
        "set datafile missing 'nan'",
    ]
    for number, column in enumerate(columns, 2):
        lines += [
            "",
            "set output here." + _quoted(f"{stem}-{column.removesuffix('_ns')}.png"),
            f"set multiplot layout {rows},1 title {_quoted(column_title(column))} noenhanced",
        ]
        for index, name in enumerate(names):
            lines += [
                f"set title {_quoted(name)} noenhanced",
                f"plot data index {index} using 1:(${number} / 1000.0) with points pointtype 7 pointsize 0.2",
            ]
        lines.append("unset multiplot")
    return "\n".join([*lines, "set output", ""])


def _quoted(text: str) -> str:
    """A text of gnuplot's in which nothing is expanded."""
    return "'" + "".join(c for c in text if c.isprintable()).replace("'", "''") + "'"


FORMAT = Format("gnuplot", ".gp", "a script and, beside it, its data: gnuplot draws each column", write)
