"""Active tracers, events, probes, perf counters and BPF programs: tracefs, and the descriptors of other
processes.
"""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, late, note, ok, unknown

TITLE = "Tracers and probes"
WHY = (
    "A function tracer lengthens every function of the kernel, an event or a probe the functions to "
    "which it is attached; latency tracers keep interrupts off while they save their worst case."
)
WEIGHT = 90
CAUSES = (Cause.UNKNOWN,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    tracer, events = facts.text("trace.tracer"), facts.values.get("trace.events")
    if tracer is None:
        return unknown(
            facts,
            "trace.tracer",
            "{as_root}, with tracefs mounted: `mount -t tracefs none /sys/kernel/tracing`",
        )
    active: list[str] = []
    if facts.integer("trace.on") != 0:
        if tracer != "nop":
            active.append(f"tracer {tracer}")
        if isinstance(events, list) and events:
            active.append(f"events {', '.join(map(str, events))}")
    instances = facts.values.get("trace.instances")
    if isinstance(instances, list) and instances:
        active.append(f"trace instances {', '.join(map(str, instances))}")
    for key, word in (("trace.kprobes", "kprobes"), ("trace.uprobes", "uprobes")):
        if facts.integer(key):
            active.append(f"{facts.integer(key)} {word}")
    if active:
        return late(
            "{activities:items}",
            "`trace-cmd reset`, or write nop to current_tracer, 0 to events/enable and tracing_on",
            activities=active,
        )
    held = []
    for key, word in (
        ("trace.perf_descriptors", "perf counters"),
        ("trace.bpf_descriptors", "BPF descriptors"),
    ):
        if facts.integer(key):
            held.append(f"{facts.integer(key)} {word}")
    if facts.integer("trace.functions"):
        held.append(f"{facts.integer('trace.functions')} functions are traced or patched")
    if held:
        return note(
            "{resources:all} held by other processes",
            "end `perf`, `bpftrace` and the like; see `bpftool prog`",
            resources=held,
        )
    return ok("none")
