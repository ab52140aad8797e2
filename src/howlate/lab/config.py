"""A kernel's config, and which modes of preemption it has."""

from __future__ import annotations

from dataclasses import dataclass

from howlate.errors import NotPossibleError
from howlate.lab.label import Label
from howlate.model.kernel_config import Config


@dataclass(frozen=True)
class Modes:
    """How a kernel may be preempted: the mode it is built with, and those that `preempt=` chooses from."""

    built: str
    choices: tuple[str, ...]
    because: str
    """Why there are no others, by the config."""


def modes(config: Config, series: str) -> Modes:
    """The modes that `preempt=` has. A kernel that is given another one says so in its log only and goes on."""
    number = tuple(int(part) for part in series.split(".")[:2])
    rt = config.get("CONFIG_PREEMPT_RT") == "y"
    lazy = config.get("CONFIG_ARCH_HAS_PREEMPT_LAZY") == "y"
    built = _built(config)
    if config.get("CONFIG_PREEMPT_DYNAMIC") != "y":
        is_set = next((n for n in _BUILT if config.get(n) == "y"), "none of CONFIG_PREEMPT_*")
        return Modes(built, (), f"its config has no CONFIG_PREEMPT_DYNAMIC and it is built with {is_set}")
    choices: list[str] = []
    if not rt and not (lazy and number >= (7, 0)):
        choices += ["none", "voluntary"]
    choices.append("full")
    if lazy:
        choices.append("lazy")
    why = "its config has CONFIG_PREEMPT_DYNAMIC"
    if rt:
        why += " and CONFIG_PREEMPT_RT, which is never less than full or lazy"
    elif lazy and number >= (7, 0):
        why += " and CONFIG_ARCH_HAS_PREEMPT_LAZY, with which 7.0 and newer have full and lazy only"
    elif not lazy:
        why += " and no CONFIG_ARCH_HAS_PREEMPT_LAZY"
    return Modes(built, tuple(choices), why)


_BUILT = {
    "CONFIG_PREEMPT_RT": "rt",
    "CONFIG_PREEMPT_LAZY": "lazy",
    "CONFIG_PREEMPT": "full",
    "CONFIG_PREEMPT_VOLUNTARY": "voluntary",
    "CONFIG_PREEMPT_NONE": "none",
}


def _built(config: Config) -> str:
    """With CONFIG_PREEMPT_DYNAMIC what is built in is the choice of CONFIG_PREEMPT_*; before 5.15 spelt otherwise."""
    return next((mode for name, mode in _BUILT.items() if config.get(name) == "y"), "")


def check_parameters(label: Label, config: Config | None, version: str) -> None:
    """Refuses a mode of preemption that this kernel does not have, with the reason from its config.

    `version` is the kernel's own (uname -r); of a kernel of the user's own the label does not tell it.
    """
    for word in label.parameters:
        name, _, value = word.partition("=")
        if name != "preempt":
            continue
        if config is None:
            raise NotPossibleError(
                f"{label} cannot be: the config of {label.base} is not there, and whether it has {word} is not known",
                "leave the parameter out, or put the config beside the kernel",
            )
        have = modes(config, version)
        if value not in have.choices:
            choice = f"it has {', '.join(have.choices)}" if have.choices else "it has no choice of preemption"
            raise NotPossibleError(
                f"{label} cannot be: {choice}, because {have.because}",
                f"leave the parameter out{' or take one of these' if have.choices else ''}",
            )
