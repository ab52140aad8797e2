"""`show --json`: the summaries, and the document that the terminal shows of them."""

from __future__ import annotations

import json
from typing import Any

from howlate.document.document import to_json
from howlate.document.of_runs import ReportInput, document
from howlate.model.summary import SCHEMA
from howlate.rooms import hooks
from howlate.statistics.groups import groups_json
from howlate.statistics.ladder import ladder_of
from howlate.statistics.misses import deadlines_json
from howlate.statistics.threshold import thresholds_json
from howlate.words.language import english


def show_json(material: ReportInput, **more: Any) -> str:
    """As docs/commands.md has it, and the points with their repetitions as `groups`. `more`: further members."""
    summaries, run = material.summaries, material.runs[0].run
    with english():
        shown = to_json(document(material))
    value = {
        "schema": SCHEMA,
        "cells": [summary.to_json() for summary in summaries],
        **groups_json(summaries, run),
        **({"deadlines": deadlines} if (deadlines := deadlines_json(summaries)) else {}),
        **{name: value for members in hooks("json_members") for name, value in members(material).items()},
        **({"ladder": ladder.to_json()} if (ladder := ladder_of(material.runs[0])) is not None else {}),
        **({"exceeded": exceeded} if (exceeded := thresholds_json(summaries, run)) else {}),
        **more,
        "document": shown,
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
