"""One activation of a cell, as the stream and samples.parquet have it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Activation:
    """One activation."""

    thread: int
    release: int
    """The index of the release that it served."""
    release_ns: int
    """Since the first release."""
    latency_ns: int
    warm_up: bool = False


@dataclass(frozen=True)
class Activations:
    """All activations of a cell."""

    t0_ns: int
    """The first release, by the machine's CLOCK_MONOTONIC."""
    each: tuple[Activation, ...] = field(repr=False)

    def worst(self, count: int) -> list[Activation]:
        """Those with the largest latencies, without the warm-up."""
        counted = [activation for activation in self.each if not activation.warm_up]
        return sorted(counted, key=lambda activation: -activation.latency_ns)[:count]
