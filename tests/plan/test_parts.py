"""Studies of several parts: decoding, what the parts share, changes, scale, cells."""

from typing import Any

import pytest

from fakes import LIST, make_plan, param
from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.decode import Table, parse_toml
from howlate.model.plan import Plan
from howlate.model.study import Study, decode_study
from howlate.plan.changes import apply_changes, parse_change, scale_study, scaled_words, with_shared
from howlate.plan.machines import on_machines
from howlate.plan.matrix import Machines
from sentences import values_of

SWITCH: dict[str, Any] = {
    "name": "switch",
    "params": [
        param("points", "count", "10000", scales=True),
        param("switches-per-point", "count", "1000"),
        param("cpus", "cpus"),
        param("policy", "text", "fifo:80"),
    ],
}
CAN = Capabilities.from_json({**LIST, "tests": [*LIST["tests"], SWITCH]})

TEXT = """
schema = 1
id = "two"
title = "two"
question = "?"
[settings]
policy = "fifo:70"
cpus = "1"
period = "2ms"
[published]
reference = "two-2010"
[lab]
kernels = ["6.1", "6.1-rt"]
[[part]]
id = "wake"
title = "How late"
test = "cyclic"
settings = { activations = 1000 }
axes = { load = ["none", "cpu:50"], timer = ["clock_nanosleep", "setitimer"] }
[[part.exclude]]
load = "cpu:50"
timer = "setitimer"
[[part]]
id = "switch"
test = "switch"
[part.settings]
policy = "fifo:80"
points = 500
"""


def decoded(text: str = TEXT) -> Study:
    return decode_study(parse_toml(text, "two.toml"))


def shared(text: str = TEXT) -> Study:
    return with_shared(decoded(text), CAN.takes)


def test_a_study_of_parts_survives_its_own_json() -> None:
    study = decoded()
    assert [part.id for part in study.parts] == ["wake", "switch"]
    assert (study.reference, study.kernels, study.parts[1].title) == ("two-2010", ("6.1", "6.1-rt"), "switch")
    assert Study.from_json(study.to_json(), "run.json") == study
    assert decode_study(Table(shared().to_json(), "run.json")) == shared()


@pytest.mark.parametrize(
    ("change", "values"),
    [
        (('id = "switch"', 'id = "wake"'), {"what": "part", "name": "wake"}),
        (('id = "switch"\ntest = "switch"', 'id = "switch"'), {"key": "test"}),
        (('id = "switch"', 'id = "order"'), {"key": "id", "given": '"order"'}),
        (('id = "switch"', 'id = "a b"'), {"key": "id", "given": '"a b"'}),
        # lands in [settings]: no test takes it
        (("[published]", 'test = "cyclic"\n[published]'), {"parameter": "test"}),
        (('question = "?"', 'question = "?"\ntest = "cyclic"'), {"file": "two.toml", "key": "test"}),
        (('question = "?"', 'question = "?"\naxes = {}'), {"file": "two.toml", "key": "axes"}),
        (("points = 500", 'points = 500\nkernel = "6.1"'), {"key": "kernel"}),
        (
            ('period = "2ms"', 'period = "2ms"\nkernel = "6.1"'),
            {"file": "two.toml, settings", "key": "kernel"},
        ),
        (("activations = 1000", 'activations = 1000, load = "none"'), {"key": "load"}),
        (('load = "cpu:50"\n', 'laod = "cpu:50"\n'), {"key": "laod", "name": "load"}),
        (('reference = "two-2010"', 'reference = "../x"'), {"key": "reference", "given": '"../x"'}),
        (('kernels = ["6.1", "6.1-rt"]', 'kernels = ["6.1", "6.1"]'), {"name": "6.1"}),
        (('kernels = ["6.1", "6.1-rt"]', "kernels = []"), {"key": "kernels", "given": "empty"}),
        (('kernels = ["6.1", "6.1-rt"]', 'kernel = ["6.1"]'), {"key": "kernel", "name": "kernels"}),
    ],
)
def test_bad_parts_are_refused_with_their_place(change: tuple[str, str], values: dict[str, str]) -> None:
    text = TEXT.replace(*change, 1)
    assert text != TEXT
    with pytest.raises(UsageError) as caught:
        make_plan(with_shared(decoded(text), CAN.takes), CAN)
    assert values.items() <= values_of(caught.value).items()
    assert caught.value.remedy


def test_an_empty_list_of_parts_is_no_study() -> None:
    with pytest.raises(UsageError) as caught:
        decoded('schema = 1\nid = "x"\ntitle = "x"\nquestion = "?"\npart = []')
    assert values_of(caught.value)["key"] == "part"


def test_kernels_stand_once() -> None:
    text = 'schema = 1\nid = "x"\ntitle = "x"\nquestion = "?"\ntest = "cyclic"\n'
    with pytest.raises(UsageError) as caught:
        decoded(text + '[axes]\nkernel = ["6.1"]\n[lab]\nkernels = ["6.1"]')
    assert values_of(caught.value)["key"] == "kernel"
    assert decoded(text + '[lab]\nkernels = ["6.1"]').kernels == ("6.1",)


def test_what_parts_share_goes_to_those_whose_test_takes_it_unless_they_say_otherwise() -> None:
    wake, switch = shared().parts
    assert wake.settings == {"policy": "fifo:70", "cpus": "1", "period": "2ms", "activations": "1000"}
    assert switch.settings == {"policy": "fifo:80", "cpus": "1", "points": "500"}


def test_cells_carry_their_part_and_begin_with_it() -> None:
    cells = make_plan(shared(), CAN).cells
    assert [(c.labels["part"], c.test) for c in cells] == [("wake", "cyclic")] * 3 + [("switch", "switch")]
    assert all(c.id.startswith(f"{c.labels['part']}-") for c in cells)
    assert len({c.id for c in cells}) == len(cells)


def test_the_same_matrix_in_two_parts_is_measured_for_each() -> None:
    text = TEXT.replace('id = "switch"\ntest = "switch"', 'id = "again"\ntest = "cyclic"').replace(
        "points = 500", "activations = 500"
    )
    assert "again" in text
    cells = make_plan(shared(text), CAN).cells
    assert len({c.id for c in cells}) == len(cells) == 4


def test_a_name_alone_changes_all_parts_that_have_it_and_with_a_part_that_part() -> None:
    study = apply_changes(shared(), [parse_change("cpus=0")], CAN.takes)
    assert [part.settings["cpus"] for part in study.parts] == ["0", "0"]
    study = apply_changes(
        shared(), [parse_change("switch.policy=rr:1"), parse_change("period=1ms")], CAN.takes
    )
    assert [part.settings["policy"] for part in study.parts] == ["fifo:70", "rr:1"]
    assert "period" not in study.parts[1].settings
    study = apply_changes(shared(), [parse_change("load=none")], CAN.takes)
    assert study.parts[0].axes["load"] == ("none",)
    assert study.parts[1].settings["load"] == "none"
    assert not study.parts[0].exclude
    assert apply_changes(shared(), [parse_change("order.repetitions=3")], CAN.takes).order.repetitions == 3


@pytest.mark.parametrize(
    ("change", "values"),
    [
        ("wakes.period=1ms", {"what": "part", "name": "wake"}),
        ("perod=1ms", {"parameter": "perod"}),
        ("kernel=6.1", {"name": "kernel", "study": "two"}),
        ("wake.kernel=6.1", {"name": "wake.kernel", "study": "two"}),
        ("switch.period=1ms", {"what": "parameter of switch"}),
        ("order.repetitions=0", {"file": "--set, order", "key": "repetitions", "given": "0"}),
        ("order.seed=x", {"file": "--set, order", "key": "seed", "given": "text"}),
        ("order.kind=1", {"file": "--set, order", "key": "kind", "given": '"1"'}),
        ("order.sed=1", {"file": "--set, order", "name": "seed"}),
    ],
)
def test_changes_that_mean_no_part_are_refused(change: str, values: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(apply_changes(shared(), [parse_change(change)], CAN.takes), CAN)
    assert values.items() <= values_of(caught.value).items()
    assert caught.value.remedy


def test_scale_multiplies_what_the_probe_says_is_a_count() -> None:
    counts = {test.name: test.counts for test in CAN.tests}
    assert counts["switch"] == {"points": "10000"}
    study = shared()
    after = study.each(lambda piece: scale_study(piece, 0.01, counts[piece.test]))
    assert [p.settings.get("activations") or p.settings["points"] for p in after.parts] == ["10", "5"]
    assert scaled_words(study.pieces()[1], after.pieces()[1]) == "points 5 for 500"


def test_kernels_of_the_lab_become_the_axis_of_every_part_and_a_machine_has_none() -> None:
    machines = Machines({"6.1": CAN, "6.1-rt": CAN}, {}, seeds=2)
    study = on_machines(shared(), tuple(machines.can))
    cells = make_plan(study, CAN, None, 100, machines).cells
    assert {c.machine for c in cells if c.labels["part"] == "switch"} == {"6.1", "6.1-rt"}
    assert Study.from_json(study.to_json(), "run.json") == study
    assert all(not c.machine for c in make_plan(on_machines(shared(), ("",)), CAN).cells)


def test_too_many_cells_are_counted_over_all_parts() -> None:
    with pytest.raises(UsageError, match="5 cells, more than 4"):
        make_plan(shared(), CAN, most=4)


def test_a_part_may_expect_that_its_load_starves() -> None:
    text = """schema = 1
id = "two"
title = "t"
question = "q"
[[part]]
id = "meant"
test = "cyclic"
starvation = "expected"
settings = {activations = 10}
[[part]]
id = "other"
test = "cyclic"
settings = {activations = 20}
"""
    study = decode_study(parse_toml(text, "two.toml"))
    assert Study.from_json(study.to_json(), "run.json") == study
    plan = make_plan(study, CAN)
    assert [cell.starvation_expected for cell in plan.cells] == [True, False]
    assert Plan.from_json(plan.to_json(), "run.json") == plan
    with pytest.raises(UsageError) as caught:
        decode_study(parse_toml(text.replace('"expected"', '"maybe"'), "two.toml"))
    assert {"key": "starvation", "given": '"maybe"'}.items() <= values_of(caught.value).items()
