"""run.json: what is written is read back; damage is a sentence."""

import json

import pytest

from fakes import FACTS, capabilities, make_plan, study
from howlate.errors import DamagedError
from howlate.model.run import Run
from howlate.model.seal import CHECKSUM, sealed
from howlate.words.statement import Statement
from sentences import values_of


def made() -> Run:
    one = study(order=study().order)
    return Run(
        id="20260102T030405-made",
        started="2026-01-02T03:04:05Z",
        token="a1b2",
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
        warnings=(Statement.verbatim("a sentence"),),
    )


def test_a_run_survives_its_file() -> None:
    assert Run.from_text(made().to_text()) == made()


def test_keys_of_newer_versions_are_left_alone() -> None:
    assert Run.from_text(json.dumps(sealed({**made().to_json(), "later": [1]}))) == made()


@pytest.mark.parametrize(
    ("was", "is_now"),
    [('"6.1"', '"6.1-rt"'), ('"scale": 0.5', '"scale": 1.5'), ('"a sentence"', '"another one"')],
)
def test_what_was_changed_by_hand_is_damaged(was: str, is_now: str) -> None:
    text = made().to_text()
    assert was in text
    with pytest.raises(DamagedError, match=r"run\.json.*was changed after howlate wrote it"):
        Run.from_text(text.replace(was, is_now, 1))
    with pytest.raises(DamagedError, match="was changed after howlate wrote it"):
        Run.from_text(text.replace('"schema": 1,', '"schema": 1, "added": 1,', 1))


def test_a_run_laid_out_anew_is_the_same() -> None:
    value = json.loads(made().to_text())
    anew = json.dumps({name: value[name] for name in sorted(value)}, ensure_ascii=True)
    assert Run.from_text(anew) == made()


def test_a_run_of_an_older_howlate_has_no_checksum() -> None:
    value = json.loads(made().to_text())
    assert value.pop(CHECKSUM).startswith("blake2b-256:")
    value["target"] = "elsewhere"
    assert Run.from_text(json.dumps(value)).target == "elsewhere"


@pytest.mark.parametrize("length", [0, 1, 50, 500, 1500])
def test_a_cut_file_is_damaged(length: int) -> None:
    with pytest.raises(DamagedError, match=r"run\.json"):
        Run.from_text(made().to_text()[:length])


@pytest.mark.parametrize("text", ["[]", "{}", '{"schema": 9}', '{"schema": 1, "id": 5}', "[" * 100_000])
def test_a_foreign_file_is_damaged(text: str) -> None:
    with pytest.raises(DamagedError):
        Run.from_text(text)


@pytest.mark.parametrize("started", ["2026-11-27T01:33:20Zx", "9999-99-99T00:00:00Z", "2026-11-27T01:33Z"])
def test_a_time_that_is_none_is_damaged(started: str) -> None:
    text = json.dumps(sealed({**made().to_json(), "started": started}))
    with pytest.raises(DamagedError) as caught:
        Run.from_text(text)
    assert {"file": "run.json", "key": "started"}.items() <= values_of(caught.value).items()
