"""Where the activations of a cell are: in user space, or in the kernel.

A real-time core next to Linux has timers of both kinds, and their cells say which. Linux's own timers are all of user
space; their cells say so where they stand beside others, or where a study's document compares both kinds.
"""

from __future__ import annotations

from collections.abc import Mapping

from howlate.model.study import TIMER

MODE = "mode"
"""The label."""
USER, KERNEL_MODE = "user", "kernel"
MODES = (USER, KERNEL_MODE)


def with_mode(labels: Mapping[str, str]) -> dict[str, str]:
    """A cell's labels with its mode; those of a test without timers as they are."""
    return {**labels, **({MODE: labels.get(MODE, USER)} if TIMER in labels else {})}
