"""What on a machine will make it late, and how to change it. ONE FILE in this folder = ONE CHECK.

A check is a pure function of captured facts, so it works for this machine, for remote ones and for old runs
alike. The folder is listed to find them; one that cannot be imported, or is not a check, is an error and
never skipped. How to write one: docs/how-to/add-a-check.md.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Mapping
from functools import cache

from msgspec.structs import replace

from howlate.model.cause import Cause
from howlate.model.facts import LEVELS, Aim, Facts, Finding
from howlate.settings import settings
from howlate.settings._check import Check
from howlate.settings._setting import MachineSetting
from howlate.settings.cpuset import ISOLATED


@cache
def checks() -> tuple[Check, ...]:
    """Every check of this folder, and of the settings, by name."""
    names = [f"{__name__}.{each.name}" for each in pkgutil.iter_modules(__path__) if each.name[0] != "_"]
    found = [Check.of(importlib.import_module(name)) for name in names]
    found += [setting.own_check for setting in settings().values() if setting.own_check is not None]
    return tuple(sorted(found, key=lambda check: check.name))


def checks_of(cause: Cause, name: str = "") -> frozenset[str]:
    """The names of the checks that look at a cause of late samples. `name`: of the task, interrupt or softirq that it
    was, if anybody knows."""
    judged = {setting.check for setting in settings().values() if _belongs(setting, cause, name)}
    return frozenset(judged | {check.name for check in checks() if _belongs(check, cause, name)})


def knobs_of(cause: Cause, name: str = "") -> tuple[str, ...]:
    """The settings to try against a cause, by the weight of their checks."""
    weights = {check.name: check.weight for check in checks()}
    found = [each for each in settings().values() if _belongs(each, cause, name) and not each.only_named]
    return tuple(each.name for each in sorted(found, key=lambda each: -weights[each.check]))


def _belongs(to: Check | MachineSetting, cause: Cause, name: str) -> bool:
    pattern = to.about.get(cause, "")
    return cause in to.causes and (not name or re.match(pattern, name) is not None)


def examine(facts: Facts, aim: Aim | None = None, *, here: bool = True) -> tuple[Finding, ...]:
    """The findings of all checks: first what makes the machine late, by weight, then notes, unknowns, and
    what is in order. Without an aim the measuring CPUs are the isolated ones, else the one where the probe
    would measure. `here`: see `Check.finding`."""
    wanted = aim if aim is not None else Aim(tuple(sorted(facts.cpus(ISOLATED) or ())))
    return _sorted(check.finding(facts, wanted, here=here) for check in checks())


def examine_guests(facts: Mapping[str, Facts], aim: Aim) -> tuple[Finding, ...]:
    """The findings about the lab's guests, by label: only the checks of their kernels; equal findings are
    merged and list their kernels."""
    about: dict[Finding, list[str]] = {}
    for label, its in facts.items():
        for check in checks():
            if check.in_guests:
                about.setdefault(check.finding(its, aim, in_lab=True), []).append(label)
    return _sorted(replace(finding, machines=tuple(labels)) for finding, labels in about.items())


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda found: (LEVELS.index(found.level), -found.weight, found.check)))
