"""The study of `howlate calibrate`: delays of each kind while a task is measured and explained, and the same
without."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.model.study import Order, Part, Study, Value

CALIBRATE = "calibrate"
UNDISTURBED, INJECTED = "undisturbed", "injected"
"""Its parts."""
KIND, ABOVE, ROUND = "inject", "explain-above", "inject-round"
EVERY = 3
"""Releases for one delay."""
UNDISTURBED_SAMPLES = 2000
"""Without a delay, all of them explained: as many as there is room for. The sizes of a thousand delays are held
against the spread of these."""
LEAST_ABOVE = "1us"


def calibration_study(
    kinds: Sequence[str], count: int, above: str, seed: int, events: str, round_ns: int = 0
) -> Study:
    """`count` delays of each kind; what is late by more than `above` is explained. A release that passes while the
    task is delayed is served late (`backlog`), so that the delay is in a sample. `round_ns`: of the turns of a
    guest's CPUs, by which delays keep farther apart; 0 with one CPU and on a machine."""
    settings: dict[str, Value] = {
        "policy": "fifo:80",
        "period": "1ms",
        "dither": True,
        "late-policy": "backlog",
        "explain": True,
        "explain-events": events,
        "explain-worst": "0",
    }
    calm = {**settings, "activations": str(UNDISTURBED_SAMPLES), ABOVE: LEAST_ABOVE}
    delayed = {
        **settings,
        "activations": str(count * EVERY + 1),
        ABOVE: above,
        "inject-every": str(EVERY),
        "inject-seed": str(seed),
        **({ROUND: f"{round_ns}ns"} if round_ns else {}),
    }
    return Study(
        CALIBRATE,
        "Delays of known size",
        "Are delays of known kind and size found, measured and named rightly?",
        parts=(
            Part(UNDISTURBED, "Without a delay", "cyclic", calm),
            Part(INJECTED, "With delays", "cyclic", delayed, {KIND: tuple(kinds)}),
        ),
        order=Order(),
    )
