"""The lab: kernels as guests on this machine, in virtual time (docs/lab/), or in real time with KVM."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from howlate.errors import (
    ExitCode,
    GuestError,
    HowlateError,
    TargetError,
    UnfitKernelError,
    UsageError,
)
from howlate.lab.archive.apt import AptArchive
from howlate.lab.archive.packages import Archive, Say, silent
from howlate.lab.bench import PROBE, Bench, LineResult
from howlate.lab.cache import cache_folder, living, read_entry
from howlate.lab.cost import Costs
from howlate.lab.guests.emulator import with_emulator
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.scratch import PREFIX
from howlate.lab.guests.snapshot import Snapshots
from howlate.lab.guests.watch import Limits
from howlate.lab.guests.window import ROOM
from howlate.lab.kernels import catalogue as kernels
from howlate.lab.kernels.headers import host_architecture
from howlate.lab.kernels.image import plain_kernel
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import of_loads
from howlate.lab.kernels.own_kernel import own_kernel
from howlate.lab.kernels.own_needs import check_cpus, check_knobs, check_own
from howlate.lab.kernels.parameters import check_in_force
from howlate.lab.libraries import check_probe, guest_libraries
from howlate.lab.needed import GuestModules, built, needed
from howlate.lab.problems import UNUSABLE, guest_failed
from howlate.lab.replay import RecordedCell, ReplayedActivation, replay
from howlate.lab.results import Results
from howlate.lab.tidy import tidy
from howlate.measure.machines import NOT_CHECKED
from howlate.model.answer import Answer, Command
from howlate.model.capabilities import Capabilities, LoadKind, Need, TestKind
from howlate.model.decode import parse_json, twice, unknown
from howlate.model.facts import parse_cpus, unpacked
from howlate.model.plan import Cell
from howlate.model.run import CLOCKS, REAL, VIRTUAL
from howlate.plan.cost import (
    CELL_S,
    SOON,
    limit_s,
    start_limit_s,
    start_virtual_limit_s,
    virtual_limit_s,
)
from howlate.plan.options import arguments
from howlate.store.activations import Activation, Activations
from howlate.store.files import storing
from howlate.system.paths import guest_probe_path, make_ready, probe_path
from howlate.system.scratch import MEMORY, remove_stale
from howlate.targets._target import LabOptions, Outcome, Progress, failed, outcome_of, sentence_of
from howlate.targets.local import LocalTarget

NO_OPTIONS = LabOptions()

SUMMARY = "kernels as guests on this machine, in virtual time"
ASK_S = 60.0
"""CPU time for facts and list, which take 0.4 s of it."""
_GUEST_BYTES = 700 << 20
"""The guest's memory of 512 MiB, its window, and QEMU's own."""
REAL_LIMIT_S, REAL_LIMIT = 300.0, 2.5
"""In real time a guest is ended after this time plus this multiple of its cell's length."""
_LOGGED = 3.0
"""The factor on the CPU time that a logged guest may use."""
_FORCED = ("record", "quiet", "progress", "stream", "end-with-parent", "json")


def open_target(
    argument: str, say: Say = silent, machines: Sequence[str] = (), options: LabOptions = NO_OPTIONS
) -> LabTarget:
    """`lab:6.1-rt`, or several kernels separated by commas; `lab` has those that the study names."""
    return open_lab(argument or ",".join(machines), options, say=say)


def open_lab(
    names: str,
    options: LabOptions = NO_OPTIONS,
    archive: Archive | None = None,
    say: Say = silent,
    cache: Path | None = None,
) -> LabTarget:
    """The lab with these kernels: labels separated by commas (`all`: one of every series), and files of the
    user's own."""
    if options.clock not in CLOCKS:
        raise UsageError(unknown("clock", options.clock, ("virtual", "real")))
    if options.probe is not None:
        check_probe(options.probe, host_architecture())  # this machine asks it what it can do
    cache = cache or cache_folder()
    archive = archive or AptArchive(cache / "apt", say=say)
    labels = kernels.named(names, lambda: archive) if names or not options.own else ()
    return LabTarget(labels, options, archive, say, cache)


class LabTarget:
    """Its machines are the kernels; each cell runs in a guest of its own."""

    stream_bytes_most = ROOM

    def __init__(
        self, labels: Sequence[Label], options: LabOptions, archive: Archive, say: Say, cache: Path
    ) -> None:
        self.clock, self._jobs, self._options = options.clock, options.jobs, options
        self._cpus = 1 if options.cpus is None else options.cpus
        self._own_probe = options.probe or probe_path()
        """Answers what does not need a guest."""
        self._archive, self._say, self._cache = archive, say, cache
        tidy(cache)
        remove_stale(MEMORY, PREFIX)  # what a killed howlate left of its guests
        self._costs = Costs(cache / "costs.json", say)
        self._results = Results(cache / "results", not options.cached, say)
        self._snapshots = Snapshots(cache / "snapshots", say=say)
        self._stopped = threading.Event()
        self._hold = threading.Lock()
        self._benches: dict[str, Bench] = {}
        self._answers: dict[str, list[LineResult]] = {}
        self._folders = options.modules
        self._loads: dict[str, tuple[tuple[str, ...], ...]] = {}
        """By kernel, the lines that load the modules of these folders."""
        self._tests: dict[str, dict[str, TestKind]] = {}
        self._needed: dict[tuple[str, tuple[Need, ...], tuple[str, ...]], tuple[Bench, GuestModules]] = {}
        self._labels: dict[str, Label] = {str(label): label for label in labels}
        for arch in sorted({label.arch for label in self._labels.values()}):
            self._make_ready(arch)  # before anything is fetched
            self._machine_of(arch).emulator()
        for path in options.own:
            label, kernel = own_kernel(str(path), cache, say)
            if str(label) in self._labels:
                raise UsageError(twice("value of --own-kernel", str(label), "name it once"))
            check_own(kernel, say)
            check_cpus(label, kernel, self._cpus if self.clock == VIRTUAL else 1)
            self._make_ready(label.arch)
            self._labels[str(label)] = label
            self._benches[str(label)] = self._bench_of(label, kernel)
        self.machines = tuple(self._labels)
        self.name = f"lab:{','.join(self.machines)}" if self.machines else "lab"

    @cached_property
    def parallel(self) -> int:
        """In real time guests would disturb each other. Computed once, so that the memory of running guests
        does not count."""
        if self.clock == REAL:
            return 1
        return self._jobs or guests_at_once(len(os.sched_getaffinity(0)), available_bytes())

    def facts(self, machine: str = "") -> dict[str, Any]:
        bench = self._bench(machine)
        if self.clock == REAL:
            bench.try_real_time()
        facts = unpacked(self._ask(bench, 0, "facts"))
        values = facts.get("values")
        if isinstance(values, dict):
            values.update(_lab_facts(bench))
            _check_online(bench, values)
            not_checked = check_in_force(bench.label, values, bench.kernel.vmlinuz)
            values.update({NOT_CHECKED: " ".join(not_checked)} if not_checked else {})
        return facts

    def capabilities(self, machine: str = "") -> Capabilities:
        can = Capabilities.from_json(self._ask(self._bench(machine), 1, "list"))
        self._tests[machine] = {test.name: test for test in can.tests}
        return can

    def config(self, machine: str = "") -> str:
        path = self._bench(machine).kernel.config_path
        return path.read_text(encoding="utf-8", errors="replace") if path is not None else ""

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        """The answer of this machine's probe; what a guest lacks besides CPUs it reports itself."""
        return LocalTarget(self._own_probe).answer_elsewhere(commands, f"0-{self._cpus - 1}")

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        pass  # its remains are in the cache

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        bench, modules = self._bench_for(cell)
        before = self._before(cell, bench, modules)
        ticks = _Ticks(on_progress, self._expected_s(cell))
        limits = self._limits(cell)
        if self.clock == REAL:
            limits = Limits(REAL_LIMIT_S + REAL_LIMIT * cell.length.most_s)
        lines = bench.run([*before, _argv(cell)], limits, ticks)
        if ticks.used_s and self.clock == VIRTUAL:
            self._costs.learn(cell, cell.expected_s - CELL_S, ticks.used_s - CELL_S)
        for argv, line in zip(before, lines, strict=False):
            if line.status != "0":
                reason = sentence_of(line.stderr, 1)
                return Outcome(ExitCode.NOT_POSSIBLE, f"`{' '.join(argv)}` failed in the guest: {reason}")
        measured = lines[-1]
        outcome = outcome_of(measured.code, measured.stderr)
        if outcome.exit_code is ExitCode.NOT_POSSIBLE and modules.absent:
            outcome = replace(outcome, message="\n".join([outcome.message, *modules.absent]))
        data = measured.files.get("stream")
        if data is None and outcome.measured:
            raise TargetError(guest_failed(f"{cell.machine} left no stream"))
        if data is not None:
            with storing(stream):
                stream.write_bytes(data)
        return outcome

    def guest_key(self, machine: str) -> str:
        return self._bench(machine).key

    def kernel_image(self, machine: str) -> bytes:
        return plain_kernel(read_entry(self._bench(machine).kernel.vmlinuz))

    def replay(
        self, cell: Cell, activations: Activations, targets: Sequence[Activation]
    ) -> list[ReplayedActivation]:
        """Measure a cell again, with a log of what is executed around some of its activations."""
        if self._stopped.is_set():
            raise KeyboardInterrupt
        bench, modules = self._bench_for(cell)
        recorded = RecordedCell(cell.id, self._before(cell, bench, modules), _argv(cell), activations)
        return replay(bench, recorded, targets, self._limits(cell, _LOGGED))

    def _limits(self, cell: Cell, times: float = 1.0) -> Limits:
        """What a guest with this cell may use without a result; `times` scales the CPU time."""
        virtual_s = virtual_limit_s(cell)
        return Limits(
            times * limit_s(cell),
            virtual_s,
            SOON * virtual_s,
            times * start_limit_s(cell, self._costs.of(cell)),
            start_virtual_limit_s(cell),
        )

    def single(self, machine: str, loads: tuple[str, ...]) -> tuple[Bench, Callable[[int], list[list[str]]]]:
        """The bench of single releases under these loads, and the job of one by how long after its start it is
        planned, in ns."""
        bench = self._bench(machine)
        bench = _with_devices(bench, bench.devices_for(loads))
        before = [*bench.lines_for(loads), *self._loads[str(bench.label)]]
        return bench, lambda first_ns: [*map(list, before), _single(loads, first_ns)]

    def _before(self, cell: Cell, bench: Bench, modules: GuestModules) -> list[tuple[str, ...]]:
        """The lines of a job before its cell; NotPossibleError if the kernel lacks what the cell needs."""
        if bench.label.own and cell.parameters.get("knob"):
            check_knobs(bench.kernel)
        before = [
            *bench.lines_for(_loads(cell)),
            *self._loads[str(bench.label)],
        ]
        return before + [line for line in modules.lines if line not in before]

    def cost_s(self, cell: Cell) -> float:
        return 0.0 if self.clock == VIRTUAL and self._is_kept(cell) else self._expected_s(cell)

    def _expected_s(self, cell: Cell) -> float:
        return cell.expected_s if self.clock == REAL else self._costs.cost_s(cell)

    def _is_kept(self, cell: Cell) -> bool:
        """Whether the cell's result is in the cache. For a guest with modules of its own this is not checked,
        since they might have to be fetched for it."""
        bench = self._benches.get(cell.machine)
        test = self._tests.get(cell.machine, {}).get(cell.test)
        if bench is None or test is None:
            return False
        if test.used(test.modules, cell.parameters):
            return False
        with suppress(HowlateError):
            bench = _with_devices(bench, _devices(bench, test, cell))
            return bench.holds([*self._before(cell, bench, GuestModules()), _argv(cell)])
        return False

    def _ask(self, bench: Bench, number: int, what: str) -> dict[str, Any]:
        """Facts and list are one job, asked once: the answer to both costs one guest, even without a cache."""
        if self._stopped.is_set():
            raise KeyboardInterrupt
        name = str(bench.label)
        if name not in self._answers:
            with living(self._say):
                self._answers[name] = bench.run(
                    [(PROBE, "facts", "--json"), (PROBE, "list", "--json")], Limits(ASK_S)
                )
        line = self._answers[name][number]
        if line.status != "0":
            reason = sentence_of(line.stderr, line.code)
            raise GuestError(failed(what, f"in the guest {bench.label}", reason).statement)
        text = line.stdout.decode("utf-8", "replace")
        return dict(parse_json(text, f"`howlate-probe {what} --json`", TargetError).values)

    def _bench(self, machine: str) -> Bench:
        name = machine or next(iter(self._labels))
        if name not in self._labels:
            raise UsageError(unknown("kernel", name, self._labels))
        with self._hold:
            if self._stopped.is_set():  # perhaps while another kernel was fetched
                raise KeyboardInterrupt
            if name not in self._benches:
                label = self._labels[name]
                modules = of_loads(self._load_kinds.values())
                kernel = kernels.get(label, self._archive, self._cache, modules, self._say)
                self._benches[name] = self._bench_of(label, kernel)
            return self._benches[name]

    def _bench_for(self, cell: Cell) -> tuple[Bench, GuestModules]:
        """The bench of a cell: a special guest if its test can use modules, or its test or loads devices."""
        bench = self._bench(cell.machine)
        if cell.machine not in self._tests:
            self.capabilities(cell.machine)
        test = self._tests[cell.machine].get(cell.test)
        modules = test.used(test.modules, cell.parameters) if test else ()
        devices = _devices(bench, test, cell)
        if not modules and not devices:
            return bench, GuestModules()
        with self._hold:
            if self._stopped.is_set():
                raise KeyboardInterrupt
            key = (cell.machine, modules, devices)
            if key not in self._needed:
                guest_modules = needed(
                    modules, bench.label, bench.kernel, self._archive, self._cache, self._say
                )
                extra = {**bench.extra, **guest_modules.files}
                self._needed[key] = (replace(_with_devices(bench, devices), extra=extra), guest_modules)
            return self._needed[key]

    @cached_property
    def _load_kinds(self) -> Mapping[str, LoadKind]:
        """The loads that this machine's probe lists: a guest's probe is the same program."""
        return {load.name: load for load in LocalTarget(self._own_probe).capabilities().loads}

    def _make_ready(self, arch: str) -> None:
        """Build what guests of an architecture need, which takes a minute, unless no such guest is possible."""
        self._requested_machine(arch)
        make_ready(arch)

    def _requested_machine(self, arch: str) -> Machine:
        own = self._options
        return Machine.of(arch, own.clock, self._cpus, own.mips, own.turn_ns)

    def _machine_of(self, arch: str) -> Machine:
        return with_emulator(self._requested_machine(arch), self._archive, self._cache, self._say)

    def _bench_of(self, label: Label, kernel: Kernel) -> Bench:
        machine = self._machine_of(label.arch)
        given = self._options.probe
        path = given or guest_probe_path(label.arch)
        probe = check_probe(path, label.arch) if given else path.read_bytes()
        own = built(self._folders, label, kernel, self._archive, self._cache, self._say)
        self._loads[str(label)] = own.lines
        return Bench(
            label=label,
            kernel=kernel,
            machine=machine,
            probe=probe,
            cache=self._cache,
            snapshots=self._snapshots,
            results=self._results,
            stop=self._stopped,
            extra={**(guest_libraries(path) if given else {}), **own.files},
            say=self._say,
            loads=self._load_kinds,
        )


def _loads(cell: Cell) -> tuple[str, ...]:
    loads = cell.parameters.get("load", ())
    return tuple(map(str, loads)) if isinstance(loads, tuple) else (str(loads),)


def _devices(bench: Bench, test: TestKind | None, cell: Cell) -> tuple[str, ...]:
    own = test.used(test.devices, cell.parameters) if test else ()
    return tuple(dict.fromkeys((*(need.name for need in own), *bench.devices_for(_loads(cell)))))


def _with_devices(bench: Bench, devices: tuple[str, ...]) -> Bench:
    if not devices:
        return bench
    return replace(
        bench, machine=dataclasses.replace(bench.machine, devices=(*bench.machine.devices, *devices))
    )


def guests_at_once(cores: int, available: int | None) -> int:
    """One for each core, as far as the memory suffices."""
    return cores if available is None else max(1, min(cores, available // _GUEST_BYTES))


def available_bytes(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """The memory that programs can still use without swapping; None if the kernel does not report it."""
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    available_kb = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(available_kb[0]) * 1024 if available_kb else None


def _check_online(bench: Bench, values: Mapping[str, Any]) -> None:
    """With a CPU offline the others would have its share of the machine's instructions."""
    online = parse_cpus(str(values.get("cpu.online", ""))) or frozenset()
    if bench.machine.clock == VIRTUAL and online and len(online) != bench.machine.cpus:
        reason = f"{len(online)} of the {bench.machine.cpus} CPUs of its guest are online"
        hint = "leave out the boot parameter that keeps the others offline, or change --guest-cpus"
        raise UnfitKernelError(UNUSABLE(what=bench.label, reason=reason, hint=hint))


def _argv(cell: Cell) -> list[str]:
    """The probe's arguments: nothing of the cell's id or place. Samples stay in memory until the cell is
    over."""
    own = {name: value for name, value in cell.parameters.items() if name not in _FORCED}
    return [PROBE, *arguments(cell.test, own), "--stream=stream", "--record=memory", "--quiet"]


def _single(loads: Sequence[str], first_ns: int) -> list[str]:
    return [
        *(PROBE, "cyclic", "--single", "--policy=fifo:80", "--activations=1", f"--first={first_ns}ns"),
        *(f"--load={load}" for load in loads),
        *("--stream=stream", "--record=memory", "--quiet"),
    ]


def _lab_facts(bench: Bench) -> Mapping[str, Any]:
    """Facts that the guest cannot know about itself."""
    kernel = bench.kernel
    return {
        "lab.clock": bench.machine.clock,
        **(bench.machine.guest_cpus.facts() if bench.machine.clock == VIRTUAL else {}),
        "lab.emulator": bench.machine.identity()["version"],
        "lab.arguments": json.dumps(bench.arguments),
        "lab.guest": bench.key,
        "lab.kernel_label": str(
            kernel.pinned.with_parameters(*bench.label.parameters)
            if bench.label.parameters
            else kernel.pinned
        ),
        "lab.kernel_package": " ".join(word for word in (kernel.package, kernel.version) if word),
        "lab.kernel_sha256": kernel.vmlinuz_sha256,
    }


class _Ticks:
    """A guest reports nothing while it measures: its progress follows from the CPU time that it has used,
    relative to the CPU time that it is expected to use."""

    def __init__(self, on_progress: Callable[[Progress], None], expected_s: float) -> None:
        self._on_progress, self._expected_s = on_progress, expected_s
        self._began = time.monotonic()
        self.used_s = 0.0

    def __call__(self, cpu_s: float) -> None:
        self.used_s = cpu_s
        share = min(0.99, cpu_s / self._expected_s)
        self._on_progress(Progress(0, time.monotonic() - self._began, 0, share))
