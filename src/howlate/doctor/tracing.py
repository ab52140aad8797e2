"""Active tracers, events, probes, perf counters and BPF programs: tracefs, and the descriptors of other
processes.
"""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import UNKNOWN, Judgement, late, note, ok, unknown
from howlate.words.statement import Statement, rule

ACTIVE = rule(
    "doctor.tracing.active",
    "{activities:items}",
    remedy="`trace-cmd reset`, or write nop to current_tracer, 0 to events/enable and tracing_on",
)
TRACER = rule("doctor.tracing.tracer", "tracer {name}")
EVENTS = rule("doctor.tracing.events", "events {names}")
INSTANCES = rule("doctor.tracing.instances", "trace instances {names}")
PROBES = rule("doctor.tracing.probes", "{count} {kind}")
HELD = rule(
    "doctor.tracing.held",
    "{resources:all} held by other processes",
    remedy="end `perf`, `bpftrace` and the like; see `bpftool prog`",
)
NONE = rule("doctor.tracing.none", "none")
NOT_KNOWN = rule(
    "doctor.tracing.not-known",
    UNKNOWN,
    remedy="{as_root}, with tracefs mounted: `mount -t tracefs none /sys/kernel/tracing`",
)

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
        return unknown(facts, "trace.tracer", NOT_KNOWN)
    active: list[Statement] = []
    if facts.integer("trace.on") != 0:
        if tracer != "nop":
            active.append(TRACER(name=tracer))
        if isinstance(events, list) and events:
            active.append(EVENTS(names=events))
    instances = facts.values.get("trace.instances")
    if isinstance(instances, list) and instances:
        active.append(INSTANCES(names=instances))
    for key, word in (("trace.kprobes", "kprobes"), ("trace.uprobes", "uprobes")):
        if facts.integer(key):
            active.append(PROBES(count=facts.integer(key), kind=word))
    if active:
        return late(ACTIVE(activities=active))
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
        return note(HELD(resources=held))
    return ok(NONE())
