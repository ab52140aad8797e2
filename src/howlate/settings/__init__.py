"""The settings of a machine that howlate can hold. ONE FILE in this folder = ONE SETTING, named as its knob of the
probe (probe/src/knobs), which reads and writes it.

A file says which facts show the setting, judges it as a check of the doctor, and names the values worth trying, what
keeps them for good, and the causes of lateness that it changes. The folder is listed to find them. How to write one:
docs/knobs.md, "Add a knob".
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from howlate.model.facts import Aim, Facts
from howlate.settings._setting import MachineSetting


@cache
def settings() -> Mapping[str, MachineSetting]:
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return {name: MachineSetting.of(importlib.import_module(f"{__name__}.{name}")) for name in sorted(names)}


def for_good(name: str, value: str, facts: Facts, aim: Aim) -> str:
    """What to write where so that a setting's value stays, in English; of a setting that is not known here, how to
    hold the value while something runs."""
    setting = settings().get(name)
    hold = f"howlate probe hold --knob {name}={value} in a service, which holds it for as long as it runs"
    return f"{name}={value}: {(setting.permanent_form(value, facts, aim) if setting else '') or hold}."
