import json
from io import StringIO

from msgspec.structs import replace
from rich.console import Console

from howlate.document.document import Document
from howlate.document.document_terminal import print_document
from howlate.why.late_cases import case_sections
from howlate.why.late_page import replayed_page
from howlate.why.replayed.pair_document import (
    ONLY_IN,
    LatenessPair,
    causes_sheet,
    functions_sheet,
    pair_json,
    pair_section,
)
from howlate.why.replayed.pair_document import PAIR as PAIR_LATE
from printed import statements_in
from why.test_replayed_pair import PAIR

BOTH = [PAIR.one, PAIR.other]


def document(pair: LatenessPair = PAIR) -> Document:
    cells = [pair.one.cell, pair.other.cell]
    return Document((pair_section(pair), *case_sections(cells, 2)))


def test_the_terminal_shows_both_beside_each_other_and_what_is_in_one_alone() -> None:
    assert statements_in(pair_section(PAIR)) == [
        PAIR_LATE(one="none", one_ns=100, other="rt", other_ns=37),
        ONLY_IN(name="none", functions=("free (80 ns)",)),
        ONLY_IN(name="rt", functions=("softirq (20 ns)",)),
    ]
    out = StringIO()
    print_document(Console(file=out, width=120, markup=False), document())
    text = " ".join(out.getvalue().split())
    assert "blocking thread 0.090 0.000 +0.090" in text
    assert "total 0.100 0.037 +0.063" in text


def test_the_columns_add_up_to_both_latencies_however_many_functions_are_shown() -> None:
    for most in (1, 2, 15):
        columns = {column.key: column for column in functions_sheet(PAIR, most).columns}
        for key, ns in (("self-one", 100), ("self-other", 37), ("self-more", 63)):
            assert sum(cell.value or 0 for cell in columns[key].cells) == ns
    *kinds, total = causes_sheet(PAIR).columns[1].cells
    assert sum(cell.value or 0 for cell in kinds) == total.value == 100


def test_a_kernel_without_a_function_of_its_own_is_told() -> None:
    *_, only = statements_in(pair_section(replace(PAIR, other=PAIR.one)))
    assert only == ONLY_IN(name="none", functions=("–",))


def test_the_page_has_a_flame_graph_for_each_behind_the_comparison() -> None:
    text = replayed_page(document(), BOTH)
    assert text.count("<svg") == 2 and text.index('id="why-pair"') < text.index("<svg")


def test_json_has_all_functions_of_both() -> None:
    compared = json.loads(json.dumps(pair_json(PAIR)))
    assert compared["latency_ns"] == {"one": 100, "other": 37, "difference": 63}
    assert [each["name"] for each in compared["functions"]] == ["free", "softirq", "work", "main"]
    assert compared["one"] == {"cell": "none-1", "thread": 0, "release": 3}
