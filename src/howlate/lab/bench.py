"""One kernel on the lab's bench: its guest made once, its jobs run in copies of that guest."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from howlate.errors import DamagedError, NotPossibleError, TargetError
from howlate.lab import initramfs
from howlate.lab.archive import Say, silent
from howlate.lab.cache import storing
from howlate.lab.guest import NO_LIMIT, Boot, Guest, Tick
from howlate.lab.kernel import Kernel
from howlate.lab.label import Label
from howlate.lab.machine import NAMED, Machine
from howlate.lab.modules import DEFAULT
from howlate.lab.own_needs import WHAT_IT_NEEDS, check_load
from howlate.lab.real import HOW_TO_CHECK, TRY_S, check_device
from howlate.lab.results import Results
from howlate.lab.scratch import scratch
from howlate.lab.snapshot import Snapshots, key_of
from howlate.lab.window import SIZE, decode_tree
from howlate.model.job import job_text
from howlate.model.run import REAL

PROBE = "howlate-probe"
_DISK = "/var/tmp"
"""Where the load `disk` writes if it is not told: a file system in the guest's memory stands there."""
NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "disk": (
        ("module", "ext4"),
        ("module", "brd", "rd_nr=1", "rd_size=196608"),
        ("disk", "/dev/ram0", _DISK),
    ),
    "network": (("module", "veth"),),
}
"""What a load needs of a guest that is not there after its boot, as lines of a job."""


@dataclass(frozen=True)
class Line:
    """What one line of a job left."""

    status: str
    """An exit code, "signal N" or "not run"."""
    stdout: bytes
    stderr: bytes
    files: Mapping[str, bytes] = field(repr=False)

    @property
    def code(self) -> int:
        """The exit code; a signal as its negative number."""
        word, _, number = self.status.partition(" ")
        try:
            return -int(number) if word == "signal" else int(word)
        except ValueError:
            raise TargetError(f'a line of a guest\'s job was "{self.status}"') from None


@dataclass(frozen=True)
class Bench:
    """A kernel with its boot parameters, and the guest that is made of it."""

    label: Label
    kernel: Kernel
    machine: Machine
    probe: bytes = field(repr=False)
    cache: Path
    snapshots: Snapshots
    results: Results
    stop: threading.Event
    extra: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Further files of the guest: modules that were built, a peer for tests. Their content is part of every key."""
    say: Say = silent

    def run(
        self,
        lines: Sequence[Sequence[str]],
        limit_s: float,
        tick: Tick = lambda _: None,
        virtual_s: float = NO_LIMIT,
    ) -> list[Line]:
        """Runs a job in a guest of its own and gives what each line left; in virtual time from the cache if it was
        run before. A guest that needs more than `limit_s` of CPU time or `virtual_s` by its own clock is ended."""
        files = self.files(lines, limit_s, tick, virtual_s)
        return [_line(files, number) for number in range(len(lines))]

    def files(
        self,
        lines: Sequence[Sequence[str]],
        limit_s: float,
        tick: Tick = lambda _: None,
        virtual_s: float = NO_LIMIT,
    ) -> Mapping[str, bytes]:
        """As `run`, and gives all that the guest left: the kernel's words too (docs/job.md)."""
        job = job_text(lines)
        if self.machine.clock == REAL:
            return decode_tree(self._run_in_real_time(job, limit_s, tick))
        return self.results.get(self.key, job, lambda: self._run_from_snapshot(job, limit_s, tick, virtual_s))

    def holds(self, lines: Sequence[Sequence[str]]) -> bool:
        """Whether `run` would find this job in the cache."""
        return self.machine.clock != REAL and self.results.holds(self.key, job_text(lines))

    def lines_for(self, loads: Sequence[str]) -> list[tuple[str, ...]]:
        """What stands in a job before a cell with these loads; NotPossibleError if the kernel lacks it."""
        found: dict[tuple[str, ...], None] = {}
        for load in loads:
            name = load.replace(",", ":").partition(":")[0]
            if self.kernel.label.own:
                check_load(self.kernel, name)
            for line in NEEDS.get(name, ()):
                if line[0] == "module":
                    if (
                        self.kernel.modules_path is None
                    ):  # the user's own: built in, or the guest says what is missing
                        continue
                    order = self.kernel.modules.order(line[1])
                    found.update(dict.fromkeys(("module", name) for name in order[:-1]))
                    found.update({("module", order[-1], *line[2:]): None} if order else {})
                else:
                    found[line] = None
        return list(found)

    @property
    def arguments(self) -> list[str]:
        """QEMU's, with names in place of the host's paths."""
        return self.machine.arguments(NAMED, self.machine.command_line(self.label.parameters))

    @cached_property
    def key(self) -> str:
        """The hash of everything that the waiting guest depends on."""
        return key_of(self._boot(Path()), self.kernel.checked_sha256, sha256(self._archive).hexdigest())

    @cached_property
    def _archive(self) -> bytes:
        files = {initramfs.INIT: self.probe, **self.extra}
        modules = self.kernel.modules
        for name in DEFAULT:
            if name in modules.files:
                for path in self.kernel.module_files(name):
                    files[f"{initramfs.MODULES}/{path.name}"] = path.read_bytes()
        return initramfs.build(files)

    def _boot(self, archive: Path) -> Boot:
        return Boot(
            self.machine, self.kernel.vmlinuz, archive, self.machine.command_line(self.label.parameters)
        )

    def _stored(self) -> Path:
        """The initramfs as a file of the cache, by its content."""
        data = self._archive
        path = self.cache / "initramfs" / f"{sha256(data).hexdigest()}.cpio"
        with storing(path):
            if not path.is_file() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                beside = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
                try:
                    beside.write_bytes(data)
                    beside.replace(path)
                except BaseException:
                    beside.unlink(missing_ok=True)
                    raise
        return path

    def _run_from_snapshot(self, job: bytes, limit_s: float, tick: Tick, virtual_s: float) -> bytes:
        boot = self._boot(self._stored())
        if not self.snapshots.holds(self.key):
            self.say(f"booting {self.label}")
        with ExitStack() as held:
            try:
                saved = held.enter_context(self.snapshots.opened(boot, self.key, self.stop))
            except TargetError as problem:
                if not self.kernel.label.own:
                    raise
                remedy = f"{problem.remedy}; {WHAT_IT_NEEDS}" if problem.remedy else WHAT_IT_NEEDS
                raise TargetError(problem.message, remedy, problem.console) from None
            return saved.run(job, self.cache / "tmp", limit_s, self.stop, tick, virtual_s)

    def _run_in_real_time(self, job: bytes, limit_s: float, tick: Tick) -> bytes:
        with scratch(SIZE, self.cache / "tmp") as folder:
            guest = Guest(self._boot(self._stored()), folder, self.stop)
            guest.give(job)
            with guest.started(monitored=False):
                guest.finish(limit_s, tick)
            return guest.answer()

    def try_real_time(self) -> None:
        """NotPossibleError if a guest with KVM does not get as far as its first line of a job. Only trying tells: a
        host that is itself a guest often has a /dev/kvm that cannot run one."""
        check_device()
        try:
            self._run_in_real_time(job_text([(PROBE, "--version")]), TRY_S, lambda _: None)
        except TargetError as problem:
            what, *lines = problem.message.splitlines()
            last = f' (its console ends with "{lines[-1]}")' if lines else ""
            raise NotPossibleError(
                f"KVM cannot start an ordinary guest on this machine: {what}{last}", HOW_TO_CHECK
            ) from None


def _line(files: Mapping[str, bytes], number: int) -> Line:
    mine = {name.partition("/")[2]: data for name, data in files.items() if name.startswith(f"{number}/")}
    try:
        return Line(
            mine["status"].decode("ascii", "replace").strip(),
            mine.get("stdout", b""),
            mine.get("stderr", b""),
            mine,
        )
    except KeyError:
        raise DamagedError(f"a guest's result has no line {number}") from None
