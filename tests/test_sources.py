"""What no module of howlate does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import howlate

SOURCES = Path(howlate.__file__).parent


def nodes(folder: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Each node of the syntax trees below a folder, with its file."""
    for path in sorted((SOURCES / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            yield str(path.relative_to(SOURCES)), node


def test_nothing_is_named_by_where_it_lies_in_memory() -> None:
    """An object that is copied, or freed, has another identity, and a new one may have its old one."""
    names = [(file, node) for file, node in nodes() if isinstance(node, ast.Name) and node.id == "id"]
    assert [(file, name.lineno) for file, name in names if isinstance(name.ctx, ast.Load)] == []
