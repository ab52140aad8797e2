"""Boot parameters that a kernel does not know, by its own account.

A kernel hands every word of its command line that nobody in it knows to its first process: "name" as an argument,
"name=value" in the environment. It does not hand over a word with a dot, which may belong to a module that is loaded
later; such a word is in force if its file is in /sys/module. The guest reports both (facts `kernel.handed_to_init`
and `kernel.parameters_of_modules`). Some code in the kernel searches the command line by itself (`nokaslr`,
`spectre_v2=`), and the kernel hands the word over all the same: then the name is a string in the kernel's image, and
nothing can be said.

A parameter that names CPUs may be known and still be in force on none of them, or on some: a guest has fewer CPUs, or
the kernel keeps one for housekeeping. The kernel lists the CPUs of `isolcpus` and `nohz_full` in /sys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from howlate.errors import UsageError
from howlate.lab.cache import read_entry
from howlate.lab.kernels.image import plain_kernel
from howlate.lab.kernels.label import EARLY, FLAGS, Label
from howlate.lab.problems import UNUSABLE
from howlate.model.decode import nearest
from howlate.model.facts import format_cpus, parse_cpus
from howlate.settings.cpuset import ISOLATED, NOHZ_FULL

SETS_ASIDE: Mapping[str, str] = {"isolcpus": ISOLATED, "nohz_full": NOHZ_FULL}
"""Parameters that name CPUs, and the facts that list the CPUs on which they are in force."""
HANDED, OF_MODULES = "kernel.handed_to_init", "kernel.parameters_of_modules"
IMPLIED_BY_RT: Mapping[str, str] = {"threadirqs": "with PREEMPT_RT every interrupt handler runs in a thread"}
"""What a PREEMPT_RT kernel does without the parameter, which is compiled out of it."""
_SPELT = re.compile(rb"(?<=\0)([A-Za-z][A-Za-z0-9_.-]{1,39})=(?=\0)")


class ImageNames(Struct, frozen=True):
    """Names that a kernel's image contains."""

    parameters: frozenset[str]
    """Names that are spelt with "=" there, as parameters with a value are."""
    image: bytes

    @classmethod
    def of(cls, image: bytes) -> ImageNames:
        return cls(frozenset(name.decode() for name in _SPELT.findall(image)), image)

    def holds(self, name: str) -> bool:
        """Whether a string of the kernel is this name, or ends with it, because linkers share the ends of
        strings."""
        return name.encode() + b"\0" in self.image

    def nearest(self, name: str) -> str | None:
        """Another parameter that was probably meant; some kernels do not have all parameters of this list."""
        return nearest(name, sorted((self.parameters | FLAGS | EARLY) - {name}))


def check_in_force(label: Label, facts: Mapping[str, Any], vmlinuz: Path) -> tuple[str, ...]:
    """Refuse a parameter of `label` that the booted kernel did not know; return the parameters whose effect
    is unknown. `facts`: the values that the guest reported."""
    _check_cpus(label, facts)  # first: a kernel also hands over an isolcpus= that names none of its CPUs
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


def _check_cpus(label: Label, facts: Mapping[str, Any]) -> None:
    for word in label.parameters:
        fact, named = SETS_ASIDE.get(_name(word), ""), _set_aside(word)
        listed = parse_cpus(str(facts[fact])) if fact in facts else None
        if named is None or listed is None or named <= listed:
            continue
        cpus = format_cpus(named & listed) or "none"
        hint = "name CPUs that the guest has (--guest-cpus N); one must remain for everything else"
        reason = f"it is in force on CPUs {cpus} only in a guest of {label}"
        raise UsageError(UNUSABLE(what=word, reason=reason, hint=hint))


def _set_aside(word: str) -> frozenset[int] | None:
    """The CPUs of `nohz_full=1,2` or `isolcpus=domain,1,2`; None if they are written in another way, or if the
    flags leave the CPUs in the scheduler's domains."""
    pieces = word.partition("=")[2].split(",")
    flags = [piece for piece in pieces if piece[:1].isalpha()]
    if flags and "domain" not in flags:
        return None
    return parse_cpus(",".join(piece for piece in pieces if piece not in flags))


def _refusal(label: Label, word: str, known: ImageNames) -> UsageError:
    near = known.nearest(_name(word))
    hint = "leave it out"
    if label.rt and word in IMPLIED_BY_RT:
        hint = f"{IMPLIED_BY_RT[word]}: leave it out"
    elif near is not None:
        value = f"={word.partition('=')[2]}" if "=" in word else ("=..." if near not in FLAGS else "")
        hint = f'did you mean "{near}{value}"? Else leave it out'
    return UsageError(UNUSABLE(what=word, reason=f"the kernel of {label} does not have it", hint=hint))


def _name(word: str) -> str:
    return word.partition("=")[0]


@cache
def _known(vmlinuz: Path) -> ImageNames:
    return ImageNames.of(plain_kernel(read_entry(vmlinuz)))
