"""The decoder of reference files: exact on what it knows, a sentence with file and place on everything else; and
which cells a row stands beside."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from howlate.errors import UsageError
from howlate.model.decode import parse_toml
from howlate.published.load import decode_reference
from howlate.published.reference import PublishedRow, Reference

HEAD = """
schema = 1
study = "toshiba-2010"
title = "t"
document = "d"
language = "ja"
"""
TABLE = """
[[table]]
id = "high-1000us"
title = "1000 us, high load"
place = "slide 15"
kind = "table"
where = { load = "cpu:100+disk", period = "1ms" }
rows = "preemption"
samples = 1000000
[[table.column]]
name = "mean"
heading = "平均レイテンシ"
unit = "us"
field = "columns.latency_ns.mean"
[[table.column]]
name = "over"
field = "accounting.overruns"
"""
ROWS = """
[[table.row]]
label = "lenny"
match = { preemption = ["none", "voluntary"] }
[table.row.values]
mean = { value = 3.420, mark = "text" }
over = { value = 165, mark = "ambiguous", candidates = [165, 1651] }
[[table.row]]
label = "RT"
match = { preemption = "rt" }
values = { mean = { value = 11.8, mark = "arithmetic", about = true, note = "n" } }
[[table.row]]
label = "Xenomai"
why = "it needs Xenomai"
values = { mean = { value = 1, mark = "text" } }
"""
WHOLE = HEAD + TABLE + ROWS


def decode(text: str) -> Reference:
    return decode_reference(parse_toml(text, "r.toml", parse_float=Decimal))


def test_figures_keep_the_digits_that_they_are_printed_with() -> None:
    row = decode(WHOLE).tables[0].rows[0]
    mean, over = row.values["mean"], row.values["over"]
    assert (mean.printed, mean.value, mean.last_digit) == ("3.420", 3.42, Decimal("0.001"))
    assert (over.printed, over.last_digit) == ("165", Decimal(1))
    assert over.candidates == (Decimal(165), Decimal(1651))
    assert over.to_json() == {
        "value": 165.0,
        "printed": "165",
        "mark": "ambiguous",
        "candidates": [165.0, 1651.0],
    }


MODES = '[modes]\nlenny = "user"\nXenomai = "kernel"\n'


def test_rows_of_unlike_modes_are_named_with_their_mode() -> None:
    rows = decode(HEAD + MODES + TABLE + ROWS).tables[0].rows
    assert [row.named for row in rows] == ["lenny (user mode)", "RT", "Xenomai (kernel mode)"]


@pytest.mark.parametrize(
    ("was", "becomes", "part"),
    [
        ("lenny", "lenni", 'there is no row of the document "lenni"'),
        ('"user"', '"usr"', 'there is no mode "usr"'),
    ],
)
def test_a_mode_is_one_of_two_and_of_a_row(was: str, becomes: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        decode(HEAD + MODES.replace(was, becomes) + TABLE + ROWS)
    assert part in caught.value.message


def test_a_statistic_is_its_fields_last_word_where_that_is_one() -> None:
    columns = decode(WHOLE).tables[0].columns
    assert [c.statistic for c in columns] == ["mean", "overruns"]
    said = WHOLE.replace('"columns.latency_ns.mean"', '""\nstatistic = "max"')
    assert decode(said).tables[0].columns[0].statistic == "max"


@pytest.mark.parametrize(
    ("was", "becomes", "parts"),
    [
        ("schema = 1", "schema = 2", ['"schema" must be 1, not 2']),
        ('language = "ja"', 'langauge = "ja"', ["r.toml: ", 'unknown key "langauge"', 'did you mean "language"']),
        ('kind = "table"', 'kind = "tabel"', ["r.toml, table[1]", 'table "tabel"', 'did you mean "table"']),
        ('study = "toshiba-2010"', 'study = "../x"', ["small letters"]),
        ('mark = "text" }\nover', 'mark = "txt" }\nover', ["row[1].values.mean", 'no mark "txt"', '"text"']),
        ("over = {", "ovr = {", ["table[1].row[1].values", 'unknown key "ovr"', 'did you mean "over"']),
        ("candidates = [165, 1651]", "candidates = [1651, 165]", ["two or more readings"]),
        ("candidates = [165, 1651]", "candidates = [165]", ["two or more readings"]),
        (", candidates = [165, 1651]", "", ['either "candidates" or "note"']),
        ("value = 165,", "value = true,", ['"value" must be a number, not true or false']),
        ("value = 165,", "value = nan,", ['"value" must be a number, not NaN']),
        ("value = 165, ", "", ['the key "value" is missing']),
        ('["none", "voluntary"]', '["none", "volontary"]', ["no preemption model", '"voluntary"']),
        ('["none", "voluntary"]', "[1]", ['"preemption" must be text or a list']),
        ('{ preemption = "rt" }', '{ kernel = "rt" }', ['no label of the rows "kernel"']),
        ('match = { preemption = "rt" }', "", ["r.toml, table[1].row[2]", 'either "match" or "why"']),
        ('why = "it', 'match = { preemption = "rt" }\nwhy = "it', ['either "match" or "why"']),
        ('label = "RT"', 'label = "lenny"', ['"row" must be unique, not "lenny" twice']),
        ('name = "over"', 'name = "mean"', ['"column" must be unique, not "mean" twice']),
        ("accounting.overruns", "acounting.overruns", ['no part of a cell "acounting"']),
        ("columns.latency_ns.mean", "columns.{column}.mean", ['the key "column" is missing']),
        ('name = "over"', 'name = "over"\nstatistic = "maximum"', ['no statistic "maximum"']),
        ("samples = 1000000", "samples = -1", ['"samples" must be a count, not -1']),
        ('why = "it', 'same_as = "low/RT"\nwhy = "it', ['no table "low"']),
        ('why = "it', 'same_as = "high-1000us/Rt"\nwhy = "it', ['no row of "high-1000us" "Rt"']),
        ('why = "it', 'same_as = "high-1000us/Xenomai"\nwhy = "it', ['"same_as" must be a row']),
        ('kind = "table"', 'kind = "table"\ncolumns = "lat"', ['either "columns" or "column"']),
        ("[[table.row]]", '[[table.reprint]]\nplace="p"\ndiffers = [{ row = "leny", column = "mean", printed = "1" }]'
         "\n[[table.row]]", ['no row of the table "leny"', 'did you mean "lenny"']),
    ],
)  # fmt: skip
def test_refusals_name_file_place_and_remedy(was: str, becomes: str, parts: list[str]) -> None:
    assert was in WHOLE
    with pytest.raises(UsageError) as caught:
        decode(WHOLE.replace(was, becomes, 1))
    said = f"{caught.value.message} | {caught.value.remedy}"
    for part in parts:
        assert part in said


def test_a_missing_table_is_refused() -> None:
    with pytest.raises(UsageError, match='the key "table" is missing'):
        decode(HEAD)


def test_candidates_of_a_row_come_in_pairs() -> None:
    text = WHOLE.replace(
        'value = 3.420, mark = "text"', 'value = 3.4, mark = "ambiguous", candidates = [3.4, 1, 2]'
    )
    with pytest.raises(UsageError, match="of equal number in a row"):
        decode(text)


def labels(rows: Sequence[PublishedRow]) -> list[str]:
    return [row.label for row in rows]


def cell(**labels: str) -> dict[str, Any]:
    return {"test": "cyclic", "labels": labels}


def test_a_row_stands_beside_the_cells_of_its_labels_and_machine() -> None:
    table = decode(WHOLE).tables[0]
    ours = cell(load="disk+cpu:100", period="1000us", policy="fifo:80")
    for preemption, label in (
        ("none", ["lenny"]),
        ("voluntary", ["lenny"]),
        ("rt", ["RT"]),
        ("full", []),
        ("", []),
    ):
        assert labels(table.rows_for(ours, preemption)) == label
    by_label = table.rows_for(cell(load="cpu:100+disk", period="1ms", preemption="rt"))
    assert labels(by_label) == ["RT"]
    for other in (
        cell(load="cpu:100+disk", period="500us"),
        cell(load="cpu:100", period="1ms"),
        cell(period="1ms"),
    ):
        assert not table.rows_for(other, "rt")


def test_a_part_is_matched_where_the_table_names_one() -> None:
    table = decode(WHOLE.replace('kind = "table"', 'kind = "table"\npart = "cpu"')).tables[0]
    ours = cell(load="cpu:100+disk", period="1ms")
    assert not table.rows_for(ours, "rt")
    assert len(table.rows_for(cell(part="cpu", **ours["labels"]), "rt")) == 1


def test_a_table_without_rows_that_differ_has_one_for_every_cell() -> None:
    text = HEAD + TABLE.replace('rows = "preemption"\n', "") + '[[table.row]]\nlabel = "all"\n'
    rows = decode(text).tables[0].rows_for(cell(load="cpu:100+disk", period="1ms"))
    assert labels(rows) == ["all"]


def test_tables_share_columns_by_name() -> None:
    head, _, rest = TABLE.partition("[[table.column]]")
    shared = ("[[table.column]]" + rest).replace("[[table.column]]", "[[columns.latency]]")
    one = decode(HEAD + shared + head + 'columns = "latency"\n' + ROWS)
    assert one == decode(WHOLE)
    with pytest.raises(UsageError, match='there is no set of columns "latencies"') as caught:
        decode(HEAD + shared + head + 'columns = "latencies"\n' + ROWS)
    assert caught.value.remedy == 'did you mean "latency"?'


def test_a_whole_table_may_be_of_one_kernel() -> None:
    where = 'where = { load = "cpu:100+disk", period = "1ms", preemption = "full" }\n'
    head, _, rest = TABLE.replace('rows = "preemption"\n', "").partition("where")
    text = HEAD + head + where + rest.partition("\n")[2] + '[[table.row]]\nlabel = "all"\n'
    table = decode(text).tables[0]
    ours = cell(load="cpu:100+disk", period="1ms")
    assert len(table.rows_for(ours, "full")) == 1
    assert not table.rows_for(ours, "rt") and not table.rows_for(ours)
