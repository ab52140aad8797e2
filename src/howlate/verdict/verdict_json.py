"""A verdict for programs: the rows of `howlate verdict --json` and `show --json` (docs/commands.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.model.decode import members
from howlate.sides.gravity import anticipated
from howlate.verdict.extrapolate import Extrapolation
from howlate.verdict.promise_sentence import sentence
from howlate.verdict.row_statements import statements
from howlate.verdict.ruling import RateVerdict, StretchVerdict, Verdict
from howlate.words.say import english, to_json


def verdict_json(verdict: Verdict, others: Sequence[Verdict] = ()) -> dict[str, Any]:
    """One row for programs. `others`: on the other columns that are judged."""
    evidence, rate, stretch = verdict.evidence, verdict.rate, verdict.stretch
    return {
        "row": evidence.name,
        "column": evidence.column,
        "outcome": verdict.outcome,
        "sentence": english(sentence(verdict)),
        **members(verdict.question, "deadline_ns", "miss_rate", "confidence", "cluster"),
        "clock": "virtual" if evidence.virtual else "real",
        **members(evidence.deadline, "releases", "late", "unserved", "misses"),
        "misses_at_least": evidence.deadline.at_least,
        "skipped": evidence.deadline.skipped,
        "threshold_ns": evidence.threshold_ns,
        "valid": verdict.valid,
        **members(evidence, "max_ns", "gravity_ns"),
        "measured_s": evidence.seconds,
        "repetitions": evidence.repetitions,
        "rate": _rate_json(rate, exact=evidence.virtual),
        "stretch": _stretch_json(stretch, evidence.bound_ns if evidence.threshold_ns else evidence.most_ns),
        "extrapolation": None
        if verdict.extrapolation is None
        else _extrapolation_json(verdict.extrapolation),
        "needed_s": verdict.needed_s,
        "statements": [
            to_json(told)
            for told in (
                *statements(verdict),
                *anticipated([(evidence.name, evidence.gravity_ns, verdict.question.deadline_ns)]),
            )
        ],
        "cpus": _cpus_json(verdict),
        "columns": [
            {"column": one.evidence.column, "outcome": one.outcome, "max_ns": one.evidence.max_ns}
            for one in (verdict, *others)
        ],
    }


def _cpus_json(verdict: Verdict) -> list[dict[str, Any]]:
    counts = verdict.evidence.deadline.by_cpu
    return [
        {"cpu": int(cpu), "max_ns": verdict.evidence.max_of(cpu)}
        | ({} if (of := counts.get(cpu)) is None else {"releases": of.releases, "misses": of.misses})
        for cpu in verdict.evidence.cpus
    ]


def _rate_json(rate: RateVerdict, *, exact: bool) -> dict[str, Any]:
    return {
        "outcome": rate.outcome,
        "exact": exact,
        **members(rate, "upper", "lower", "theta"),
        "cpu": int(rate.cpu) if rate.cpu else None,
        **members(rate, "events", "events_per_h"),
        "forbidden_by": [to_json(statement) for statement in rate.forbids],
    }


def _stretch_json(stretch: StretchVerdict, max_ns: int | None) -> dict[str, Any]:
    return {
        "outcome": stretch.outcome,
        "bound_ns": max_ns if stretch.bound else None,
        **members(stretch, "confidence", "horizon_s", "blocks"),
        "forbidden_by": [to_json(statement) for statement in (*stretch.forbids, *stretch.rises)],
    }


def _extrapolation_json(extrapolation: Extrapolation) -> dict[str, Any]:
    if extrapolation.refused:
        return {"refused_by": [to_json(statement) for statement in extrapolation.refused]}
    modelled = ("share", "level_ns", "upper_ns", "confidence", "threshold_ns", "peaks", "shape")
    return {"refused_by": [], **members(extrapolation, *modelled)}
