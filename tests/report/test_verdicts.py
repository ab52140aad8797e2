"""The verdicts of several rows: everything that is said of one is said, and nothing that all share twice."""

from __future__ import annotations

from collections import Counter

import pytest

from howlate.analysis.promise import statements
from howlate.analysis.verdict import Question, Ruling, verdict
from howlate.report.document import Texts
from howlate.report.verdicts import items
from made_evidence import made_evidence, quiet


@pytest.mark.parametrize(
    ("deadline_ns", "horizon_s", "outcome"),
    [(200_000, 10, Ruling.INCONCLUSIVE), (6_000, None, Ruling.FAIL), (200_000, None, Ruling.PASS)],
)
def test_what_is_true_of_all_rows_is_said_once(
    deadline_ns: int, horizon_s: float | None, outcome: Ruling
) -> None:
    asked = Question(deadline_ns) if horizon_s is None else Question(deadline_ns, horizon_s=horizon_s)
    rows = [
        verdict(made_evidence(deadline_ns, quiet(seed=seed), name=f"row {seed}"), asked) for seed in (1, 2, 3)
    ]
    assert {row.outcome for row in rows} == {outcome}
    said = Counter(
        line for item in items(rows) if isinstance(item, Texts) and item.kind == "more" for line in item.texts
    )
    told = [set(statements(row)[1:]) for row in rows]
    common = set.intersection(*told)
    assert common
    assert all(said[line] == 1 for line in common)
    if outcome is not Ruling.PASS:
        assert set(said) == set.union(*told)
