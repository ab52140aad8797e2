"""A kernel's config, and its modes of preemption."""

from __future__ import annotations

from msgspec import Struct

from howlate.errors import UnfitKernelError
from howlate.lab.kernels.label import Label
from howlate.lab.problems import UNUSABLE
from howlate.model.kernel_config import Config

LEAVE_OUT = "leave out the parameter"


class Modes(Struct, frozen=True):
    """The preemption modes of a kernel: the built-in one, and those that `preempt=` selects."""

    built: str
    choices: tuple[str, ...]
    because: str
    """Why there are no others, according to the config."""


def modes(config: Config, series: str) -> Modes:
    """The modes that `preempt=` accepts. A kernel that gets another one only logs that and continues."""
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
    """With CONFIG_PREEMPT_DYNAMIC the built-in mode is the choice of CONFIG_PREEMPT_*; before 5.15 the
    spelling differs."""
    return next((mode for name, mode in _BUILT.items() if config.get(name) == "y"), "")


def check_parameters(label: Label, config: Config | None, version: str) -> None:
    """Refuse a mode of preemption that this kernel does not have, with the reason from its config.

    `version` is the kernel's own (uname -r), because the label of a user's own kernel does not contain it.
    """
    for word in label.parameters:
        name, _, value = word.partition("=")
        if name != "preempt":
            continue
        if config is None:
            reason = f"without a config it is unknown whether the kernel has {word}"
            hint = f"{LEAVE_OUT}, or put the config into the kernel's folder"
            raise UnfitKernelError(UNUSABLE(what=label, reason=reason, hint=hint))
        have = modes(config, version)
        if value not in have.choices:
            choices = ", ".join(have.choices) or "no choice of preemption"
            reason = f"it has {choices}, because {have.because}"
            raise UnfitKernelError(UNUSABLE(what=label, reason=reason, hint=LEAVE_OUT))
