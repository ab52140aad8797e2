"""A room imports what is below it, and howlate works without those that only add to it."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import stand_in
from howlate import rooms
from howlate.errors import UsageError
from howlate.published.load import references
from howlate.sides.printed_figures import find_document
from howlate.studies import studies
from howlate.system.paths import ROOT
from howlate.words.rooms import modules_of_results
from processes import completed

SOURCES = ROOT / "src" / "howlate"


def names_imported(path: Path) -> Iterator[str]:
    """Also where a function does it, or only for types. A name that is taken from a module stands behind it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def file_of(name: str) -> Path | None:
    place = SOURCES.parent.joinpath(*name.split("."))
    return next((f for f in (place.with_suffix(".py"), place / "__init__.py") if f.is_file()), None)


def files_imported(path: Path) -> set[Path]:
    found = (file_of(name) or file_of(name.rpartition(".")[0]) for name in names_imported(path))
    return {file for file in found if file is not None and SOURCES in file.parents}


def imported(path: Path) -> set[str]:
    """The rooms and loose modules that a file imports."""
    parts = (file.relative_to(SOURCES).parts[0] for file in files_imported(path))
    return {part.removesuffix(".py") for part in parts}


def order() -> list[str]:
    """The rooms of the core as docs/architecture.md has them, lowest first, and those on top."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("| room | what it holds |")[2].partition("\n\n")[0]
    return [*reversed(re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)), *rooms.ROOMS]


FOLDERS_OF_PLUGINS = {"imports/formats"}


def test_a_folder_is_small_enough_to_be_read() -> None:
    folders = [path.parent for path in SOURCES.rglob("__init__.py")]
    sizes = {str(folder.relative_to(SOURCES)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > 30}.keys() <= FOLDERS_OF_PLUGINS
    assert {path.stem for path in SOURCES.glob("*.py")} == {"__init__", "__main__", "errors", "rooms"}


def test_every_folder_is_a_room() -> None:
    assert {path.parent.name for path in SOURCES.glob("*/__init__.py")} == set(order())


LOWEST, *HIGHER = order()
ALL = ["rooms", LOWEST, "errors", *HIGHER, "__main__", "__init__"]
"""The loose modules among the rooms: `howlate.load` is above all, and nothing of howlate imports it."""


@pytest.mark.parametrize("room", ALL)
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    for path in sorted((SOURCES / room).rglob("*.py")) or [SOURCES / f"{room}.py"]:
        assert imported(path) <= {*ALL[: ALL.index(room) + 1]}, path


def test_no_files_import_each_other_in_a_circle() -> None:
    found = {path: files_imported(path) - {path} for path in SOURCES.rglob("*.py")}
    assert len([*TopologicalSorter(found).static_order()]) >= len(found) > 500
    assert not imported(SOURCES / "rooms.py")


def test_each_hook_is_asked_for_and_each_that_is_asked_for_is_there() -> None:
    asked = {
        node.args[0].value
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "hooks"
        and isinstance(node.args[0], ast.Constant)
    }
    there = {
        node.name if isinstance(node, ast.FunctionDef) else node.targets[0].id  # type: ignore[attr-defined]
        for path in SOURCES.glob("*/hooks.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.Assign)
    }
    assert asked == there and len(there) > 15


def test_what_a_room_says_of_results_is_translated() -> None:
    """Every module, but commands and the few that its hooks.py names, which are there."""
    translated = {module.__name__ for module in modules_of_results()}
    for name in ("verdict", "compare", "why", "prove", "history"):
        text = (SOURCES / name / "hooks.py").read_text(encoding="utf-8")
        named = re.findall(r'without="([^"]+)"', text)
        left_out = {f"howlate.{name}.{each}" for words in named for each in words.split()}
        inside = {
            ".".join(("howlate", *path.relative_to(SOURCES).with_suffix("").parts))
            for path in (SOURCES / name).rglob("*.py")
            if path.name not in ("__init__.py", "hooks.py")
            and not {"cli", "lab", "export"} & {*path.relative_to(SOURCES).parts}
        }
        assert left_out <= inside and inside - left_out <= translated


TYPED = """
import sys
from howlate.__main__ import main
print([int(main(words.split())) for words in sys.argv[1:]], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "room",
    [
        pytest.param(room, marks=[pytest.mark.sweep] * (room not in ("verdict", "lab")))
        for room in rooms.ROOMS
    ],
)
def test_a_run_is_measured_and_shown_without_a_room(room: str, tmp_path: Path) -> None:
    """And without those that import it: in a copy of the package that has no such folders."""
    gone = {room}
    for other in rooms.ROOMS:
        gone |= {other} if any(imported(path) & gone for path in (SOURCES / other).rglob("*.py")) else set()
    shutil.copytree(SOURCES, tmp_path / "howlate", ignore=shutil.ignore_patterns(*gone))
    kept = [path.name for path in (tmp_path / "howlate").iterdir() if path.is_dir()]
    assert {*kept} >= set(order()) - gone and not {*kept} & gone
    stand_in.put(tmp_path / "probe")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "HOWLATE_PROBE": str(tmp_path / "probe")}
    calls = {
        "check --duration 1 --no-wait --out run": 0,
        "show run --json": 0,
        "report run --lang de": 0,
        "report run --by load": 2 if "compare" in gone else 0,
        "check --duration 1 --no-wait --deadline 1h --out judged": 5 if "verdict" in gone else 0,
    }
    done = completed([sys.executable, "-P", "-c", TYPED, *calls], cwd=tmp_path, env=environment)
    codes = done.stderr.splitlines()[-1]
    assert codes == str([*calls.values()]), (calls, done.stderr)


def test_a_class_name_has_one_meaning() -> None:
    modules: dict[str, list[str]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules.setdefault(node.name, []).append(str(path.relative_to(SOURCES)))
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}


def test_no_call_has_ten_arguments_without_names_and_no_function_ten_parameters() -> None:
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert len(node.args) < 10, f"{path}:{node.lineno}"
            elif isinstance(node, ast.FunctionDef):
                arguments = node.args
                parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                assert len(parameters) < 10, f"{path}:{node.lineno}"


def test_no_code_outside_of_the_room_names_a_published_study() -> None:
    names = re.compile("|".join(references()))
    for path in sorted(SOURCES.rglob("*.py")):
        if path.relative_to(SOURCES).parts[0] != "published":
            assert not names.search(path.read_text(encoding="utf-8")), path


def test_a_rooms_plugins_are_found_beside_howlates_own() -> None:
    formats = rooms.plugins("howlate.store.export")
    assert formats["csv"] == "howlate.store.export.csv"
    assert formats["tut2017"] == "howlate.published.export.tut2017"
    assert list(formats) == sorted(formats)
    assert "tut_ini" in rooms.plugins("howlate.imports.formats")
    assert "reference" in rooms.plugins("howlate.cli")
    assert set(references()) < set(studies())


def test_without_the_room_howlate_has_less_and_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "ROOMS", tuple(room for room in rooms.ROOMS if room != "published"))
    assert "csv" in rooms.plugins("howlate.store.export")
    assert "tut2017" not in rooms.plugins("howlate.store.export")
    assert "check" in studies()
    assert not set(references()) & set(studies())
    assert rooms.hooks("layouts") == []
    with pytest.raises(UsageError, match='no published figures of "tut-2017"'):
        find_document("tut-2017")


def test_without_the_room_statements_are_said_in_every_language(tmp_path: Path) -> None:
    """In a copy of the package that has no such folder."""
    without = shutil.ignore_patterns("published", "__pycache__")
    shutil.copytree(SOURCES, tmp_path / "howlate", ignore=without)
    stored: list[dict[str, object]] = [
        {"rule": rule, "values": {}, "text": "English."} for rule in ("cell.no-sample", "as-published.gone")
    ]
    code = (
        "from howlate.words.language import speak; from howlate.words.say import from_json, say; "
        f"speak('de'); print(*(say(from_json(one)) for one in {stored}), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONUTF8": "1"},
        check=True,
    )
    german, *others = done.stdout.splitlines()
    assert "Messwert" in german and others == ["English."]
