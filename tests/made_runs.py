"""Runs around made cells, for tests of the report."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from howlate.model.bins import CellBins
from howlate.model.loaded import CellContent, RunContent
from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.model.study import Study
from howlate.model.summary import CellSummary
from made_cells import LOADS, made_cell

FACTS: dict[str, Any] = {
    "facts": 1,
    "values": {
        "kernel.release": "6.1.0-18-rt-amd64",
        "kernel.version": "#1 SMP PREEMPT_RT Debian 6.1.76-1",
        "kernel.cmdline": "root=/dev/sda1 quiet isolcpus=1",
        "cpu.model": "An ordinary processor",
        "cpu.flags": "constant_tsc hypervisor",
        "cpu.online": "0-1",
        "machine.hypervisor": "KVMKVMKVM",
        "memory.total_kib": 8 << 20,
        "kernel.config": {"HZ": "250"},
    },
    "missing": {},
}
FINDINGS: tuple[dict[str, Any], ...] = (
    {
        "check": "rt_throttling",
        "level": "late",
        "title": "Real-time tasks are throttled",
        "found": "sched_rt_runtime_us is 950000 of 1000000.",
        "why": "A real-time task that needs more than 95 % of a CPU is stopped for the rest of each second.",
        "change": "sysctl kernel.sched_rt_runtime_us=-1",
        "weight": 5,
    },
    {
        "check": "timer_slack",
        "level": "note",
        "title": "Ordinary tasks have a timer slack of 50 us",
        "found": "timerslack_ns is 50000.",
        "why": "Their wake-ups may be put off by so much.",
        "change": "",
        "weight": 1,
    },
    {
        "check": "swap",
        "level": "ok",
        "title": "No swap",
        "found": "SwapTotal is 0.",
        "why": "Nothing can be swapped out.",
        "change": "",
        "weight": 0,
    },
)
HEADER: dict[str, Any] = {
    "parameters": {
        "period": "1ms",
        "timer": "clock_nanosleep",
        "policy": "fifo:80",
        "dither": True,
        "seed": "42",
    },
    "in_force": {
        "threads": [{"cpu": 1, "policy": "fifo", "priority": 80, "timer_slack_ns": 50_000}],
        "memory_lock": "all",
        "recorder": {"place": "on a CPU of its own", "policy": "fifo", "priority": 79, "record": "stream"},
    },
}


def made_run(
    cells: Sequence[tuple[CellSummary, CellBins]], run_id: str = "20261121T104000-check", **changes: Any
) -> RunContent:
    """A run of these cells, with facts, findings and parameters."""
    plan = Plan(tuple(Cell(s.id, s.test, {}, s.labels, 1, 12.0) for s, _ in cells))
    study = Study("check", "A first look", "How late can this Linux be?", "cyclic")
    run = Run(
        run_id,
        "2026-11-21T10:40:00Z",
        study,
        plan,
        "local",
        FACTS,
        FINDINGS,
        versions={"howlate": "0.1", "probe": "0.1"},
    )
    trailer = {"duration_ns": 12_000_000_000, "steal_ns": 31_000_000}
    contents = tuple(CellContent(s, b, HEADER, trailer) for s, b in cells)
    return RunContent(replace(run, **changes), contents)


def five_cells(n: int = 12_000) -> list[tuple[CellSummary, CellBins]]:
    """The loads of the built-in study."""
    return [made_cell(load, seed, n)[:2] for seed, load in enumerate(LOADS, 1)]
