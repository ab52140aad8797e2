import re
from io import StringIO

from msgspec.structs import replace
from rich.console import Console

from howlate.document.document import Document
from howlate.document.document_terminal import print_document
from howlate.document.flame import boxes
from howlate.model.cause import Cause, CausePart, Lateness, Why
from howlate.why.explained_cells import CellCase
from howlate.why.late_cases import case_sections
from howlate.why.late_json import cell_json
from howlate.why.late_page import replayed_page
from howlate.why.late_parts import parts_sheet
from howlate.why.replayed.pair_document import LatenessPair, pair_section
from howlate.why.replayed.stacks import collapsed, speedscope
from why.test_replayed_pair import of_cell

WORK = ("work",)
LOCKED = ("work", "lock;it")
STACKS = ((WORK, 60), (LOCKED, 30), (("main",), 10))
SPANS = ((0, 40, WORK), (40, 70, LOCKED), (70, 90, WORK), (90, 100, ("main",)))
HELD = CausePart(
    Cause.NOT_PREEMPTIBLE,
    0,
    90,
    function="work",
    reasons=((Why.NO_KERNEL_PREEMPTION, 60), (Why.PREEMPTION_OFF, 30)),
)
PROGRAM = CausePart(Cause.RETURN, 90, 10, function="main")
LATENESS = Lateness(100, (HELD, PROGRAM), STACKS, SPANS, 100, 0)


def explained(name: str = "none", lateness: Lateness = LATENESS) -> CellCase:
    return of_cell(name, {"load": name}, lateness)


def document(*samples: CellCase) -> Document:
    return Document(case_sections([one.cell for one in samples], len(samples)))


def test_the_terminal_shows_the_parts_and_the_functions() -> None:
    out = StringIO()
    print_document(Console(file=out, width=100), document(explained()))
    text = " ".join(out.getvalue().split())
    assert "no load, release 3: 100 ns late" in text
    assert "(60 ns)" in text and "in work" in text
    assert "lock;it < work 0.030 0.030" in text


def test_parts_that_come_again_and_again_are_one_line_that_says_how_often() -> None:
    tick = CausePart(Cause.TIMER_IRQ, 0, 2, "asm_tick", function="tick")
    sheet = parts_sheet((*(HELD, tick) * 9, HELD, PROGRAM))
    assert [column.key for column in sheet.columns] == ["what", "count", "from", "took", "share"]
    held, interrupt, program, total = sheet.records()
    assert (held["count"], held["took"]) == ("10", "0.900") and "(300\u202fns)" in held["what"]
    assert (interrupt["count"], interrupt["took"], interrupt["share"]) == ("9", "0.018", "1.9")
    assert program["count"] == "1" and total["took"] == "0.928"
    assert [column.key for column in parts_sheet(LATENESS.parts).columns] == ["what", "from", "took", "share"]


def test_json_has_every_part_exactly() -> None:
    (sample,) = cell_json(explained().cell)["cases"]
    assert sum(part["ns"] for part in sample["parts"]) == sample["latency_ns"] == 100
    assert sample["parts"][0]["reasons"] == {"preemption off": 30, "no kernel preemption": 60}
    assert sample["functions"][0] == {"name": "work", "self_ns": 60, "inclusive_ns": 90, "stack": ["work"]}


def test_collapsed_stacks_have_all_of_the_time() -> None:
    assert collapsed([explained()]) == "work 60\nwork;lock:it 30\nmain 10\n"
    lines = collapsed([explained(), explained()]).splitlines()
    assert lines[0] == "none-1 release 3;work 60" and sum(int(line.split()[-1]) for line in lines) == 200


def test_speedscope_opens_and_closes_each_function_in_the_order_of_time() -> None:
    found = speedscope([explained()])
    names = [frame["name"] for frame in found["shared"]["frames"]]
    events = [(each["type"], names[each["frame"]], each["at"]) for each in found["profiles"][0]["events"]]
    assert events == [
        ("O", "work", 0), ("O", "lock;it", 40), ("C", "lock;it", 70), ("C", "work", 90), ("O", "main", 90),
        ("C", "main", 100),
    ]  # fmt: skip


def test_a_flame_graph_has_a_box_for_each_chain_as_wide_as_its_time() -> None:
    found = [
        (box.name, box.depth, round(box.from_share, 3), round(box.share, 3)) for box in boxes(STACKS, "all")
    ]
    assert found == [("all", 0, 0, 1), ("work", 1, 0, 0.9), ("main", 1, 0.9, 0.1), ("lock;it", 2, 0, 0.3)]


def test_the_page_needs_nothing_else() -> None:
    sample = explained("<none>")
    text = replayed_page(document(sample), [sample])
    assert text.count("<svg") == 1 and "&lt;none&gt;" in text and "<none>" not in text
    assert not re.search(r"""(src|href)=["']https?:""", text)


def test_what_the_page_explains_is_explained_on_the_page_of_why() -> None:
    one, other = explained("6.1"), explained("6.1-rt")
    shown = Document((pair_section(LatenessPair(one, other)), *document(one, other).sections))
    text = replayed_page(shown, [one, other])
    assert set(re.findall(r'href="docs/([^"#]*)', text)) == {"why.md"}


def test_lines_of_source_stand_beside_parts_and_functions_and_in_all_files() -> None:
    placed = replace(LATENESS, parts=(replace(HELD, place="mm/a.c:7"), PROGRAM), places={"work": "mm/a.c:9"})
    sample = explained(lateness=placed)
    out = StringIO()
    print_document(Console(file=out, width=100), document(sample))
    assert "mm/a.c:7" in out.getvalue() and "mm/a.c:9" in out.getvalue()
    (told,) = cell_json(sample.cell)["cases"]
    assert told["parts"][0]["place"] == "mm/a.c:7" and "place" not in told["parts"][1]
    assert told["functions"][0]["place"] == "mm/a.c:9"
    assert "<title>work (mm/a.c:9): " in replayed_page(document(sample), [sample])
    frames = speedscope([sample])["shared"]["frames"]
    assert frames[0] == {"name": "work", "file": "mm/a.c", "line": 9} and frames[1] == {"name": "lock;it"}
