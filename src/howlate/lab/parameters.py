"""Boot parameters that a kernel does not know, by its own account.

A kernel hands every word of its command line that nobody in it knows to its first process: "name" as an argument,
"name=value" in the environment. It does not hand over a word with a dot, which may belong to a module that is loaded
later; such a word is in force if its file is in /sys/module. The guest reports both (facts `kernel.handed_to_init`
and `kernel.parameters_of_modules`). Some code in the kernel searches the command line by itself (`nokaslr`,
`spectre_v2=`), and the kernel hands the word over all the same: then the name is a string in the kernel's image, and
nothing can be said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from howlate.errors import UsageError
from howlate.lab.image import plain_kernel
from howlate.lab.label import EARLY, FLAGS, Label
from howlate.model.decode import nearest

HANDED, OF_MODULES = "kernel.handed_to_init", "kernel.parameters_of_modules"
NOT_CHECKED = "lab.parameters_not_checked"
"""The fact that `check_in_force` returns, as words."""
IMPLIED_BY_RT: Mapping[str, str] = {"threadirqs": "with PREEMPT_RT every interrupt handler runs in a thread"}
"""What a PREEMPT_RT kernel does without the parameter, which is compiled out of it."""
_SPELT = re.compile(rb"(?<=\0)([A-Za-z][A-Za-z0-9_.-]{1,39})=(?=\0)")


@dataclass(frozen=True)
class Known:
    """Names that a kernel's image holds."""

    parameters: frozenset[str]
    """Spelt with "=" there, as parameters with a value are."""
    image: bytes = field(repr=False)

    @classmethod
    def of(cls, image: bytes) -> Known:
        """By the strings of an unpacked kernel."""
        return cls(frozenset(name.decode() for name in _SPELT.findall(image)), image)

    def holds(self, name: str) -> bool:
        """Whether a string of the kernel is this name, or ends with it: linkers share the ends of strings."""
        return name.encode() + b"\0" in self.image

    def nearest(self, name: str) -> str | None:
        """Another parameter that was probably meant; some kernels do not have all that this list holds."""
        return nearest(name, sorted((self.parameters | FLAGS | EARLY) - {name}))


def check_in_force(label: Label, facts: Mapping[str, Any], vmlinuz: Path) -> tuple[str, ...]:
    """Refuses a parameter of `label` that the booted kernel did not know; returns the parameters of which nothing
    can be said. `facts`: the values that the guest reported."""
    handed = str(facts.get(HANDED) or "").split()
    unknown = [word for word in label.parameters if word in handed]
    if unknown:
        known = _known(vmlinuz)
        for word in unknown:
            if not known.holds(_name(word)):
                raise _refusal(label, word, known)
    in_force = set(str(facts.get(OF_MODULES) or "").split())
    dotted = [word for word in label.parameters if "." in _name(word) and word not in in_force]
    return tuple(word for word in label.parameters if word in unknown or word in dotted)


def not_checked(label: str, words: str) -> str:
    """The warning about parameters of which nothing can be said."""
    listed = ", ".join(words.split())
    return (
        f"{label}: whether {listed} is in force is not known: the kernel reports neither that it knows it nor that "
        "it does not (a parameter of a module counts only where the module is built in)"
    )


def _refusal(label: Label, word: str, known: Known) -> UsageError:
    near = known.nearest(_name(word))
    meant = ""
    if label.rt and word in IMPLIED_BY_RT:
        meant = f"{IMPLIED_BY_RT[word]}: "
    elif near is not None:
        value = f"={word.partition('=')[2]}" if "=" in word else ("=..." if near not in FLAGS else "")
        meant = f'did you mean "{near}{value}"? Else '
    return UsageError(
        f"the kernel of {label} does not know the parameter {word}, so it would be measured without it",
        f"{meant}leave it out",
    )


def _name(word: str) -> str:
    return word.partition("=")[0]


@cache
def _known(vmlinuz: Path) -> Known:
    return Known.of(plain_kernel(vmlinuz.read_bytes()))
