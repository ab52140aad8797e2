"""Which preemption model a kernel has, by what it is and not by its name: none, voluntary, full, lazy or rt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from howlate.doctor._check import is_rt_kernel, preempt_mode
from howlate.model.facts import Facts

MODELS = ("none", "voluntary", "full", "lazy", "rt")


def preemption_of(captured: Mapping[str, Any], config: Mapping[str, str] | None = None) -> str:
    """The model; "" where nothing tells. `config`: the kernel's options where the facts hold none (a guest's)."""
    if captured.get("facts") != 1:
        return ""
    facts = Facts.from_json(dict(captured))
    if config and facts.mapping("kernel.config") is None:
        facts = Facts({**facts.values, "kernel.config": dict(config)}, facts.missing)
    if is_rt_kernel(facts):
        return "rt"
    mode = preempt_mode(facts)
    return mode[0] if mode is not None and mode[0] in MODELS else ""


def spelt(model: str) -> str:
    """As the kernel's command line has it, so that "none" is not taken for a load; "rt" as it is."""
    return model if model == "rt" else f"preempt={model}"
