"""run.json: what is written is read back; damage is a sentence."""

from __future__ import annotations

import pytest

from fakes import FACTS, capabilities, study
from howlate.errors import DamagedError
from howlate.model.run import Run
from howlate.plan import make_plan


def made() -> Run:
    one = study(order=study().order)
    return Run(
        id="20260102T030405-made",
        started="2026-01-02T03:04:05Z",
        study=one,
        plan=make_plan(one, capabilities(), {"kernel": "6.1"}),
        target="local",
        facts=FACTS,
        findings=({"check": "swap", "level": "late"},),
        knobs={"cpu_dma_latency": "0"},
        versions={"howlate": "0.1.0", "probe": "0.1.0"},
        changes={"activations": "100"},
        scale=0.5,
        stream_place="memory",
        warnings=("a sentence",),
    )


def test_a_run_survives_its_file() -> None:
    assert Run.from_text(made().to_text()) == made()


def test_keys_of_newer_versions_are_left_alone() -> None:
    assert Run.from_text(made().to_text().replace('"schema": 1,', '"schema": 1, "later": [1],', 1)) == made()


@pytest.mark.parametrize("length", [0, 1, 50, 500, 1500])
def test_a_cut_file_is_damaged(length: int) -> None:
    with pytest.raises(DamagedError, match=r"run\.json"):
        Run.from_text(made().to_text()[:length])


@pytest.mark.parametrize("text", ["[]", "{}", '{"schema": 9}', '{"schema": 1, "id": 5}', "[" * 100_000])
def test_a_foreign_file_is_damaged(text: str) -> None:
    with pytest.raises(DamagedError):
        Run.from_text(text)
