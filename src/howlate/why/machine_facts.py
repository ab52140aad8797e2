"""What is known of the measuring machine besides the events that its kernel recorded."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class MachineFacts(Struct, frozen=True):
    """What is known of the machine besides the events."""

    is_virtual_time: bool = False
    """In the lab: nothing but the guest's instructions takes time."""
    is_guest: bool | None = None
    """Whether it is a guest of a hypervisor in real time; None if unknown."""
    preemption: str = ""
    """The kernel's model (model/preemption.py); "" if nobody knows."""
    idle_exit_ns: Mapping[int, int] = field(default_factory=dict)
    """How long leaving each idle state takes at most."""
    timer_slack_ns: int = 0
    """Of the measuring task, if it is an ordinary one."""
    round_ns: int = 0
    """A round of the turns in which a guest's CPUs execute in virtual time; 0 with one CPU and in real time."""
    instruction_ns: int = 1
    """What an instruction of a guest takes in virtual time."""
    smi: int | None = None
    """System management interrupts while the cell was measured; None if nobody knows."""
    may_clear_huge: bool = False
    """Whether a page fault of the measuring task may clear a huge page, on a machine whose events would show it."""

    @property
    def excludes_gaps(self) -> bool:
        """Whether neither hypervisor nor firmware can have had the CPU."""
        return self.is_virtual_time or (self.is_guest is False and self.smi == 0)
