"""What others than the measurement took of the CPUs while a cell was measured, as the probe counted it
(docs/statistics.md, "Alone")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from howlate.model.decode import Table


@dataclass(frozen=True)
class OtherTask:
    """One of the largest."""

    name: str
    pid: int
    cpu_ns: int
    cpu: int
    """Where it ran last; -1 where that is not known."""
    pinned: bool
    """It may use no other CPU."""
    kernel: bool
    children: bool
    """The time is that of children of this task that ended meanwhile."""


@dataclass(frozen=True)
class Others:
    """CPU time of others, in a window from before the loads began until after they had ended."""

    window_ns: int
    user_ns: int
    measuring_ns: int
    """The part of `user_ns` on the measuring CPUs."""
    unseen_ns: int
    """Of tasks that no account names."""
    kernel_ns: int
    """Of the kernel's own threads, which may have worked for the loads."""
    alone: bool
    expected: bool
    """Others are part of what is measured (`others = expected`)."""
    tasks: tuple[OtherTask, ...] = ()

    @property
    def disturbs(self) -> bool:
        """Whether the cell is marked: others took more than the limit, and nobody said that they would."""
        return not self.alone and not self.expected

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "tasks": [dict(vars(task)) for task in self.tasks]}

    @classmethod
    def from_table(cls, table: Table) -> Others:
        times = {name: table.integer(name) for name in _TIMES}
        return cls(
            **times,
            alone=table.boolean("alone"),
            expected=table.boolean("expected"),
            tasks=tuple(
                OtherTask(
                    its.text("name"),
                    its.integer("pid"),
                    its.integer("cpu_ns"),
                    its.integer("cpu"),
                    its.boolean("pinned"),
                    its.boolean("kernel"),
                    its.boolean("children"),
                )
                for its in table.tables("tasks")
            ),
        )


_TIMES = ("window_ns", "user_ns", "measuring_ns", "unseen_ns", "kernel_ns")


def others_in(table: Table) -> Others | None:
    """The member `others` of a summary or a trailer; None where an older howlate did not look."""
    return None if table.values.get("others") is None else Others.from_table(table.table("others"))
