"""One kernel on the lab's bench: its guest made once, its jobs run in copies of that guest; in real time with KVM, if
the host has it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import REMEDIED, GuestError, NotPossibleError, TargetError
from howlate.lab.archive.packages import Say, silent
from howlate.lab.cache import entry_hash, living, made, read_entry, say_changed, seal, storing, write_entry
from howlate.lab.guests import window
from howlate.lab.guests.console import last_lines
from howlate.lab.guests.fork import FORK_FORMAT, Fork, direct, forked
from howlate.lab.guests.guest import STUCK, WITH_CONSOLE, Boot, Guest, Tick
from howlate.lab.guests.identity import build_ids, other_kernel
from howlate.lab.guests.machine import NAMED, Machine
from howlate.lab.guests.scratch import scratch
from howlate.lab.guests.single import SingleWords
from howlate.lab.guests.snapshot import Snapshot, Snapshots, key_of
from howlate.lab.guests.watch import Limits
from howlate.lab.guests.window import SIZE, decode_tree
from howlate.lab.kernels import initramfs
from howlate.lab.kernels.image import pvh_kernel, unpacked_kernel
from howlate.lab.kernels.kernel import VMLINUX, Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import of_loads
from howlate.lab.kernels.own_needs import WHAT_IT_NEEDS, check_load, remedy_of_hang
from howlate.lab.results import Results
from howlate.model.capabilities import LoadKind, Need, spec_name
from howlate.model.run import REAL
from howlate.replay.log import ExecutionLog, LogPlan
from howlate.replay.symbols import Symbols
from howlate.store.job_text import job_text
from howlate.words.say import english
from howlate.words.statement import Statement, message

NO_REAL_TIME = message("lab.no-real-time", "guests cannot run in real time: {reason}", remedy="{hint}")

DEVICE = Path("/dev/kvm")
TRY_S = 20.0
"""With KVM a guest's first program runs 1 to 3 s after its start."""
HOW_TO_CHECK = (
    "real time needs a machine whose processor's virtualisation howlate may use: `ls -l /dev/kvm`, "
    "`grep -c -E 'vmx|svm' /proc/cpuinfo`; in a virtual machine its host must allow nested guests. "
    "Virtual time needs none of it"
)


def check_device(device: Path = DEVICE) -> None:
    """NotPossibleError if KVM is missing or may not be used."""
    if not device.exists():
        raise NotPossibleError(NO_REAL_TIME(reason=f"{device} does not exist", hint=HOW_TO_CHECK))
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError as problem:
        hint = f"become a member of the group that owns {device}, or root"
        raise NotPossibleError(
            NO_REAL_TIME(reason=f"{device} cannot be opened ({problem.strerror})", hint=hint)
        ) from None


PROBE = "howlate-probe"
LAST_LOOK = "howlate::machine_clock_ns"
"""The probe's function that it calls just before it stops the machine (probe/src/job/stop.hpp)."""
_DISK = "/var/tmp"
"""The default folder of the load `disk`: a file system in the guest's memory."""
UNPACKED = "unpacked"
"""The cache's folder of kernels that the host has unpacked: a folder for each, named by the packed one's SHA-256."""
_FETCH_AGAIN = "remove the kernel from the cache, and it is fetched again (`howlate lab clean` removes all)"
_READ_AGAIN = "the kernel's file may have been built anew meanwhile: call the command again"
_SUM, _SUM_BYTES = "sha256", 64


def _has(path: Path, data: bytes) -> bool:
    try:
        return read_entry(path, len(data)) == data
    except OSError:
        return False


def _is_complete(unpacked: Path) -> bool:
    """Whether a folder has what was put there. The checksum of a kernel that cannot be unpacked is empty."""
    try:
        return bool(read_entry(unpacked / _SUM, _SUM_BYTES)) is (unpacked / VMLINUX).is_file()
    except (OSError, ValueError):
        return False


def _is_whole(unpacked: Path) -> bool:
    """Whether its kernel is also unchanged."""
    if not _is_complete(unpacked):
        return False
    plain = unpacked / VMLINUX
    stored = read_entry(unpacked / _SUM, _SUM_BYTES).decode("ascii", "replace")
    return not plain.is_file() or stored == seal(unpacked.name, entry_hash(plain))


class LineResult(Struct, frozen=True):
    status: str
    """An exit code, "signal N" or "not run"."""
    stdout: bytes
    stderr: bytes
    files: Mapping[str, bytes]

    @property
    def code(self) -> int:
        """The exit code; a signal as its negative number."""
        word, _, number = self.status.partition(" ")
        try:
            return -int(number) if word == "signal" else int(word)
        except ValueError:
            problem = window.bad_result(f'a line with the status "{self.status}"')
            raise TargetError(problem.statement) from None


class Bench(Struct, frozen=True, dict=True):
    """A kernel with its boot parameters, and the guest that is made of it."""

    label: Label
    kernel: Kernel
    machine: Machine
    probe: bytes
    cache: Path
    snapshots: Snapshots
    results: Results
    stop: threading.Event
    extra: Mapping[str, bytes] = field(default_factory=dict)
    """Further files of the guest: modules that were built, a peer for tests. Their content is part of every key."""
    say: Say = silent
    loads: Mapping[str, LoadKind] = field(default_factory=dict)
    """By name, those whose modules the guest has."""

    def run(
        self,
        lines: Sequence[Sequence[str]],
        limits: Limits,
        tick: Tick = lambda _: None,
    ) -> list[LineResult]:
        """Runs a job in a guest of its own and gives what each line left; in virtual time from the cache if it was
        run before. A guest that needs more than its limits is ended."""
        files = self.files(lines, limits, tick)
        return [_line(files, number) for number in range(len(lines))]

    def files(
        self,
        lines: Sequence[Sequence[str]],
        limits: Limits,
        tick: Tick = lambda _: None,
    ) -> Mapping[str, bytes]:
        """As `run`, and gives all that the guest left: the kernel's words too (docs/job.md)."""
        job = job_text(lines)
        if self.machine.clock == REAL:
            files = decode_tree(self._run_in_real_time(job, limits, tick))
            self._must_be_its_kernel(files)
            return files
        return self.results.get(
            self.key, job, lambda: self._run_from_snapshot(job, limits, tick), self._is_named
        )

    def logged(
        self, lines: Sequence[Sequence[str]], limits: Limits, plan: LogPlan
    ) -> tuple[list[LineResult], tuple[ExecutionLog, ...]]:
        """Run a job again, whether or not its result is in the cache, and log what the guest executes meanwhile."""
        with self._saved() as saved:
            result, logs = saved.run_logged(job_text(lines), self.cache / "tmp", self.stop, limits, plan)
        files = decode_tree(result)
        self._must_be_its_kernel(files)
        return [_line(files, number) for number in range(len(lines))], logs

    def holds(self, lines: Sequence[Sequence[str]]) -> bool:
        """Whether `run` would find this job in the cache."""
        return self.machine.clock != REAL and self.results.holds(self.key, job_text(lines))

    def lines_for(self, loads: Sequence[str]) -> list[tuple[str, ...]]:
        """What stands in a job before a cell with these loads; NotPossibleError if the kernel lacks it."""
        devices: dict[tuple[str, ...], None] = {}
        for spec in loads:
            load = self.loads.get(spec_name(spec))
            if load is None:
                continue
            if self.kernel.label.own and load.modules:
                check_load(self.kernel, load, spec)
            for need in load.used(load.modules, spec):
                devices.update(dict.fromkeys(self._lines_of(need)))
            devices.update({("disk", disk.name, _DISK): None for disk in load.used(load.disks, spec)})
        return list(devices)

    def devices_for(self, loads: Sequence[str]) -> tuple[str, ...]:
        kinds = ((self.loads[spec_name(spec)], spec) for spec in loads if spec_name(spec) in self.loads)
        return tuple(dict.fromkeys(n.name for load, spec in kinds for n in load.used(load.devices, spec)))

    def _lines_of(self, need: Need) -> list[tuple[str, ...]]:
        """What loads a module, after those that it depends on; nothing where it is built in."""
        if self.kernel.modules_path is None:  # the user's own: built in, or the guest says what is missing
            return []
        order = self.kernel.modules.order(need.name)
        lines: list[tuple[str, ...]] = [("module", name) for name in order[:-1]]
        return [*lines, ("module", order[-1], *need.parameters.split())] if order else lines

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
        for name in of_loads(self.loads.values()):
            if name in modules.files:
                for path in self.kernel.module_files(name):
                    files[f"{initramfs.MODULES}/{path.name}"] = read_entry(path)
        return initramfs.build(files)

    def _boot(self, archive: Path) -> Boot:
        return Boot(self.machine, self._image(), archive, self.machine.command_line(self.label.parameters))

    @cached_property
    def _checked_image(self) -> Path:
        """The kernel that QEMU boots, compared with its checksum. A bench does this once."""
        return self._image(_is_whole)

    def _image(self, is_sound: Callable[[Path], bool] = _is_complete) -> Path:
        """The kernel that QEMU boots. A guest for amd64 takes as long to unpack its kernel as for the rest of its
        boot, so the host unpacks it once. If that fails, or if QEMU cannot enter the unpacked kernel, the guest
        unpacks it."""
        if self.machine.clock == REAL or self.kernel.arch != "amd64":
            return self.kernel.vmlinuz
        folder = made(self.cache / UNPACKED / self.kernel.checked_sha256, self._unpack, is_sound, self.say)
        with suppress(OSError):
            os.utime(folder)  # when it was last used
        return folder / VMLINUX if (folder / VMLINUX).is_file() else self.kernel.vmlinuz

    def _unpack(self, beside: Path) -> None:
        plain = pvh_kernel(read_entry(self.kernel.vmlinuz))
        with storing(beside):
            sealed = "" if plain is None else seal(self.kernel.checked_sha256, sha256(plain).hexdigest())
            (beside / _SUM).write_text(sealed)
            if plain is not None:
                (beside / VMLINUX).write_bytes(plain)

    def _stored(self) -> Path:
        """The initramfs as a file of the cache, by its content."""
        data = self._archive
        path = self.cache / "initramfs" / f"{sha256(data).hexdigest()}.cpio"
        with storing(path):
            if not _has(path, data):
                if path.exists():
                    say_changed(path, self.say, "it is made again")
                write_entry(path, data)
        return path

    def _run_from_snapshot(self, job: bytes, limits: Limits, tick: Tick) -> bytes:
        with self._saved() as saved:
            result = saved.run(job, self.cache / "tmp", self.stop, limits, tick)
            if (other := self._other(decode_tree(result))) is None:
                return result
            self.say(f"{english(other)}; it is booted again")
            self.snapshots.forget(self.key, saved)
        with self._saved() as saved:
            result = saved.run(job, self.cache / "tmp", self.stop, limits, tick)
        self._must_be_its_kernel(decode_tree(result))
        return result

    def _must_be_its_kernel(self, files: Mapping[str, bytes]) -> None:
        if other := self._other(files):
            remedy = _READ_AGAIN if self.kernel.label.own else _FETCH_AGAIN
            raise GuestError(REMEDIED(problem=other, remedy=remedy))

    def _other(self, files: Mapping[str, bytes]) -> Statement | None:
        return other_kernel(files, str(self.label), self.kernel.release, self._build_ids)

    def _is_named(self, files: Mapping[str, bytes]) -> bool:
        """The same of a kept result by its name alone: no kernel is read for it."""
        return other_kernel(files, str(self.label), self.kernel.release, frozenset()) is None

    @cached_property
    def _build_ids(self) -> frozenset[bytes]:
        image = self._checked_image
        data = read_entry(image)
        kernel = data if image.name == VMLINUX else unpacked_kernel(data)
        return frozenset() if kernel is None else build_ids(kernel)

    @contextmanager
    def _saved(self) -> Iterator[Snapshot]:
        """The guest that waits for a job, booted if it is not there."""
        if not self.snapshots.holds(self.key):
            self.say(f"booting {self.label}")
        boot = replace(self._boot(self._stored()), kernel=self._checked_image)
        with ExitStack() as held:
            try:
                with living(self.say):
                    saved = held.enter_context(self.snapshots.opened(boot, self.key, self.stop))
            except TargetError as problem:
                if not self.kernel.label.own:
                    raise
                hangs = problem.remedy == STUCK.remedy
                known = remedy_of_hang(self.kernel, boot.command_line) if hangs else ""
                remedy = known or "; ".join(filter(None, (problem.remedy, WHAT_IT_NEEDS)))
                own = REMEDIED(problem=problem.statement, remedy=remedy)
                raise type(problem)(own, console=problem.console) from None
            yield saved

    def fork_key(self, lines: Sequence[Sequence[str]]) -> str:
        """The hash of everything that the probes of a fork depend on except their instants."""
        return sha256(f"fork {FORK_FORMAT} {self.key} ".encode() + job_text(lines)).hexdigest()

    @contextmanager
    def forked(self, lines: Sequence[Sequence[str]], limits: Limits) -> Iterator[Fork]:
        """The guest of a job whose last line measures a single release, stopped before it."""
        with (
            self._saved() as saved,
            forked(saved, self._stops_at, job_text(lines), self.cache / "tmp", self.stop, limits) as fork,
        ):
            yield fork

    @cached_property
    def _stops_at(self) -> int:
        return Symbols.of("", self.probe).address(LAST_LOOK)

    def direct(self, lines: Sequence[Sequence[str]], instant_ns: int, limits: Limits) -> SingleWords:
        """The same release without a stop before it."""
        with self._saved() as saved:
            return direct(saved, job_text(lines), instant_ns, self.cache / "tmp", limits)

    def _run_in_real_time(self, job: bytes, limits: Limits, tick: Tick) -> bytes:
        with scratch(SIZE, self.cache / "tmp") as folder:
            guest = Guest(self._boot(self._stored()), folder, self.stop)
            guest.give(job)
            with guest.started(monitored=False):
                guest.finish(limits.cpu_s, tick)
            return guest.answer()

    def try_real_time(self) -> None:
        """NotPossibleError if a guest with KVM does not get as far as its first line of a job. Only trying tells: a
        host that is itself a guest often has a /dev/kvm that cannot run one."""
        check_device()
        try:
            self._run_in_real_time(job_text([(PROBE, "--version")]), Limits(TRY_S), lambda _: None)
        except TargetError as problem:
            reason = problem.statement
            if reason.rule != WITH_CONSOLE.id:
                raise NotPossibleError(NO_REAL_TIME(reason=reason, hint=HOW_TO_CHECK)) from None
            reason, line = reason.values["problem"], last_lines(problem.console, 1)[0]
            ending = f'{english(reason)} (its console ends with "{line}")'
            raise NotPossibleError(NO_REAL_TIME(reason=ending, hint=HOW_TO_CHECK)) from None


def _line(files: Mapping[str, bytes], number: int) -> LineResult:
    mine = {name.partition("/")[2]: data for name, data in files.items() if name.startswith(f"{number}/")}
    try:
        return LineResult(
            mine["status"].decode("ascii", "replace").strip(),
            mine.get("stdout", b""),
            mine.get("stderr", b""),
            mine,
        )
    except KeyError:
        raise window.bad_result(f"line {number} is missing") from None
