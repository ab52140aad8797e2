"""Every message of howlate: its rules, and the sentences that are written where they arise (`Statement.of`, an error,
a table's `fail`), as the sources have them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import howlate
from howlate.errors import HowlateError
from howlate.words.statement import RULES, Rule

SOURCES = Path(howlate.__file__).parent
OWN = {"console"}
"""Arguments of an error that are no values of its sentence."""


def import_all() -> None:
    """Every module, so that its rules and errors are known."""
    for module in pkgutil.walk_packages(howlate.__path__, "howlate."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def kinds_of(error: type[HowlateError]) -> Iterator[str]:
    """The names of an error and of all that are derived from it."""
    yield error.__name__
    for kind in error.__subclasses__():
        yield from kinds_of(kind)


@cache
def errors() -> frozenset[str]:
    import_all()
    return frozenset(kinds_of(HowlateError))


def is_said(call: ast.Call) -> bool:
    """Whether a call writes a sentence: its first argument is a text."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    first = call.args[0] if call.args else None
    if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
        return False
    owner = getattr(getattr(call.func, "value", None), "id", "")
    return name in errors() or name == "fail" or (name == "of" and owner == "Statement")


def said_in(source: str, name: str) -> Iterator[tuple[Rule, frozenset[str]]]:
    """A rule for each sentence that is written where it arises, and the values that it is given."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and is_said(call):
            given = {word.arg: word.value for word in call.keywords if word.arg}
            remedy = ast.literal_eval(given.pop("remedy")) if "remedy" in given else ""
            text = ast.literal_eval(call.args[0])
            rule = Rule(f"{name}:{call.lineno}", text, remedy=remedy, module=name)
            yield rule, frozenset(given) - (OWN - rule.fields)


@cache
def in_place() -> tuple[tuple[Rule, frozenset[str]], ...]:
    """Those of all sources."""
    return tuple(
        each
        for path in sorted(SOURCES.rglob("*.py"))
        for each in said_in(
            path.read_text(encoding="utf-8"),
            ".".join(("howlate", *path.relative_to(SOURCES).with_suffix("").parts)),
        )
    )


@cache
def every_rule() -> tuple[Rule, ...]:
    """The rules, and a rule for each sentence in its place."""
    import_all()
    return (*RULES.values(), *(rule for rule, _ in in_place()))
