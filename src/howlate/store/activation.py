"""One activation of a cell, as the stream and samples.parquet have it."""

from __future__ import annotations

from msgspec import Struct


class Activation(Struct, frozen=True):
    thread: int
    release: int
    """The index of the release that it served."""
    release_ns: int
    """Since the first release."""
    latency_ns: int
    warm_up: bool = False


class Activations(Struct, frozen=True):
    t0_ns: int
    """The first release, by the machine's CLOCK_MONOTONIC."""
    each: tuple[Activation, ...]

    def worst(self, count: int) -> list[Activation]:
        """Those with the largest latencies, without the warm-up."""
        counted = [activation for activation in self.each if not activation.warm_up]
        return sorted(counted, key=lambda activation: -activation.latency_ns)[:count]
