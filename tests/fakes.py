"""A target without a machine, that writes real streams, and the list that its probe would answer with."""

import _thread
import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from howlate.errors import REMEDIED, ExitCode, HowlateError, NotPossibleError, TargetError
from howlate.model.answer import Answer, Command
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell, Plan
from howlate.model.study import Study
from howlate.plan.machines import on_machines, seeded
from howlate.plan.matrix import MOST_CELLS, Machines, Planned, draft_plan
from howlate.plan.matrix import make_plan as plan_of
from howlate.plan.options import arguments
from howlate.system.paths import probe_path
from howlate.targets import Outcome, Progress
from howlate.targets.local import LocalTarget
from store.streams import header
from store.streams import stream as made_stream


def param(
    name: str,
    kind: str,
    default: str = "",
    choices: tuple[str, ...] = (),
    repeated: bool = False,
    scales: bool = False,
) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "default": default,
        "unit": "",
        "choices": list(choices),
        "help": f"the {name}",
        "repeated": repeated,
        "scales": scales,
    }


def timer(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "summary": name,
        "dither": True,
        "late_policies": ["skip", "backlog"],
        "windows": False,
        "available": True,
        "reason": "",
        **changes,
    }


LIST: dict[str, Any] = {
    "probe": "0.1.0",
    "tests": [
        {
            "name": "cyclic",
            "summary": "wake-up latency of a periodic task",
            "needs": "",
            "params": [
                param("timer", "text", "clock_nanosleep"),
                param("period", "duration", "1ms"),
                param("activations", "count", scales=True),
                param("duration", "duration", "10s", scales=True),
                param("policy", "text", "fifo:80"),
                param("explain", "flag", ""),
                param("late-policy", "choice", "skip", ("skip", "backlog", "as-published")),
                param("first", "duration", "1000us"),
                param("dither", "flag"),
                param("seed", "count", "1"),
                param("cpus", "cpus", "0"),
                param("work", "duration"),
                param("deadline", "duration"),
            ],
            "columns": [],
        }
    ],
    "timers": [
        timer("clock_nanosleep"),
        timer("setitimer", dither=False, late_policies=["skip", "as-published"]),
        timer("spin", windows=True),
        timer("io_uring", available=False, reason="this kernel has no io_uring"),
    ],
    "loads": [
        {
            "name": "cpu",
            "summary": "arithmetic",
            "unit": "iterations",
            "target": param("target", "percent", "100"),
            "params": [],
            "held": True,
            "deed": {"name": "cycles", "wanted": 3, "length_ns": 10_000_000, "sleeping": True},
        },
        {
            "name": "disk",
            "summary": "writes",
            "unit": "B",
            "target": param("target", "rate", "10MiB/s", ("max",)),
            "params": [
                param("size", "bytes", "64MiB"),
                param("sync", "bytes", "1MiB"),
                param("direct", "flag"),
            ],
            "alone": ["max"],
            "deed": {"name": "fsyncs", "wanted": 10, "length_ns": 2_000_000, "units": "sync"},
        },
    ],
    "knobs": [
        {"name": "cpu_dma_latency", "summary": "", "values": "us", "available": True, "reason": ""},
        {
            "name": "governor",
            "summary": "",
            "values": "",
            "available": False,
            "reason": "there is no cpufreq",
        },
    ],
    "common": [
        param("stream", "text"),
        param("load", "text", repeated=True),
        param("knob", "text", repeated=True),
        param("quiet", "flag"),
    ],
    "load_common": [
        param("cpus", "cpus", "all", ("same", "other")),
        param("policy", "text", "other"),
        param("nice", "integer"),
        param("duration", "duration"),
    ],
}
FACTS: dict[str, Any] = {
    "facts": 1,
    "values": {"kernel.release": "6.1.0-test", "kernel.boot_id": "b"},
    "missing": {},
}


def capabilities() -> Capabilities:
    return Capabilities.from_json(LIST)


def study(
    settings: Mapping[str, Any] | None = None, axes: Mapping[str, Any] | None = None, **changes: Any
) -> Study:
    """A study of `cyclic` for the list above."""
    return Study(
        id=changes.pop("id", "made"),
        title="made",
        question="?",
        test="cyclic",
        settings={"activations": "100"} if settings is None else settings,
        axes={"load": ("none", "cpu:50")} if axes is None else axes,
        **changes,
    )


_ANSWERS: dict[Command, Answer] = {}


def answer(commands: Sequence[Command]) -> list[Answer]:
    """The real probe's answers, of a machine of which nothing is known; each command is asked about once."""
    new = [command for command in dict.fromkeys(commands) if command not in _ANSWERS]
    if new:
        _ANSWERS.update(zip(new, LocalTarget(probe_path()).answer_elsewhere(new), strict=True))
    return [_ANSWERS[command] for command in commands]


def planned(
    study: Study,
    can: Capabilities,
    labels: Mapping[str, str] | None = None,
    most: int = MOST_CELLS,
    machines: Machines | None = None,
) -> Planned:
    """The plan of a study on these machines, with the real probe's answers."""
    if machines is not None:
        study = on_machines(study, tuple(machines.can))
        study = seeded(study, machines.seeds) if machines.seeds else study
    draft = draft_plan(study, can, most, machines)
    answers = dict(zip(draft.commands, answer(draft.commands), strict=True))
    return plan_of(draft, answers, labels)


def make_plan(
    study: Study,
    can: Capabilities,
    labels: Mapping[str, str] | None = None,
    most: int = MOST_CELLS,
    machines: Machines | None = None,
) -> Plan:
    return planned(study, can, labels, most, machines).plan


def command_of(cell: Cell) -> Command:
    return arguments(cell.test, cell.parameters)


class FakeTarget:
    """Measures nothing, writes a whole stream. `behaviours`, by load: what happens instead, in turn."""

    def __init__(
        self, behaviours: Mapping[str, list[str]] | None = None, not_permitted: Sequence[str] = ()
    ) -> None:
        """`not_permitted`: policies."""
        self.not_permitted = not_permitted
        self.behaviours = {load: list(which) for load, which in (behaviours or {}).items()}
        self.measured: list[str] = []

    @property
    def name(self) -> str:
        return "fake"

    @property
    def machines(self) -> tuple[str, ...]:
        return ("",)

    @property
    def parallel(self) -> int:
        return 1

    @property
    def stream_bytes_most(self) -> int:
        return 0

    @property
    def clock(self) -> str:
        return "real"

    def facts(self, machine: str = "") -> dict[str, Any]:
        return FACTS

    def capabilities(self, machine: str = "") -> Capabilities:
        return capabilities()

    def cost_s(self, cell: Cell) -> float:
        return cell.expected_s

    def config(self, machine: str = "") -> str:
        return ""

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        refused = {f"--policy={policy}": policy for policy in self.not_permitted} | {
            f"--{name}": name for name in self.not_permitted
        }
        whys = [next((refused[word] for word in command if word in refused), "") for command in commands]
        return [
            replace(
                said, refusal=NotPossibleError(REMEDIED(problem=f"{why} is not permitted here", remedy=""))
            )
            if why
            else said
            for said, why in zip(answer(commands), whys, strict=True)
        ]

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        self.measured.append(cell.id)
        known = {p["name"] for p in LIST["tests"][0]["params"]} | {"load", "knob"}
        unknown = [name for name in cell.parameters if name not in known]
        if unknown:
            return Outcome(ExitCode.USAGE, f"unknown option --{unknown[0]}")
        whole = made_stream([1000 + n for n in range(int(str(cell.parameters.get("activations", "100"))))])
        what = (self.behaviours.get(cell.labels.get("load", ""), []) or ["whole"]).pop(0)
        if what == "broken":
            stream.write_bytes(whole[: len(whole) // 2])
            return Outcome(ExitCode.BROKEN, "the probe was ended by SIGKILL")
        if what == "impossible":
            return Outcome(ExitCode.NOT_POSSIBLE, "SCHED_FIFO is not permitted here")
        if what == "garbage":
            stream.write_bytes(b"not a stream")
            return Outcome(ExitCode.DONE)
        if what == "full":
            raise OSError(28, "No space left on device")
        if what == "late":
            stream.write_bytes(
                made_stream([1000] * 9 + [900_000], trailer_changes={"stop_reason": "threshold"})
            )
            return Outcome(ExitCode.FAILED)
        stream.write_bytes(whole)
        try:
            on_progress(Progress(50, 0.05, 1049))
            if what == "interrupt":
                raise KeyboardInterrupt
            on_progress(Progress(100, 0.1, 1099))
        except KeyboardInterrupt:
            stream.write_bytes(made_stream([1000] * 50, trailer_changes={"stop_reason": "stopped"}))
            raise
        return Outcome(ExitCode.DONE)


class FakeLab:
    """Several kernels in virtual time, two cells at once; every kernel has its own latencies.

    `behaviours`, by kernel: what happens instead of a whole cell, in turn; "hang" lasts until `stop`.
    """

    def __init__(
        self,
        kernels: tuple[str, ...] = ("6.1", "6.1-rt"),
        behaviours: Mapping[str, list[str]] | None = None,
        answers: Mapping[str, HowlateError] | None = None,
        parallel: int = 2,
        clock: str = "virtual",
        facts: Mapping[str, str | int] | None = None,
    ) -> None:
        self.machines = kernels
        self.stream_bytes_most = 0
        self.more_facts = {"lab.guest": "1", "lab.emulator": "QEMU 8", **(facts or {})}
        self.parallel = parallel
        self.clock = clock
        self.behaviours = {kernel: list(which) for kernel, which in (behaviours or {}).items()}
        self.answers = dict(answers or {})
        self.measured: list[Cell] = []
        self.threads: set[str] = set()
        self.most = 0
        self._running = 0
        self._hold = threading.Lock()
        self._together = threading.Barrier(parallel)
        self.hanging = threading.Semaphore(0)
        """Released by each cell that hangs."""
        self.stopped = threading.Event()

    @property
    def name(self) -> str:
        return "lab:" + ",".join(self.machines)

    def facts(self, machine: str = "") -> dict[str, Any]:
        if machine in self.answers:
            raise self.answers[machine]
        rt = "-rt" in machine
        values = {
            "kernel.release": f"{machine.partition('[')[0]}-test",
            "kernel.version": f"#1 SMP {'PREEMPT_RT' if rt else 'PREEMPT_DYNAMIC'} Debian 6.1.1-1",
            "kernel.cmdline": machine.partition("[")[2].strip("]"),
            "kernel.realtime": 1 if rt else 0,
            "kernel.config": {"HZ": "250", "PREEMPT_RT": "y" if rt else "n"},
            **self.more_facts,
        }
        return {"facts": 1, "values": values, "missing": {}}

    def capabilities(self, machine: str = "") -> Capabilities:
        if machine.startswith("5.10"):
            return Capabilities.from_json(
                {**LIST, "timers": [*LIST["timers"][:2], NO_SPIN, LIST["timers"][3]]}
            )
        return capabilities()

    def cost_s(self, cell: Cell) -> float:
        return cell.expected_s

    def config(self, machine: str = "") -> str:
        rt = "-rt" in machine
        return f"CONFIG_HZ=250\n{'CONFIG_PREEMPT_RT=y' if rt else 'CONFIG_PREEMPT_DYNAMIC=y'}\n"

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        return answer(commands)

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        pass

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        if self.stopped.is_set():
            raise KeyboardInterrupt
        with self._hold:
            self.measured.append(cell)
            self.threads.add(threading.current_thread().name)
            self._running += 1
            self.most = max(self.most, self._running)
            what = (self.behaviours.get(cell.machine) or ["whole"]).pop(0)
        try:
            return self._measure(cell, stream, on_progress, what)
        finally:
            with self._hold:
                self._running -= 1

    def _measure(
        self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None], what: str
    ) -> Outcome:
        on_progress(Progress(50, 0.05, 1049))
        if what == "together":  # only with another cell at the same time does this go on
            self._together.wait(120)
        if what == "panic":
            return Outcome(
                ExitCode.BROKEN, "the guest panicked\nKernel panic - not syncing: made\n---[ end ]---"
            )
        if what == "refused":
            raise NotPossibleError(REMEDIED(problem="this guest cannot", remedy=""))
        if what == "broken":
            raise TargetError(REMEDIED(problem="the guest is gone", remedy=""))
        if what in ("hang", "interrupt"):
            if what == "interrupt":
                for _ in range(self.parallel - 1):
                    self.hanging.acquire()
                _thread.interrupt_main()
            else:
                self.hanging.release()
            self.stopped.wait(120)
            stream.write_bytes(made_stream([1000] * 50, trailer_changes={"stop_reason": "stopped"}))
            raise KeyboardInterrupt
        own = {name: cell.parameters[name] for name in ("deadline",) if name in cell.parameters}
        parameters = {"parameters": header()["parameters"] | own}
        stream.write_bytes(made_stream(self.latencies(cell), header_changes=parameters))
        return Outcome(ExitCode.DONE)

    def latencies(self, cell: Cell) -> list[int]:
        """The same for the same cell: from its kernel, its load and its parameters alone."""
        n = int(str(cell.parameters.get("activations", "100")))
        typical = 4_000 if "-rt" in cell.machine else 6_000
        words = [cell.machine, *(f"{k}={v}" for k, v in sorted(cell.parameters.items()))]
        late = int.from_bytes(hashlib.sha256(" ".join(words).encode()).digest()[:2], "big")
        return [typical + k for k in range(n - 1)] + [typical * 10 + late]


NO_SPIN = timer("spin", available=False, reason="this kernel has no such timer")


class ProbeLab(FakeLab):
    """Kernels that are all this one: the real probe, two at once."""

    def __init__(self, kernels: tuple[str, ...] = ("6.1", "6.1-rt"), **more: Any) -> None:
        super().__init__(kernels, **more)
        self.local = LocalTarget(probe_path())

    def facts(self, machine: str = "") -> dict[str, Any]:
        return self.local.facts()

    def capabilities(self, machine: str = "") -> Capabilities:
        return self.local.capabilities()

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        return self.local.run_cell(cell, stream, on_progress)

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        return self.local.answer(commands)

    def stop(self) -> None:
        self.local.stop()

    def close(self) -> None:
        pass
