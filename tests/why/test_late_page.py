"""The page of `howlate why`: as large as a page may be, whatever the run."""

import pytest
from msgspec.structs import replace

from howlate.document import html
from howlate.document.document import Document
from howlate.document.report_input import JOINED
from howlate.model.loaded import RunContent
from howlate.why.explained_cells import explained_cells
from howlate.why.late_cases import case_sections, causes_section
from howlate.why.late_page import FEWER_CASES, page
from howlate.words.say import say
from made_runs import five_cells, made_run
from made_trace import late_samples


@pytest.fixture(scope="module")
def traced() -> RunContent:
    run = made_run(five_cells(2_000))
    return replace(run, cells=[replace(cell, trace=late_samples(12)) for cell in run.cells])


def of(content: RunContent, worst: int) -> str:
    cells = explained_cells(content)
    shown = Document((*causes_section(cells, ()), *case_sections(cells, worst)))
    return page(content, cells, shown, "runs/a")


def cases_on(text: str) -> int:
    return text.count(">Where the time went")


def test_everything_is_on_it_where_there_is_room(traced: RunContent) -> None:
    text = of(traced, 40)
    assert cases_on(text) == 40 and not any(
        say(FEWER_CASES(cases=40, listed=listed)) in text for listed in range(40)
    )
    assert text.count('id="course-') >= 5
    assert "howlate why --all runs/a " in text
    assert "howlate why --all --" not in text


def test_a_page_without_room_has_coarser_courses_then_fewer_samples_and_says_so(
    traced: RunContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def size_of(worst: int, has_courses: bool) -> int:
        cells = [replace(cell, bins=cell.bins if has_courses else None) for cell in traced.cells]
        return len(of(replace(traced, cells=cells), worst).encode())

    monkeypatch.setattr(html, "LARGEST", (size_of(40, True) + size_of(40, False)) // 2)
    text = of(traced, 40)
    assert len(text.encode()) < html.LARGEST and cases_on(text) == 40
    assert any(say(JOINED(joined=joined)) in text for joined in range(2, 100))
    monkeypatch.setattr(html, "LARGEST", size_of(35, False))
    text = of(traced, 40)
    assert len(text.encode()) < html.LARGEST
    assert 8 <= cases_on(text) < 40 and say(FEWER_CASES(cases=40, listed=cases_on(text))) in text
