"""What no module of howlate does."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import howlate
from howlate import rooms

SOURCES = Path(howlate.__file__).parent


def nodes(files: Iterable[str]) -> Iterator[tuple[str, ast.AST]]:
    """Each node of the syntax trees of these files, with its file."""
    for file in sorted(files):
        for node in ast.walk(ast.parse((SOURCES / file).read_text())):
            yield file, node


def test_nothing_is_named_by_where_it_lies_in_memory() -> None:
    """An object that is copied, or freed, has another identity, and a new one may have its old one."""
    paths = [path for path in SOURCES.rglob("*.py") if re.search(r"\bid\b", path.read_text())]
    files = [str(path.relative_to(SOURCES)) for path in paths]
    names = [(file, node) for file, node in nodes(files) if isinstance(node, ast.Name) and node.id == "id"]
    assert [(file, name.lineno) for file, name in names if isinstance(name.ctx, ast.Load)] == []


COMPUTE = (
    "numpy",
    "duckdb",
    "statistics",
    "howlate.statistics",
    "howlate.sides",
    "howlate.plan.cost",
    "howlate.replay",
    "howlate.store.summarise",
    "howlate.measure.execute",
    "howlate.prove.flow.prove",
    "howlate.prove.landscape",
    "howlate.prove.searched.Prober",
)
"""What computes, measures, or knows samples."""
SENTENCES = {"must_be_one_clock", "threshold_statements", "title_of"}
"""Functions of these that say or refuse something, and compute nothing."""
TELLS = {"cli/_progress.py"}
"""Measures, and tells how far it is."""


def commands() -> set[str]:
    """The files of the command line: those of folders whose files are commands, in the core and in each room."""
    return {
        str(path.relative_to(SOURCES))
        for package in ("howlate.cli", "howlate.lab.cli.lab")
        for folder in rooms.folders(package).values()
        for path in folder.rglob("*.py")
    }


def test_a_command_computes_and_measures_nothing() -> None:
    """It passes options to rooms, and prints what they return. Names of constants, rules and types it may have, but
    no type that has work to do."""
    files = commands()
    assert {"cli/check.py", "why/cli/why.py", "lab/cli/lab/run.py", "prove/lab/bisect.py"} <= files
    imported = [
        (file, f"{node.module}.{alias.name}")
        for file, node in nodes(files)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    called = {
        (file, name)
        for file, name in imported
        if name.startswith(COMPUTE) and (name.rpartition(".")[2][0].islower() or "Prober" in name)
    }
    assert {(f, n) for f, n in called if n.rpartition(".")[2] not in SENTENCES and f not in TELLS} == set()


def test_a_command_keeps_no_state_of_its_own() -> None:
    """A class beside a command holds options: it opens no target and measures no cell."""
    methods = [
        (file, name.id)
        for file, node in nodes(commands())
        if isinstance(node, ast.ClassDef)
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and name.id in {"open_lab", "open_target", "begin", "execute_cells"}
    ]
    assert methods == []
