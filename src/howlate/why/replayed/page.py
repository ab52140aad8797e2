"""The page of explained samples: their documents, and the flame graph of each latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from howlate.document.flame import flame_html
from howlate.document.html import page as html_page
from howlate.why.replayed.document import document
from howlate.why.replayed.explained import Explained
from howlate.why.replayed.pair import LatenessPair
from howlate.words.language import _
from howlate.words.quantities import time_text


def page(found: Sequence[Explained], pair: LatenessPair | None = None) -> str:
    """One self-contained file. It begins with the comparison if there is one."""
    drawn = [
        flame_html(
            each.lateness.stacks,
            f"{each.name}, {time_text(each.lateness.latency_ns)}",
            each.lateness.places,
        )
        for each in found
    ]
    shown = replace(document(found, pair), title=_("Why it was late"))
    return html_page(shown, drawn if pair is None else ["", *drawn], "flame")
