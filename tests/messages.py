"""Every message of howlate, as the sources have them: those with an id, and those written where they arise
(`statement_of`, an error, a table's `fail`)."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import howlate
from howlate.errors import HowlateError
from howlate.words.statement import MESSAGES, Message

SOURCES = Path(howlate.__file__).parent
OWN = {"console"}
"""Arguments of an error that are no values of its sentence."""
LEVELS = frozenset({"late", "note", "ok", "unknown"})
"""The functions that a check writes its finding with (settings/_check.py)."""


def import_all() -> None:
    """Every module, so that its messages and errors are known."""
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
    return name in errors() or name in ("fail", "statement_of")


def said_in(source: str, name: str) -> Iterator[tuple[Message, frozenset[str]]]:
    """A message for each sentence that is written where it arises, and the values that it is given."""
    if not any(f"{word}(" in source for word in (*errors(), "fail", "Statement.of")):
        return
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and is_said(call):
            given = {word.arg: word.value for word in call.keywords if word.arg}
            remedy = ast.literal_eval(given.pop("remedy")) if "remedy" in given else ""
            text = ast.literal_eval(call.args[0])
            message = Message(f"{name}:{call.lineno}", text, remedy=remedy, module=name)
            yield message, frozenset(given) - (OWN - message.fields)


def findings_in(source: str, name: str) -> Iterator[tuple[Message, frozenset[str]]]:
    """The same for each finding that a check writes where it arises; a plain value ("10 %", "PREEMPT_RT") is no
    sentence, but may have a remedy."""
    constants = vars(importlib.import_module(name))
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: call.lineno):
        levels = LEVELS & {part.id for part in ast.walk(call.func) if isinstance(part, ast.Name)}
        if not levels:
            continue
        first, *others = [literals(part, constants) for part in call.args]
        text = next((text for text in first if "{" in text or " " in text), "")
        remedies = others[-1] if others and levels != {"unknown"} else [*others[1:], [""]][0]
        messages = [
            Message(f"{name}:{call.lineno}", "" if number else text, remedy=remedy, module=name)
            for number, remedy in enumerate(remedies or [""])
        ]
        given = {word.arg for word in call.keywords} - {"weight", "hold"}
        fits = (
            None in given
            or levels == {"unknown"}
            or given == {name for message in messages for name in message.fields}
        )
        for message in messages:
            yield message, message.fields if fits else frozenset(filter(None, given))


def literals(node: ast.expr, constants: dict[str, Any]) -> list[str]:
    """The texts that an argument may be, of constants and literals; none of other values."""
    if isinstance(node, ast.IfExp):
        return literals(node.body, constants) + literals(node.orelse, constants)
    try:
        text = eval(compile(ast.Expression(node), "", "eval"), dict(constants))
    except (NameError, TypeError):
        return []
    return [text] if isinstance(text, str) else []


@cache
def in_place() -> tuple[tuple[Message, frozenset[str]], ...]:
    """Those of all sources."""
    return tuple(each for path in sorted(SOURCES.rglob("*.py")) for each in in_file(path))


def in_file(path: Path) -> Iterator[tuple[Message, frozenset[str]]]:
    source = path.read_text(encoding="utf-8")
    name = ".".join(("howlate", *path.relative_to(SOURCES).with_suffix("").parts))
    yield from said_in(source, name)
    if path.parent.name in ("doctor", "settings"):
        yield from findings_in(source, name)


@cache
def every_message() -> tuple[Message, ...]:
    """The messages, and a message for each sentence in its place."""
    import_all()
    return (*MESSAGES.values(), *(message for message, _ in in_place()))
