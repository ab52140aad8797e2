"""The lab: kernels as guests on this machine, in virtual time (docs/lab/), or in real time where there is KVM."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from howlate.errors import DamagedError, ExitCode, HowlateError, NotPossibleError, TargetError, UsageError
from howlate.lab import kernels
from howlate.lab.apt import AptArchive
from howlate.lab.archive import Archive, Say, silent
from howlate.lab.bench import PROBE, Bench, Line
from howlate.lab.cache import cache_folder
from howlate.lab.cost import Costs
from howlate.lab.kernel import Kernel
from howlate.lab.label import Label, split_own
from howlate.lab.machine import Machine
from howlate.lab.needed import Needed, built, needed
from howlate.lab.own import own_kernel
from howlate.lab.own_needs import check_own
from howlate.lab.parameters import NOT_CHECKED, check_in_force
from howlate.lab.results import Results
from howlate.lab.scratch import PREFIX
from howlate.lab.snapshot import Snapshots
from howlate.lab.tidy import tidy
from howlate.lab.window import ROOM
from howlate.model.capabilities import Capabilities, TestKind
from howlate.model.decode import parse_json
from howlate.model.plan import Cell
from howlate.model.run import CLOCKS, REAL, VIRTUAL
from howlate.places import guest_probe_path, make_ready
from howlate.plan import planned_length
from howlate.plan.check import find_test
from howlate.plan.cost import CELL_S, cell_cost_s, limit_s, virtual_limit_s
from howlate.plan.matrix import ends
from howlate.store.files import storing
from howlate.store.scratch import MEMORY, remove_stale
from howlate.targets._target import (
    Checked,
    Outcome,
    Progress,
    arguments,
    checks_of,
    commands,
    outcome_of,
    sentence_of,
)

SUMMARY = "kernels as guests on this machine, in virtual time"
ASK_S = 60.0
"""CPU time for facts and list, which take 0.4 s of it."""
_GUEST_BYTES = 700 << 20
"""Its memory of 512 MiB, its window, and QEMU's own."""
REAL_LIMIT_S, REAL_LIMIT = 300.0, 2.5
"""In real time a guest is ended after so long, and so many times the length of its cell."""
_ASKED_AT_ONCE = 500
"""Cells whose options a guest checks in one job."""
_FORCED = ("record", "quiet", "progress", "stream", "end-with-parent", "json")


def open_target(argument: str, say: Say = silent) -> LabTarget:
    """`lab:6.1-rt`, or several kernels with commas."""
    return open_lab(argument, say=say)


def open_lab(
    names: str,
    *,
    own: Sequence[Path] = (),
    modules: Sequence[Path] = (),
    clock: str = VIRTUAL,
    jobs: int = 0,
    cached: bool = True,
    cpus: int = 1,
    archive: Archive | None = None,
    say: Say = silent,
    cache: Path | None = None,
) -> LabTarget:
    """The lab with these kernels: labels with commas (`all`: one of every series), and files of the user's own
    (`PATH` or `NAME=PATH`, each also with `[parameters]`).

    `modules`: folders of modules that are built for each kernel and loaded before each cell.
    `jobs`: guests at once, 0 for one a core of the host. `cached`: whether results may come from the cache.
    """
    if clock not in CLOCKS:
        raise UsageError(f'there is no clock "{clock}"', f"choose one of {', '.join(CLOCKS)}")
    if jobs < 0:
        raise UsageError(f"{jobs} guests at once make no sense", "leave out --jobs for one a core")
    cache = cache or cache_folder()
    archive = archive or AptArchive(cache / "apt", say=say)
    labels = kernels.named(names, lambda: archive) if names or not own else ()
    return LabTarget(labels, own, modules, clock, jobs, cached, cpus, archive, say, cache)


class LabTarget:
    """Its machines are the kernels; each cell runs in a guest of its own."""

    def __init__(
        self,
        labels: Sequence[Label],
        own: Sequence[Path],
        modules: Sequence[Path],
        clock: str,
        jobs: int,
        cached: bool,
        cpus: int,
        archive: Archive,
        say: Say,
        cache: Path,
    ) -> None:
        self._clock, self._jobs, self._cpus = clock, jobs, cpus
        self._archive, self._say, self._cache = archive, say, cache
        tidy(cache)
        remove_stale(MEMORY, PREFIX)  # what a killed howlate left of its guests
        self._costs = Costs(cache / "costs.json")
        self._can: dict[str, Capabilities] = {}
        self._results = Results(cache / "results", not cached, say)
        self._snapshots = Snapshots(cache / "snapshots")
        self._stopped = threading.Event()
        self._hold = threading.Lock()
        self._benches: dict[str, Bench] = {}
        self._answers: dict[str, list[Line]] = {}
        self._folders = tuple(modules)
        self._loads: dict[str, tuple[tuple[str, ...], ...]] = {}
        """By kernel, the lines that load the modules of these folders."""
        self._tests: dict[str, dict[str, TestKind]] = {}
        self._needed: dict[tuple[str, tuple[str, ...], tuple[str, ...]], tuple[Bench, Needed]] = {}
        self._labels: dict[str, Label] = {str(label): label for label in labels}
        for arch in sorted({label.arch for label in self._labels.values()}):
            make_ready(arch)  # before anything is fetched
            Machine.of(arch, clock, cpus).emulator()
        for path in own:
            label, kernel = own_kernel(str(path), cache)
            if str(label) in self._labels:
                raise UsageError(
                    f"two kernels are called {label}",
                    f"give one of them another name: --kernel other={split_own(str(path))[1]}",
                )
            check_own(kernel, say)
            make_ready(label.arch)
            self._labels[str(label)] = label
            self._benches[str(label)] = self._bench_of(label, kernel)

    @property
    def name(self) -> str:
        return "lab" + (f":{','.join(self._labels)}" if self._labels else "")

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(self._labels)

    @cached_property
    def parallel(self) -> int:
        """In real time guests would disturb each other. Once: what they take themselves counts not."""
        if self._clock == REAL:
            return 1
        return self._jobs or guests_at_once(len(os.sched_getaffinity(0)), available_bytes())

    @property
    def stream_bytes_most(self) -> int:
        return ROOM

    @property
    def clock(self) -> str:
        return self._clock

    def facts(self, machine: str = "") -> dict[str, Any]:
        bench = self._bench(machine)
        if self._clock == REAL:
            bench.try_real_time()
        facts = self._ask(bench, 0, "facts")
        values = facts.get("values")
        if isinstance(values, dict):
            values.update(_lab_facts(bench))
            not_checked = check_in_force(bench.label, values, bench.kernel.vmlinuz)
            values.update({NOT_CHECKED: " ".join(not_checked)} if not_checked else {})
        return facts

    def capabilities(self, machine: str = "") -> Capabilities:
        found = Capabilities.from_json(self._ask(self._bench(machine), 1, "list"))
        self._tests[machine] = {test.name: test for test in found.tests}
        self._can[machine] = found
        return found

    def config(self, machine: str = "") -> str:
        path = self._bench(machine).kernel.config_path
        return path.read_text(encoding="utf-8", errors="replace") if path is not None else ""

    def checked(self, cells: Sequence[Cell]) -> list[Checked]:
        """Asks a guest of each kernel that has none of the modules and devices which cells may need: what such a cell
        lacks there, its own guest may have."""
        found: dict[int, Checked] = {}
        for machine in dict.fromkeys(cell.machine for cell in cells):
            its = [number for number, cell in enumerate(cells) if cell.machine == machine]
            for some in (its[i : i + _ASKED_AT_ONCE] for i in range(0, len(its), _ASKED_AT_ONCE)):
                found |= dict(zip(some, self._checked(machine, [cells[n] for n in some]), strict=True))
        return [found[number] for number in range(len(cells))]

    def _checked(self, machine: str, cells: Sequence[Cell]) -> list[Checked]:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        (line,) = self._bench(machine).run([(PROBE, "plan", *commands(cells))], ASK_S)
        if line.status != "0":
            said = sentence_of(line.stderr, line.code)
            raise TargetError(f"`howlate-probe plan` failed in the guest {machine}: {said}")
        checks = checks_of(line.stdout, len(cells), f"in the guest {machine}")
        return [
            Checked(None, check.warnings)
            if isinstance(check.refusal, NotPossibleError) and self._has_needs(cell)
            else check
            for cell, check in zip(cells, checks, strict=True)
        ]

    def _has_needs(self, cell: Cell) -> bool:
        """Whether its guest gets modules or devices that the one without a cell has not."""
        test = self._tests.get(cell.machine, {}).get(cell.test)
        loads = cell.parameters.get("load", ())
        return bool(
            self._folders
            or self._bench(cell.machine).lines_for(loads if isinstance(loads, tuple) else (str(loads),))
            or (
                test
                and (test.used(test.modules, cell.parameters) or test.used(test.devices, cell.parameters))
            )
        )

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        pass  # what it keeps is in the cache

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        if self._stopped.is_set():
            raise KeyboardInterrupt
        bench, modules = self._bench_for(cell)
        before = self._before(cell, bench, modules)
        can = self._can[cell.machine]
        length = planned_length(cell, can)
        _, rows = ends(cell.parameters, find_test(cell.test, can), can)
        ticks = _Ticks(on_progress, cell_cost_s(cell, length) - CELL_S, self._costs.of(cell))
        limit = limit_s(length) if self._clock == VIRTUAL else REAL_LIMIT_S + REAL_LIMIT * length.most_s
        virtual_s = virtual_limit_s(cell, length, rows)
        lines = bench.run([*before, _argv(cell)], limit, ticks, virtual_s)
        if ticks.used_s and self._clock == VIRTUAL:
            self._costs.learn(cell, ticks.model_s, ticks.used_s - CELL_S)
        for argv, line in zip(before, lines, strict=False):
            if line.status != "0":
                said = sentence_of(line.stderr, 1)
                return Outcome(ExitCode.NOT_POSSIBLE, f"`{' '.join(argv)}` failed in the guest: {said}")
        measured = lines[-1]
        outcome = outcome_of(measured.code, measured.stderr)
        if outcome.exit_code is ExitCode.NOT_POSSIBLE and modules.absent:
            outcome = replace(outcome, message="\n".join([outcome.message, *modules.absent]))
        data = measured.files.get("stream")
        if data is None and outcome.measured:
            raise TargetError(f"the guest {cell.machine} left no stream")
        if data is not None:
            with storing(stream):
                stream.write_bytes(data)
        return outcome

    def _before(self, cell: Cell, bench: Bench, modules: Needed) -> list[tuple[str, ...]]:
        """The lines of a job before its cell."""
        loads = cell.parameters.get("load", ())
        before = [
            *bench.lines_for(loads if isinstance(loads, tuple) else (str(loads),)),
            *self._loads[str(bench.label)],
        ]
        return before + [line for line in modules.lines if line not in before]

    def cost_s(self, cell: Cell) -> float:
        if self._clock == REAL:
            return cell.expected_s
        if self._is_kept(cell):
            return 0.0
        return CELL_S + max(0.0, cell.expected_s - CELL_S) * self._costs.of(cell)

    def _is_kept(self, cell: Cell) -> bool:
        """Whether its result is in the cache. Of a guest with modules of its own that is not looked at: they may have
        to be fetched for it."""
        bench = self._benches.get(cell.machine)
        test = self._tests.get(cell.machine, {}).get(cell.test)
        if bench is None or test is None:
            return False
        if test.used(test.modules, cell.parameters) or test.used(test.devices, cell.parameters):
            return False
        with suppress(HowlateError):
            return bench.holds([*self._before(cell, bench, Needed()), _argv(cell)])
        return False

    def _ask(self, bench: Bench, number: int, what: str) -> dict[str, Any]:
        """Facts and list are one job, asked once: an answer of both costs one guest, also without a cache."""
        if self._stopped.is_set():
            raise KeyboardInterrupt
        name = str(bench.label)
        if name not in self._answers:
            self._answers[name] = bench.run([(PROBE, "facts", "--json"), (PROBE, "list", "--json")], ASK_S)
        line = self._answers[name][number]
        if line.status != "0":
            said = sentence_of(line.stderr, line.code)
            raise TargetError(f"`howlate-probe {what}` failed in the guest {bench.label}: {said}")
        text = line.stdout.decode("utf-8", "replace")
        try:
            return dict(parse_json(text, f"`howlate-probe {what} --json`", TargetError).values)
        except DamagedError as problem:
            raise TargetError(problem.message) from None

    def _bench(self, machine: str) -> Bench:
        """The bench of a machine; its kernel is fetched if it is not in the cache."""
        name = machine or next(iter(self._labels))
        if name not in self._labels:
            raise UsageError(f"{name} is not one of this lab's kernels ({', '.join(self._labels)})")
        with self._hold:
            if self._stopped.is_set():  # perhaps while another kernel was fetched
                raise KeyboardInterrupt
            if name not in self._benches:
                label = self._labels[name]
                kernel = kernels.get(label, self._archive, self._cache, say=self._say)
                self._benches[name] = self._bench_of(label, kernel)
            return self._benches[name]

    def _bench_for(self, cell: Cell) -> tuple[Bench, Needed]:
        """The bench of a cell: a guest of its own kind where the test can use modules or devices of its own."""
        bench = self._bench(cell.machine)
        if cell.machine not in self._tests:
            self.capabilities(cell.machine)
        test = self._tests[cell.machine].get(cell.test)
        names = test.used(test.modules, cell.parameters) if test else ()
        devices = test.used(test.devices, cell.parameters) if test else ()
        if not names and not devices:
            return bench, Needed()
        with self._hold:
            if self._stopped.is_set():
                raise KeyboardInterrupt
            key = (cell.machine, names, devices)
            if key not in self._needed:
                found = needed(names, bench.label, bench.kernel, self._archive, self._cache, self._say)
                machine = replace(bench.machine, devices=(*bench.machine.devices, *devices))
                extra = {**bench.extra, **found.files}
                self._needed[key] = (replace(bench, machine=machine, extra=extra), found)
            return self._needed[key]

    def _bench_of(self, label: Label, kernel: Kernel) -> Bench:
        machine = Machine.of(label.arch, self._clock, self._cpus)
        probe = guest_probe_path(label.arch).read_bytes()
        own = built(self._folders, label, kernel, self._archive, self._cache, self._say)
        self._loads[str(label)] = own.lines
        return Bench(
            label,
            kernel,
            machine,
            probe,
            self._cache,
            self._snapshots,
            self._results,
            self._stopped,
            own.files,
            self._say,
        )


def guests_at_once(cores: int, available: int | None) -> int:
    """One a core, as far as the memory reaches."""
    return cores if available is None else max(1, min(cores, available // _GUEST_BYTES))


def available_bytes(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """What programs can still have without swapping; None if the kernel does not say."""
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def _argv(cell: Cell) -> list[str]:
    """What the probe is called with: nothing of the cell's id or place. Samples stay in memory until it is over."""
    own = {name: value for name, value in cell.parameters.items() if name not in _FORCED}
    return [PROBE, *arguments(replace(cell, parameters=own)), "--stream=stream", "--record=memory", "--quiet"]


def _lab_facts(bench: Bench) -> Mapping[str, Any]:
    """What the guest cannot know of itself."""
    kernel = bench.kernel
    return {
        "lab.clock": bench.machine.clock,
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
    """A guest says nothing of itself while it measures: how far it is follows from the CPU time that it has used, out
    of what it is expected to use."""

    def __init__(self, on_progress: Callable[[Progress], None], model_s: float, factor: float) -> None:
        self._on_progress, self.model_s = on_progress, model_s
        self._expected_s = CELL_S + model_s * factor
        self._began = time.monotonic()
        self.used_s = 0.0

    def __call__(self, cpu_s: float) -> None:
        self.used_s = cpu_s
        share = min(0.99, cpu_s / self._expected_s)
        self._on_progress(Progress(0, time.monotonic() - self._began, 0, share))
