"""A summary that does not follow from the samples is named, whatever its checksums say."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hostile.alter import reseal
from howlate import __version__
from howlate.store.run_folder import RunFolder
from howlate.store.verified import differences
from made_evidence import quiet
from model.test_ranges import numbers
from store.runs import a_folder, a_run
from store.streams import header, stream


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    changes = {"parameters": header()["parameters"] | {"deadline": "1ms"}}
    data = stream([int(value) for value in quiet(2_000)], header_changes=changes)
    return a_folder(tmp_path_factory.mktemp("runs") / "run", {"none": data}, run=a_run("none"))


def set_member(path: Path, place: tuple[Any, ...], new: Any) -> None:
    value = json.loads(path.read_text())
    part = value
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = new
    path.write_text(json.dumps(value))
    reseal(path.parent)


def verified(folder: RunFolder, version: str = __version__) -> list[str]:
    run = folder.read_run()
    return differences(folder, replace(run, versions={"howlate": version}), "none")


@pytest.mark.parametrize("version", [__version__, "0.0.1", ""])
def test_every_figure_that_a_forger_sets_is_named(folder: RunFolder, version: str) -> None:
    """Also by one who lets run.json say that another howlate computed it."""
    assert verified(folder) == verified(folder, version) == []
    path = folder.cell_path("none") / "summary.json"
    before = path.read_text()
    value = json.loads(before)
    places = [place for place in numbers(value, int | float) if place != ("repetition",)]
    assert len(places) > 20
    for place in places[:: max(1, len(places) // 12)]:
        held = value
        for key in place:
            held = held[key]
        path.write_text(before)
        set_member(path, place, held + 1)
        named = [str(key) for key in itertools.takewhile(lambda key: isinstance(key, str), place)]
        said = verified(folder, version)
        assert len(said) == 1 and (
            ".".join(named) in said[0] or "contradicts itself" in said[0] or "expected" in said[0]
        ), (
            place,
            said,
        )
    path.write_text(before)
    set_member(path, ("columns", "latency_ns", "mean"), value["columns"]["latency_ns"]["mean"] * (1 + 1e-12))
    assert verified(folder) == []
    path.write_text(before)
    reseal(path.parent)


def test_of_another_howlate_sentences_and_new_members_are_left_out(folder: RunFolder) -> None:
    path = folder.cell_path("none") / "summary.json"
    before = path.read_text()
    for place, new in ((("warnings",), ["worded otherwise"]), (("of_a_later_one",), 1)):
        path.write_text(before)
        set_member(path, place, new)
        assert verified(folder) and not verified(folder, "0.0.1"), place
    path.write_text(before)
    reseal(path.parent)


@pytest.mark.parametrize("version", [__version__, "0.0.1"])
def test_pictures_are_compared_too(folder: RunFolder, version: str) -> None:
    path = folder.cell_path("none") / "bins.json"
    before = path.read_text()
    value = json.loads(before)
    counts = value["histogram"]["counts"]
    set_member(path, ("histogram", "counts"), [counts[0] + 1, *counts[1:]])
    (contradiction,) = verified(folder, version)
    assert contradiction.startswith("bins.json ") and contradiction.endswith(": histogram.counts")
    path.write_text(before)
    reseal(path.parent)


def test_labels_that_are_not_the_plans_are_named(folder: RunFolder) -> None:
    path = folder.cell_path("none") / "summary.json"
    before = path.read_text()
    set_member(path, ("labels", "load"), "another")
    (contradiction,) = verified(folder)
    assert contradiction.startswith("summary.json ") and contradiction.endswith(": load")
    path.write_text(before)
    reseal(path.parent)
    assert verified(folder) == []
