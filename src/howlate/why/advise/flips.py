"""Flips: for each knob of a machine, the value that `howlate advise` tries in place of the one in force, and the
study that measures what each buys. A pure function of the machine's facts and of its probe's list.

A knob with two values is flipped to the other one, also where the doctor is content with the first: the measurement
decides, not the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities, KnobKind
from howlate.model.decode import suggestion
from howlate.model.facts import Facts, format_cpus
from howlate.model.finding import Aim
from howlate.model.preemption import preempt_mode
from howlate.model.study import Order, Part, Study, Value
from howlate.settings._check import bracketed, measuring_cpus, other_cpus
from howlate.why.advise.flip import ADVISE, AGAIN, KNOB, START, TOGETHER, Flip, knobs_of
from howlate.words.statement import Statement, rule

NOT_TRIED = rule("flip.not-tried", "the knob {knob} was not tried: {reason}")
NO_VALUE = rule("flip.no-value", "howlate knows no value to try; name one with --knobs {knob}=VALUE")
IN_FORCE = rule("flip.in-force", "{value} is in force already")
ONLY_NAMED = rule(
    "flip.only-named",
    "it divides the whole machine while a cell is measured; to try it name it, as in --knobs {knob}",
)
SHIFTS = rule(
    "flip.shifts",
    "it shifts the figures of a real-time core and makes nothing less late; to try it name it, as in --knobs {knob}",
)
NO_OTHER_CPU = rule("flip.no-other-cpu", "there is no other CPU than the measuring one")
NO_COUNTER = rule("flip.no-counter", "the processor's own counter is not among the clock sources")
CPUSET_OF_V2 = rule("flip.cpuset-of-v2", "with cgroup v2 a thread cannot enter a cpuset alone")
UNKNOWN_KNOB = rule("flip.unknown-knob", '"{name}" is not a knob', remedy="{hint}")
NO_KNOB = rule("flip.no-knob", '"{text}" names no knob', remedy="write --knobs thp,irq_affinity or thp=never")
TWICE = rule("flip.twice", "--knobs names {knob} twice", remedy="name each value once")


@dataclass(frozen=True)
class NotTried:
    """A knob without a flip, and why."""

    knob: str
    reason: Statement

    @property
    def statement(self) -> Statement:
        return NOT_TRIED(knob=self.knob, reason=self.reason)


@dataclass(frozen=True)
class Flips:
    """What is tried on a machine, and what is not."""

    tried: tuple[Flip, ...]
    not_tried: tuple[NotTried, ...]


def flips_of(can: Capabilities, facts: Facts, aim: Aim, named: str = "") -> Flips:
    """The flips of a machine. `named`: the user's choice, "thp,rt_throttling=off"; "" for every knob."""
    kinds = {kind.name: kind for kind in can.knobs}
    wanted = parse_knobs(named) if named else [Flip(name, "") for name in kinds]
    tried, not_tried = [], []
    for flip in wanted:
        if flip.knob not in kinds:
            raise UsageError(UNKNOWN_KNOB(name=flip.knob, hint=suggestion(flip.knob, kinds)))
        value, why = _value(kinds[flip.knob], flip.value, facts, aim)
        if why is None and not named and flip.knob in ONLY_IF_NAMED:
            why = ONLY_IF_NAMED[flip.knob](knob=flip.knob)
        if why is not None:
            not_tried.append(NotTried(flip.knob, why))
        else:
            tried.append(Flip(flip.knob, value))
    return Flips(tuple(tried), tuple(not_tried))


def parse_knobs(text: str) -> list[Flip]:
    """`thp,irq_affinity=0,2`: a piece that begins with a digit goes on with the list before it."""
    pieces: list[str] = []
    for piece in text.split(","):
        if pieces and "=" in pieces[-1] and piece[:1].isdigit():
            pieces[-1] += f",{piece}"
        else:
            pieces.append(piece.strip())
    flips = []
    for piece in pieces:
        knob, equals, value = piece.partition("=")
        if not knob or (equals and not value):
            raise UsageError(NO_KNOB(text=piece))
        flip = Flip(knob, value)
        if flip in flips:
            raise UsageError(TWICE(knob=piece))
        flips.append(flip)
    return flips


def _value(kind: KnobKind, given: str, facts: Facts, aim: Aim) -> tuple[str, Statement | None]:
    """The value to try, or why there is none."""
    if not kind.available:
        return "", Statement.verbatim(kind.reason.rstrip("."))
    if kind.name == "cpuset" and facts.text("cgroup.version") == "v2":
        return "", CPUSET_OF_V2()
    if given:
        return given, None
    if kind.name not in CANDIDATES:
        return "", NO_VALUE(knob=kind.name)
    values = CANDIDATES[kind.name](facts, aim)
    if not values:
        return "", NO_COUNTER() if kind.name == "clock_source" else NO_OTHER_CPU()
    in_force = _in_force(kind.name, facts, aim)
    free = [value for value in values if value not in in_force]
    return (free[0], None) if free else ("", IN_FORCE(value=values[0]))


def _always(*values: str) -> Callable[[Facts, Aim], tuple[str, ...]]:
    return lambda _facts, _aim: values


def _away(facts: Facts, aim: Aim) -> tuple[str, ...]:
    return ("away",) if other_cpus(facts, aim) else ()


def _measuring(facts: Facts, aim: Aim) -> tuple[str, ...]:
    return (format_cpus(measuring_cpus(facts, aim)),) if other_cpus(facts, aim) else ()


def _counters(facts: Facts, _aim: Aim) -> tuple[str, ...]:
    """The processor's own counter, if it is among the clock sources."""
    available = (facts.text("clock.available") or "").split()
    return tuple(name for name in ("tsc", "arch_sys_counter") if name in available)


CANDIDATES: Mapping[str, Callable[[Facts, Aim], tuple[str, ...]]] = {
    "c_states": _always("0"),
    "clock_source": _counters,
    "compaction": _always("0"),
    "core_gravity": _always("0"),
    "cpu_dma_latency": _always("0"),
    "cpuset": _measuring,
    "fair_server": _always("off"),
    "governor": _always("performance"),
    "irq_affinity": _away,
    "ksm": _always("off"),
    "mce_polling": _always("0"),
    "nmi_watchdog": _always("off", "on"),
    "numa_balancing": _always("off"),
    "preemption": _always("full"),
    "rcu_normal": _always("on"),
    "rt_throttling": _always("off", "950000"),
    "soft_watchdog": _always("off"),
    "stat_interval": _always("120"),
    "thp": _always("never", "always"),
    "timer_migration": _always("off", "on"),
    "turbo": _always("off", "on"),
    "workqueue_cpumask": _away,
}
"""By knob the values worth trying, the one that usually helps first. The first that is not in force is tried; none
where the knob needs a CPU that does not measure, or a counter that is not offered."""


ONLY_IF_NAMED = {"cpuset": ONLY_NAMED, "core_gravity": SHIFTS}
"""Knobs that are tried only if the user names them, and why."""


def _in_force(knob: str, facts: Facts, aim: Aim) -> Collection[str]:
    """The candidates that the facts show to be in force already."""
    words = {
        "nmi_watchdog": _switch(facts.integer("watchdog.nmi")),
        "timer_migration": _switch(facts.integer("sched.timer_migration")),
        "thp": bracketed(facts.text("memory.thp")),
        "cpu_dma_latency": _text(facts.integer("cpu.dma_latency_us")),
        "rt_throttling": _text(facts.integer("sched.rt_runtime_us")).replace("-1", "off"),
        "governor": _same(row.get("governor") for row in facts.table("cpu.frequency") or ()),
        "turbo": facts.text("cpu.turbo"),
        "c_states": _awake(facts),
        "clock_source": facts.text("clock.source"),
        "compaction": _text(facts.integer("memory.compaction")),
        "fair_server": _no_server(facts),
        "ksm": "" if facts.integer("memory.ksm") in (None, 1) else "off",
        "mce_polling": facts.text("mce.check_interval_s"),
        "numa_balancing": _switch(facts.integer("sched.numa_balancing")),
        "preemption": (preempt_mode(facts) or ("",))[0],
        "rcu_normal": _switch(facts.integer("sched.rcu_normal")),
        "soft_watchdog": _switch(facts.integer("watchdog.soft")),
        "stat_interval": _text(facts.integer("memory.stat_interval_s")),
        "workqueue_cpumask": _kept_away(facts.text("workqueue.cpumask"), facts, aim),
    }
    word = words.get(knob)
    return () if not word else (word,)


def _switch(value: int | None) -> str:
    return "" if value is None else "on" if value else "off"


def _text(value: int | None) -> str:
    return "" if value is None else str(value)


def _no_server(facts: Facts) -> str:
    """ "off" if no CPU keeps time for ordinary tasks."""
    rows = facts.table("sched.fair_server") or ()
    return "off" if rows and all(row.get("runtime_ns") == 0 for row in rows) else ""


def _same(values: Iterable[object]) -> str:
    """The value, if all have the same."""
    found = set(values)
    return str(found.pop()) if len(found) == 1 else ""


def _awake(facts: Facts) -> str:
    """ "0" if no idle state with a way out longer than that is left."""
    states = facts.table("cpu.idle_states") or ()
    return "0" if states and all(s.get("disabled") or not s.get("latency_us") for s in states) else ""


def _kept_away(mask: str | None, facts: Facts, aim: Aim) -> str:
    """ "away" if a mask holds no measuring CPU."""
    try:
        bits = int((mask or "").replace(",", ""), 16)
    except ValueError:
        return ""
    return "" if any(bits >> cpu & 1 for cpu in measuring_cpus(facts, aim)) else "away"


@dataclass(frozen=True)
class Measuring:
    """How a machine is measured, with each flip and without: the same test, settings and loads."""

    test: str
    settings: Mapping[str, Value]
    """Without loads. Knobs among them are in force in every cell."""
    loads: tuple[str, ...]


def study_of(
    measuring: Measuring, flips: Sequence[Flip], pairs: int, seed: int, together: Sequence[Flip] = (),
    again: bool = True,
) -> Study:  # fmt: skip
    """A part for the machine as it is and one for each flip; each turn measures all of them, in an order drawn from
    the seed. `together`: then also all of these at once; `again`: beside the start measured anew."""
    sides = [(START, "As it is", ()), *((flip.part, flip.text, (flip,)) for flip in flips)]
    if together:
        sides += [(AGAIN, "As it is, once more", ())] if again else []
        sides += [(TOGETHER, " ".join(flip.text for flip in together), tuple(together))]
    return Study(
        ADVISE,
        "Knobs, flipped one at a time",
        "What does each knob buy?",
        parts=tuple(
            Part(part, title, measuring.test, _with(measuring.settings, flipped), {"load": measuring.loads})
            for part, title, flipped in sides
        ),
        order=Order("random", seed, pairs),
    )


def _with(settings: Mapping[str, Value], flips: Sequence[Flip]) -> dict[str, Value]:
    """The settings with these knobs, each in place of the value that the settings have for it."""
    kept = knobs_of(settings)
    names = {flip.knob for flip in flips}
    knobs = (*(text for text in kept if text.partition("=")[0] not in names), *(flip.text for flip in flips))
    rest = {name: value for name, value in settings.items() if name != KNOB}
    return {**rest, KNOB: knobs} if knobs else rest
