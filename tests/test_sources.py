"""What no module of howlate does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import howlate

SOURCES = Path(howlate.__file__).parent


def nodes(files: str = "*.py") -> Iterator[tuple[str, ast.AST]]:
    """Each node of the syntax trees of these files, with its file."""
    for path in sorted(SOURCES.rglob(files)):
        for node in ast.walk(ast.parse(path.read_text())):
            yield str(path.relative_to(SOURCES)), node


def test_nothing_is_named_by_where_it_lies_in_memory() -> None:
    """An object that is copied, or freed, has another identity, and a new one may have its old one."""
    names = [(file, node) for file, node in nodes() if isinstance(node, ast.Name) and node.id == "id"]
    assert [(file, name.lineno) for file, name in names if isinstance(name.ctx, ast.Load)] == []


COMPUTE = (
    "numpy",
    "duckdb",
    "statistics",
    "howlate.statistics",
    "howlate.sides",
    "howlate.plan.cost",
    "howlate.store.summarise",
)
"""What computes, or knows samples."""
SENTENCES = {"must_be_one_clock", "threshold_statements", "title_of"}
"""Functions of these that say or refuse something, and compute nothing."""


def test_the_command_line_computes_nothing() -> None:
    """No module of a folder cli/ calls what computes: it passes options to rooms, and prints what they return. Names
    of constants, rules and types it may have."""
    imported = [
        (file, node.module or "", alias.name)
        for file, node in nodes("cli/**/*.py")
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    called = [
        (file, name) for file, module, name in imported if module.startswith(COMPUTE) and name[0].islower()
    ]
    assert [(file, name) for file, name in called if name not in SENTENCES] == []
    assert imported
