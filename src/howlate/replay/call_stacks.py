"""Call stacks of an execution, followed call by call and return by return, across interrupts and switches of tasks.

A log begins within functions whose callers it has not seen. They become known when the function returns: from then on
they are below all that was executed there before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct, field

from howlate.replay.execution import EXCEPTION, INTERRUPT, Execution
from howlate.replay.instructions import InstructionKind
from howlate.replay.log import Switch
from howlate.replay.symbols import NO_NAME

_THUNK = "__x86_indirect_thunk"


class Call:
    """One call of a function: its place in the tree of calls. `kind` says how the CPU came there, if by itself."""

    __slots__ = ("below", "kind", "name", "task")

    def __init__(self, name: str, below: Call | None, task: Task, kind: str = "") -> None:
        self.name, self.below, self.task, self.kind = name, below, task, kind

    def chain(self) -> Iterator[Call]:
        """This call, its caller, and so on."""
        call: Call | None = self
        while call is not None:
            yield call
            call = call.below

    @property
    def stack(self) -> tuple[str, ...]:
        """The names from the outermost caller to this function."""
        return tuple(call.name for call in self.chain())[::-1]


class _Frame(Struct):
    call: Call
    back: int | None
    """Where it returns to; None if that is not known."""
    kind: str = ""
    """How the CPU entered; "" for a call."""


class Task(Struct, eq=False):
    number: int
    """In the order of their appearance."""
    frames: list[_Frame] = field(default_factory=list)
    roots: list[Call] = field(default_factory=list)
    """The calls whose callers are not known."""

    @property
    def call(self) -> Call:
        return self.frames[-1].call

    def begin(self, name: str, kind: str = "") -> None:
        root = Call(name, None, self, kind)
        self.roots.append(root)
        self.frames.append(_Frame(root, None))

    def become(self, name: str) -> None:
        """The function goes on as another one (a tail call, a jump into its other part)."""
        frame = self.frames[-1]
        if not frame.call.name:  # it was interrupted before its first instruction
            frame.call.name = name
        elif frame.call.name != name:
            frame.call = Call(name, frame.call.below, self, frame.call.kind)
            if frame.call.below is None:
                self.roots.append(frame.call)

    def push(self, name: str, back: int | None, kind: str = "") -> None:
        self.frames.append(_Frame(Call(name, self.call, self, kind), back, kind))

    def uncover(self, name: str) -> None:
        """The outermost known function has returned: its caller is this one."""
        caller = Call(name, None, self)
        for root in self.roots:
            root.below = caller
        self.roots = [caller]
        self.frames = [_Frame(caller, None)]

    def return_to(self, address: int, name: str) -> None:
        """Return to whoever called and waits there; a return to nobody who called is a jump."""
        for depth in range(len(self.frames) - 1, 0, -1):
            if self.frames[depth].back == address and not self.frames[depth].kind:
                del self.frames[depth:]
                self.become(name)
                return
        if len(self.frames) == 1:
            self.uncover(name)
            return
        if self.call.name.startswith(_THUNK) and self.frames[-2].call.name == self.call.name:
            del self.frames[
                -1
            ]  # a thunk calls itself, writes where to go in place of its return address, and returns
        self.become(name)

    def leave(self, name: str) -> None:
        """Back from an interrupt, an exception or a system call."""
        for depth in range(len(self.frames) - 1, 0, -1):
            if self.frames[depth].kind:
                del self.frames[depth:]
                self.become(name)
                return
        self.uncover(name)


class Segment(Struct, frozen=True):
    """Instructions of one call, without those of the functions that it calls."""

    first: int
    after: int
    call: Call


def segments(execution: Execution, until: int | None = None) -> list[Segment]:
    """All instructions before `until`, in order."""
    if len(execution) == 0:
        return []
    return _Walk(execution).run(len(execution) if until is None else until)


class _Walk:
    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._names = execution.symbols.name
        self._tasks: dict[int, Task] = {}
        self._count = 0
        self._task = self._new()
        kind = execution.entries.get(int(execution.addresses[0]), "")
        self._task.begin(self._names(int(execution.functions[0])), kind)

    def _new(self) -> Task:
        self._count += 1
        return Task(self._count - 1)

    def run(self, until: int) -> list[Segment]:
        switches = {switch.at: switch for switch in self._execution.log.switches}
        found: list[Segment] = []
        first = 0
        call = self._task.call
        for at in self._changes(until, switches):
            self._step(at)
            if (switch := switches.get(at + 1)) is not None:
                self._switch(switch)
            if self._task.call is not call:
                found.append(Segment(first, at + 1, call))
                first, call = at + 1, self._task.call
        return [*found, Segment(first, until, call)] if first < until else found

    def _changes(self, until: int, switches: dict[int, Switch]) -> Sequence[int]:
        """The instructions after which another function may be executed."""
        execution = self._execution
        along = execution.addresses[1:until] == execution.following[: until - 1]
        same = execution.functions[1:until] == execution.functions[: until - 1]
        kinds = execution.kinds[: until - 1]
        calls = (
            (kinds == InstructionKind.CALL)
            | (kinds == InstructionKind.RETURN)
            | (kinds == InstructionKind.LEAVE)
        )
        entered = np.zeros(until - 1, dtype=np.bool_)
        places = [at for at in (*execution.entered, *(at - 1 for at in switches)) if 0 <= at < until - 1]
        entered[places] = True
        changes: list[int] = np.nonzero(
            ~same | calls | entered | (~along & (kinds == InstructionKind.PLAIN))
        )[0].tolist()
        return changes

    def _step(self, at: int) -> None:
        execution, task = self._execution, self._task
        here, target = int(execution.addresses[at]), int(execution.addresses[at + 1])
        kind, name = InstructionKind(execution.kinds[at]), self._names(int(execution.functions[at + 1]))
        after = int(execution.following[at])
        if (entry := execution.entered.get(at)) is not None:
            self._enter(at, kind, entry, name)
        elif kind == InstructionKind.CALL:
            if self._goes_on(at, name):
                task.become(name)
            else:
                task.push(name, after)
        elif kind == InstructionKind.RETURN:
            task.return_to(target, name)
        elif kind == InstructionKind.LEAVE:
            task.leave(name)
        elif target != here:
            task.become(name)

    def _goes_on(self, at: int, name: str) -> bool:
        """Whether a call leads on within its own function, as those do that fill the CPU's buffer of return addresses
        after a switch: nothing returns from it. A call of the function's first instruction is a recursion."""
        execution = self._execution
        target = int(execution.addresses[at + 1])
        if target == int(execution.following[at]):
            return True
        here, there = int(execution.functions[at]), int(execution.functions[at + 1])
        if here != there or here < 0 or name == NO_NAME or name.startswith(_THUNK):
            return False
        return target != int(execution.symbols.starts[here])

    def _enter(self, at: int, kind: InstructionKind, entry: str, name: str) -> None:
        """An interrupt that comes right after a call or a return finds the one made and the other done; so does an
        exception for want of the page where it led to."""
        task, execution = self._task, self._execution
        after = int(execution.following[at])
        is_done = entry == INTERRUPT or (entry == EXCEPTION and not execution.twice[at])
        if is_done and kind == InstructionKind.CALL:
            task.push("", after)
        elif is_done and kind == InstructionKind.RETURN and len(task.frames) > 1 and not task.frames[-1].kind:
            task.frames.pop()
        back = int(execution.addresses[at]) if entry == EXCEPTION and kind != InstructionKind.ENTER else after
        task.push(name, back, entry)

    def _switch(self, switch: Switch) -> None:
        self._tasks.setdefault(switch.previous, self._task)
        following = self._tasks.get(switch.following)
        if following is None:
            following = self._tasks[switch.following] = self._new()
            following.begin(self._task.call.name)
        self._task = following
