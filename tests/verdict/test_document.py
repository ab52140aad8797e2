"""The verdicts of several rows: everything that is said of one is said, and nothing that all share twice."""

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from howlate.document.document import Folded, Item, Texts
from howlate.statistics.valid import DROPPED
from howlate.verdict.document import ALL_ROWS, INVALID_ROWS, JUDGED_ROWS, items
from howlate.verdict.promise_sentence import no_verdict
from howlate.verdict.row_statements import statements
from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.verdict import verdict
from howlate.words.say import Text, text_of
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
        line
        for item in unfolded(items(rows))
        if isinstance(item, Texts) and item.kind == "more"
        for line in item.texts
    )
    told = [set(statements(row)[1:]) for row in rows]
    common = set.intersection(*told)
    assert common
    assert all(said[line] == 1 for line in common)
    if outcome is not Ruling.PASS:
        assert set(said) == set.union(*told)


@pytest.mark.parametrize("invalid", [1, 2])
def test_what_all_rows_with_or_without_a_verdict_share_is_said_once_under_them(invalid: int) -> None:
    asked = Question(6_000)
    rows = [verdict(made_evidence(6_000, quiet(seed=seed)), asked) for seed in (1, 2)]
    rows += [
        verdict(made_evidence(6_000, quiet(seed=3 + i), failed_checks=(DROPPED(count=3),)), asked)
        for i in range(invalid)
    ]
    assert [no_verdict(row) for row in rows] == [False, False, *[True] * invalid]
    told = [set(statements(row)[1:]) for row in rows]
    of_all, of_ruled = set.intersection(*told), set.intersection(*told[:2])
    of_unruled = set.intersection(*told[2:]) if invalid > 1 else set()
    parts = list(under_headings(unfolded(items(rows))))
    lines = Counter(line for _, under in parts for line in under)
    assert set(lines) == set.union(*told)
    assert of_ruled - of_all
    assert all(lines[line] == 1 for line in of_ruled | of_unruled)
    assert not any(text_of(line).endswith(":") for line in lines)
    by_heading = dict(parts)
    assert set(by_heading[JUDGED_ROWS]) == of_ruled - of_all
    assert set(by_heading.get(INVALID_ROWS, ())) == of_unruled - of_all
    assert set(by_heading.get(ALL_ROWS, ())) == of_all


def unfolded(told: Iterable[Item]) -> Iterator[Item]:
    """The items, with what is folded among them."""
    for item in told:
        yield from item.items if isinstance(item, Folded) else (item,)


def under_headings(told: Iterable[Item]) -> Iterator[tuple[Text, tuple[Text, ...]]]:
    """Each heading, and what stands under it."""
    heading: Text = ""
    for item in told:
        if isinstance(item, Texts) and item.kind == "said":
            (heading,) = item.texts
        elif isinstance(item, Texts) and item.kind == "more":
            yield heading, tuple(item.texts)
