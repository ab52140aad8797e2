"""The measuring task of a plan, for which the doctor examines a machine."""

from __future__ import annotations

from collections.abc import Mapping

from howlate.model.facts import Aim
from howlate.model.plan import Plan
from howlate.model.study import Value, spell
from howlate.model.units import parse_count, parse_cpus


def aim_of(plan: Plan, defaults: Mapping[str, str], wanted_policy: str = "") -> Aim:
    """The measuring task that the doctor judges: that of the first cell. `wanted_policy`: the policy that the
    plan's policy replaces because it is not permitted."""
    parameters = plan.cells[0].parameters if plan.cells else {}

    def text(name: str) -> str:
        value: Value = parameters.get(name, defaults.get(name, ""))
        return spell(value)

    policy, _, priority = (wanted_policy or text("policy")).partition(":")
    policy = policy or "fifo"
    named = text("cpus") or text("cpu") or (_cpuset(parameters) if policy == "deadline" else "")
    try:
        cpus = parse_cpus(named)
    except ValueError:
        cpus = ()
    try:
        level = parse_count(priority)
    except ValueError:
        level = 80 if policy in ("fifo", "rr") else 0
    return Aim(cpus, policy, level, every=named == "all" or (not named and policy == "deadline"))


def _cpuset(parameters: Mapping[str, Value]) -> str:
    """The CPUs of the knob of that name: a deadline task runs on all of them."""
    knobs = parameters.get("knob", ())
    found = (text for text in (knobs if isinstance(knobs, tuple) else ()) if text.startswith("cpuset="))
    return next(found, "").removeprefix("cpuset=")
