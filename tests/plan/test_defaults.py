"""Settings below a study: what they fill in, what they leave alone, and what is told of them."""

import pytest

from fakes import LIST, answer, make_plan
from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.decode import parse_toml
from howlate.model.study import Study
from howlate.plan.defaults import (
    PROBE,
    defaults_text,
    probe_settings,
    questions_of,
    refuse_settings,
    with_settings,
)
from howlate.plan.settings import Settings, decode_settings
from howlate.system.paths import probe_path
from howlate.targets.local import LocalTarget
from sentences import values_of

CAN = Capabilities.from_json(LIST)
STUDY = Study("s", "S", "How late?", "cyclic", {"activations": "10"}, {"load": ("none", "cpu:50", "cpu")})


def settings(text: str, file: str = "mine.toml") -> Settings:
    return decode_settings(parse_toml(text, file))


def test_what_the_study_says_counts() -> None:
    below = settings('[cyclic]\nactivations = 99\nload = "cpu:1"\npolicy = "other"')
    found = with_settings(STUDY, below, CAN, {"activations": "10"})
    assert found.study.settings == {"policy": "other", "activations": "10"}
    assert found.study.axes == STUDY.axes
    assert found.settings["cyclic.policy"] == {"value": "other", "from": "mine.toml"}
    assert found.settings["cyclic.activations"] == {"value": "10", "from": "--set"}
    assert found.settings["cyclic.load"] == {"value": ["none", "cpu:50", "cpu"], "from": "the study"}
    assert found.settings["cyclic.period"] == {"value": "1ms", "from": "the probe"}


def test_a_default_that_stands_in_a_file_makes_no_other_cell() -> None:
    same = with_settings(STUDY, settings('[cyclic]\nperiod = "1000us"\ndither = false'), CAN, {}).study
    other = with_settings(STUDY, settings('[cyclic]\nperiod = "2ms"'), CAN, {}).study
    ids = [[cell.id for cell in make_plan(study, CAN).cells] for study in (STUDY, same, other)]
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])


def test_a_load_takes_what_the_study_does_not_say() -> None:
    text = "[loads.cpu]\ntarget = 7\nnice = 10"
    study = with_settings(STUDY, settings(text), CAN, {}).study
    assert study.axes["load"] == ("none", "cpu:50,nice=10", "cpu:7,nice=10")
    own = Study("s", "S", "?", "cyclic", {"activations": "1", "load": "cpu,nice=1+cpu:3"})
    assert with_settings(own, settings(text), CAN, {}).study.settings["load"] == "cpu:7,nice=1+cpu:3,nice=10"


@pytest.mark.parametrize(
    ("text", "values", "meant"),
    [
        ("[cyclik]\nperiod = 1", {"file": "mine.toml", "what": "table"}, "cyclic"),
        ("[cyclic]\nperoid = 1", {"file": "mine.toml, [cyclic]", "what": "parameter of cyclic"}, "period"),
        ('[cyclic]\nperiod = "1"', {"file": "mine.toml, [cyclic]"}, ""),
        ("[cyclic]\nstream = 1", {"what": "parameter of cyclic"}, ""),
        ("[loads.cpuu]\nnice = 1", {"file": "mine.toml, [loads]", "what": "load"}, "cpu"),
        ("[loads.cpu]\nnise = 1", {"file": "mine.toml, [loads.cpu]", "what": "option"}, "nice"),
        ('[loads.cpu]\ntarget = "much"', {"file": "mine.toml, [loads.cpu]"}, ""),
    ],
)
def test_a_name_or_a_value_that_the_probe_does_not_know_is_refused(
    text: str, values: dict[str, str], meant: str
) -> None:
    with pytest.raises(UsageError) as caught:
        questions = questions_of(settings(text), CAN)
        refuse_settings(questions, dict(zip(questions, answer(list(questions)), strict=True)))
    told = values_of(caught.value)
    assert values.items() <= told.items()
    assert meant in ("", told.get("name")) and caught.value.remedy


def test_every_default_of_the_probe_can_stand_in_a_file_and_changes_nothing() -> None:
    can = LocalTarget(probe_path()).capabilities()
    decoded = settings(defaults_text(can), PROBE)
    assert decoded == probe_settings(can)
    study = Study("s", "S", "?", "cyclic", {"activations": "1"}, {"load": ("none", "cpu:50")})
    assert with_settings(study, decoded, can, {}).study == study
    assert set(decoded.tests) == {test.name for test in can.tests}
