"""Whether a plan's cells last long enough for what their loads do: a cell that is over before the load's first fsync
was not under that load."""

from __future__ import annotations

from dataclasses import dataclass

from howlate.model.capabilities import Capabilities, LoadKind
from howlate.model.plan import Plan
from howlate.model.study import PART
from howlate.model.units import parse_bytes, parse_count, parse_percent, parse_rate
from howlate.plan.check import find_test, load_options, load_specs
from howlate.plan.matrix import ends


@dataclass(frozen=True)
class Deeds:
    """How often a load does what it does in a cell."""

    load: LoadKind
    many: float
    supposed_ns: float = 0.0
    """Where neither target nor load fixes the rate: what one deed is supposed to take."""

    @property
    def sentence(self) -> str:
        deed = self.load.deed
        made = f"{int(self.many)} {deed.name} in that time"
        if self.supposed_ns:
            made = f"about {made} where one takes {_lasting(self.supposed_ns / 1e9)}"
        return f"makes {made}, {deed.wanted} at least make a load"


def too_short(plan: Plan, capabilities: Capabilities) -> tuple[str, ...]:
    """A sentence for each load and length of cells that has no room for what the load does."""
    found: dict[tuple[str, str, float], set[str]] = {}
    for cell in plan.cells:
        if cell.impossible:
            continue
        seconds, _ = ends(cell.parameters, find_test(cell.test, capabilities), capabilities)
        for spec in load_specs(cell.parameters.get("load", ())):
            key = (cell.labels.get(PART, ""), spec, seconds)
            found.setdefault(key, set()).add(cell.labels.get("period", ""))
    said = []
    for (part, spec, seconds), periods in found.items():
        deeds = deeds_in(spec, seconds, capabilities)
        if deeds is None or deeds.many >= deeds.load.deed.wanted:
            continue
        which = f"of the part {part} " if part else ""
        at = f"at {', '.join(sorted(periods))} " if all(periods) else ""
        said.append(f"the cells {which}{at}last {_lasting(seconds)}: {spec} {deeds.sentence}")
    return tuple(said)


def deeds_in(spec: str, seconds: float, capabilities: Capabilities) -> Deeds | None:
    """How often the load does what it does in that time, by its target or by what one deed usually takes; None where
    nothing tells."""
    head, *words = spec.split(",")
    name, _, text = head.partition(":")
    load = next((one for one in capabilities.loads if one.name == name), None)
    if load is None or not load.deed.wanted:
        return None
    text = text or load.target.default
    if load.held:
        return None if _never_turns(load, text) else Deeds(load, seconds * 1e9 / load.deed.length_ns)
    as_fast_as_it_goes = load.alone == ("*",) or text in load.alone
    if as_fast_as_it_goes and not load.deed.length_ns:
        return None
    options = {key: value or "" for key, value in load_options(words)}
    defaults = {parameter.name: parameter.default for parameter in load.params}
    units = load.deed.units
    each = parse_bytes(options.get(units, defaults[units])) if units else 1
    if as_fast_as_it_goes:
        one_ns = load.deed.length_ns * (each / parse_bytes(defaults[units]) if units else 1)
        return Deeds(load, seconds * 1e9 / one_ns, one_ns)
    rate = parse_rate(text) if load.target.type == "rate" else parse_count(text)
    return Deeds(load, seconds * rate / each)


def _never_turns(load: LoadKind, text: str) -> bool:
    """At 0 nothing is done; at 100 % there may be no sleep."""
    share = parse_percent(text)
    return not load.deed.length_ns or share <= 0 or (share >= 100 and load.deed.sleeping)


def _lasting(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms" if seconds < 1 else f"{seconds:.4g} s"
