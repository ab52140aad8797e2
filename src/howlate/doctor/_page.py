"""docs/doctor.md, made from the checks: `python -m howlate.doctor._page > docs/doctor.md`."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import textwrap

from howlate.doctor import checks
from howlate.doctor._check import granting
from howlate.model.facts import Facts

_HEAD = """\
# The doctor

`howlate doctor` says what on this machine will make it late, and how to change it. It reads facts
(`howlate-probe facts --json`, docs/facts.md) and changes nothing; every run stores its findings, so an old
run and a machine far away can be asked as well. `howlate doctor --restore` undoes knobs that a killed probe
left behind.

| level | meaning |
|---|---|
| late | plausibly makes this machine late, and can be changed |
| note | worth knowing when the numbers are read, or of little weight |
| unknown | could not be found out; the finding says which fact is missing and why |
| ok | looked at, and in order |

Findings come by level and then by weight (roughly: how much lateness is at stake). A finding is a
suspicion, not a measurement: change one thing, measure again, compare. Checks that hang on it know the
measuring CPUs, policy and priority: a run's own (without `cpus` the highest CPU that the caller may use, as
the probe chooses). `howlate doctor` alone takes the isolated CPUs, and where there are none that same one.

This page is made from the checks (`python -m howlate.doctor._page > docs/doctor.md`). N stands for what a
finding fills in.
"""


def _text(node: ast.expr | None) -> str:
    """A text of the source; what is put in when it runs reads N."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return granting(Facts({})) if isinstance(node.value, ast.Name) and node.value.id == "grant" else "N"
    return ""


def _changes(name: str) -> list[str]:
    """What a check may propose: the last argument of late, note and unknown, and what a name keeps for it."""
    tree = ast.parse(inspect.getsource(importlib.import_module(f"howlate.doctor.{name}")))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id in ("change", "_CHANGE", "_OFF"):
                found.append((node.lineno, _text(node.value)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            most = {"late": 2, "note": 2, "unknown": 3}.get(node.func.id)
            if most is not None and len(node.args) == most:
                found.append((node.lineno, _text(node.args[-1])))
    return list(dict.fromkeys(text for _, text in sorted(found) if text))


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for check in checks():
        parts.append(f"## {check.title} (`{check.name}`, weight {check.weight})\n")
        parts.append(textwrap.fill(f"Looks at: {check.looks_at}", 118) + "\n")
        parts.append(textwrap.fill(f"Why it matters: {check.why}", 118) + "\n")
        changes = [textwrap.fill(f"- {one}", 118, subsequent_indent="  ") for one in _changes(check.name)]
        parts.append("How to change it:\n\n" + "\n".join(changes) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
