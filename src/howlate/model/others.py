"""What others than the measurement took of the CPUs while a cell was measured, as the probe counted it
(docs/statistics.md, "Alone")."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.decode import Table, decoded
from howlate.model.ranges import Int64
from howlate.words.printable import printable


class OtherTask(Struct, frozen=True):
    """One of the largest."""

    name: str = ""
    pid: Int64 = 0
    cpu_ns: Int64 = 0
    cpu: Int64 = -1
    """Where it ran last; -1 where that is not known."""
    pinned: bool = False
    """It may use no other CPU."""
    kernel: bool = False
    children: bool = False
    """The time is that of children of this task that ended meanwhile."""


class Others(Struct, frozen=True):
    """CPU time of others, in a window from before the loads began until after they had ended."""

    window_ns: Int64 = 0
    user_ns: Int64 = 0
    measuring_ns: Int64 = 0
    """The part of `user_ns` on the measuring CPUs."""
    unseen_ns: Int64 = 0
    """The time of tasks that no account names."""
    kernel_ns: Int64 = 0
    """Of the kernel's own threads, which may have worked for the loads."""
    alone: bool = True
    expected: bool = False
    """Others are part of what is measured (`others = expected`)."""
    tasks: tuple[OtherTask, ...] = ()

    @property
    def disturbs(self) -> bool:
        """Whether the cell is marked: others took more than the limit, and nobody said that they would."""
        return not self.alone and not self.expected


def others_in(table: Table) -> Others | None:
    """The member `others` of a summary or a trailer; None where an older howlate did not look."""
    if table.values.get("others") is None:
        return None
    found = decoded(Others, table.values["others"], f"{table.file}, others", table.error)
    return replace(found, tasks=tuple(replace(task, name=printable(task.name)) for task in found.tasks))
