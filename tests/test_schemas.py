"""docs/schemas: made from the models, and true of the files of real runs."""

import copy
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from hostile.made import make_run
from house_tools import tool
from howlate.system.paths import probe_path
from processes import completed, environment

schemas = tool("schemas")

FOREIGN = Path(__file__).parent / "fixtures" / "imported"
FREE = {
    "run.json": ("facts", "machines.*", "knobs", "settings.*", "findings.values", "statements.values"),
    "summary.json": ("loads.results", "statements.values"),
    "cell.json": ("header", "trailer"),
    "bins.json": (),
    "checksums.json": (),
    "error.json": ("values",),
}
"""Members whose content is that of others: the probe's (docs/stream.md, docs/facts.md), a load's, a rule's values."""


@cache
def validator(file: str) -> Draft202012Validator:
    name = file.replace(".json", ".schema.json")
    schema = json.loads((schemas.PLACE / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def files_of(run: Path) -> Iterator[tuple[str, Any]]:
    """Every JSON file of a run folder, by its name."""
    for path in sorted(run.rglob("*.json")):
        yield path.name, json.loads(path.read_text(encoding="utf-8"))


def wrong_in(run: Path) -> list[str]:
    return [
        f"{name}: {'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        for name, value in files_of(run)
        for error in validator(name).iter_errors(value)
    ]


def howlate(place: Path, words: str, **variables: str) -> None:
    """The command with the real probe; a run of it may be late or not valid."""
    argv = [sys.executable, "-P", "-m", "howlate", *words.split()]
    done = completed(argv, cwd=place, env=environment(**{"HOWLATE_PROBE": str(probe_path()), **variables}))
    assert done.returncode in (0, 1, 4, 5), done.stderr


def failing(place: Path) -> dict[str, str]:
    """A probe that dies instead of measuring."""
    probe = place / "probe"
    probe.write_text(f'#!/bin/sh\n[ "$1" != cyclic ] || kill -9 $$\nexec {probe_path()} "$@"\n')
    probe.chmod(0o755)
    return {"HOWLATE_PROBE": str(probe)}


RUNS = {
    "check": ("check --duration 1 --no-wait --deadline 100us --out run", {"cell.json", "bins.json"}),
    "published": ("run tut-2017 --scale 0.0001 --set load=none --out run", {"cell.json", "bins.json"}),
    "histogram": (f"import {FOREIGN / 'timerlat-hist.txt'} --out run", {"cell.json", "bins.json"}),
    "samples": (f"import {FOREIGN / 'cyclictest-raw.txt'} --out run", {"cell.json", "bins.json"}),
    "failed": ("check --duration 1 --no-wait --out run", {"error.json"}),
}
"""By what they are: the command, and files that each of them has beside run.json. Of `failed` the probe dies."""


@pytest.mark.parametrize("kind", RUNS)
def test_a_real_run_is_as_the_schemas_say(tmp_path: Path, kind: str) -> None:
    words, files = RUNS[kind]
    howlate(tmp_path, words, **(failing(tmp_path) if kind == "failed" else {}))
    assert {"run.json", *files} <= {name for name, _ in files_of(tmp_path / "run")}
    assert wrong_in(tmp_path / "run") == []


@pytest.mark.long
def test_a_published_study_in_the_lab_is_as_the_schemas_say(tmp_path: Path) -> None:
    from lab.guests import warm_cache

    cached = warm_cache(tmp_path / "cache", "6.1")
    words = "lab run toshiba-2010 --kernels 6.1 --seeds 1 --scale 0.001 --set period=1ms --out run"
    howlate(tmp_path, words, HOWLATE_CACHE=str(cached))
    assert Counter(name for name, _ in files_of(tmp_path / "run"))["summary.json"] > 1
    assert wrong_in(tmp_path / "run") == []


def test_what_is_in_the_documentation_is_made_from_the_models() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in schemas.PLACE.glob("*.json")}
    made = {file.replace(".json", ".schema.json"): schemas.text_of(file) for file in schemas.MODELS}
    assert kept == made, "python tools/schemas.py"


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where each member is; of a list its first two entries."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*at, name)
            yield from places(member, (*at, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value[:2]):
            yield (*at, index)
            yield from places(entry, (*at, index))


def is_free(file: str, at: Sequence[str | int]) -> bool:
    """Whether it is below a member that the schema leaves to others."""
    names = [str(name) for name in at if not isinstance(name, int)]
    return any(
        len(names) > len(free) and all(f in ("*", n) for f, n in zip(free, names, strict=False))
        for free in (text.split(".") for text in FREE[file])
    )


def altered(value: Any, at: Sequence[str | int]) -> Any:
    """With something of another type in this place."""
    changed = copy.deepcopy(value)
    inner = changed
    for name in at[:-1]:
        inner = inner[name]
    was = inner[at[-1]]
    inner[at[-1]] = 7 if isinstance(was, (str, list, dict, bool)) else ["another"]
    return changed


def test_a_member_of_another_type_is_refused_wherever_it_is(tmp_path: Path) -> None:
    make_run(tmp_path / "run", ("traced", "late"), lab=True)
    howlate(tmp_path, RUNS["histogram"][0].replace("--out run", "--out imported"))
    howlate(tmp_path, RUNS["failed"][0].replace("--out run", "--out failed"), **failing(tmp_path))
    tried: Counter[str] = Counter()
    taken, kinds = set(), set()
    for run in ("run", "imported", "failed"):
        for file, value in files_of(tmp_path / run):
            assert validator(file).is_valid(value)
            for at in places(value):
                kind = (file, tuple("*" if isinstance(name, int) else name for name in at))
                if is_free(file, at) or kind in kinds:
                    continue
                kinds.add(kind)
                tried[file] += 1
                if validator(file).is_valid(altered(value, at)):
                    taken.add((file, ".".join(name for name in at if isinstance(name, str))))
    assert not taken and set(tried) == set(schemas.MODELS) and min(tried.values()) > 2
