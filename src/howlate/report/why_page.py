"""The page of explained samples."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.analysis.explained import Explained
from howlate.report.html import page as html_page
from howlate.report.why import document


def page(found: Sequence[Explained]) -> str:
    """One self-contained file."""
    return html_page(document(found))
