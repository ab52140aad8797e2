"""The verdicts of several rows: everything that is said of one is said, and nothing that all share twice."""

from __future__ import annotations

from collections import Counter

import pytest

from howlate.analysis.promise import no_verdict, statements
from howlate.analysis.valid import DROPPED
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


def test_a_row_without_a_verdict_has_nothing_said_twice_of_the_others() -> None:
    asked = Question(6_000)
    rows = [verdict(made_evidence(6_000, quiet(seed=seed)), asked) for seed in (1, 2)]
    rows.append(verdict(made_evidence(6_000, quiet(seed=3), failed_checks=(DROPPED(count=3),)), asked))
    assert [no_verdict(row) for row in rows] == [False, False, True]
    said = Counter(
        line for item in items(rows) if isinstance(item, Texts) and item.kind == "more" for line in item.texts
    )
    common = set(statements(rows[0])[1:]) & set(statements(rows[1])[1:])
    assert common and all(said[line] == 1 for line in common)
    assert set(said) == {line for row in rows for line in statements(row)[1:]}
