"""docs/doctor.md says what the checks say of themselves."""

from __future__ import annotations

from pathlib import Path

from howlate.doctor._page import page

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"


def test_the_page_is_in_step_with_the_checks() -> None:
    assert PAGE.read_text() == page(), "run `python -m howlate.doctor._page > docs/doctor.md`"
