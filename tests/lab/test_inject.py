"""Delays of known size in guests: each kind makes the task late by as much as it says, or says why it does not, and
`howlate calibrate` finds them, measures them, and names them rightly."""

from pathlib import Path
from typing import Any

import pytest

from howlate.why.calibrate.calibration import EXPECTED
from lab.equipped import modules_for
from lab.guests import RT, STANDARD, printed_by, warm_cache, with_cpus
from lacks import KERNEL, skip

PREEMPTED = {"softirq", "memory-pressure"}
NEVER = {RT: PREEMPTED, "5.10-rt": PREEMPTED, STANDARD: set(), "5.10": set()}
"""What PREEMPT_RT preempts."""
LEAST = {1: 0.6, 2: 0.6, 4: 0.4}
"""By number of CPUs: so large a share of the delays makes a sample late at least. Late is above 20 us a CPU."""
FEW_MORE_NS = 2_000
"""With few events a size may be wrong by so much more than the limit."""


def calibrated(
    folder: Path, kernels: str, *more: str, timeout_s: float, codes: tuple[int, ...] = (0,)
) -> Any:
    """What `howlate calibrate --json` prints; its exit code is 0 where all limits are kept, else 1."""
    for kernel in kernels.split(","):
        if modules_for(kernel).absent:
            skip(modules_for(kernel).absent[0], KERNEL)
    words = ["calibrate", f"--kernels={kernels}", *more, "--out=r", "--json"]
    return printed_by(words, folder, warm_cache(folder / "cache"), timeout_s, codes)


def summed(told: dict[str, Any]) -> str:
    """A line for each kernel: of all kinds together."""
    lines = []
    for of_kernel in told["kernels"]:
        late = [kind for kind in of_kernel["kinds"] if kind["found"]]
        counts = {
            name: sum(kind[name] for kind in late) for name in ("hit", "found", "unmeasurable", "right")
        }
        worst = max(late, key=lambda kind: kind["error_ns"]["max"] or 0)
        largest = f"{worst['error_ns']['max']} ns ({worst['kind']}; limit {worst['error_ns']['limit']} ns)"
        lines.append(f"{of_kernel['kernel']}: {counts}, largest error {largest}")
    return "\n".join(lines)


def check(told: dict[str, Any], count: int, least: float) -> None:
    """Every kind was tried on every kernel, and is where it has to be."""
    assert told["impossible"] == told["failed"] == [] and told["kept"]
    for of_kernel in told["kernels"]:
        assert of_kernel["undisturbed"]["invented"] == {}
        kinds = {each["kind"]: each for each in of_kernel["kinds"]}
        assert set(kinds) == set(EXPECTED)
        for name, kind in kinds.items():
            assert kind["injected"] == count, name
            assert kind["delays_here"] is (name not in NEVER[of_kernel["kernel"]]), name
            if kind["delays_here"]:
                assert kind["hit"] - kind["unmeasurable"] == kind["found"] >= least * count, name
                assert kind["unmeasurable"] == 0 or name == "stopped", name  # its end alone is uncertain
                assert (kind["uncertainty_ns"]["max"] > 0) is (name == "stopped"), name
                assert kind["right"] >= 0.99 * kind["found"], name
            else:
                assert kind["passed"] >= least * count and kind["hit"] == 0, name


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernels", "cpus", "count"),
    [
        ((RT,), 1, 30),
        *(pytest.param((STANDARD, RT), cpus, 1000, marks=pytest.mark.sweep) for cpus in (1, 2, 4)),
    ],
)
def test_delays_of_every_kind_are_found_measured_and_named(
    tmp_path: Path, kernels: tuple[str, ...], cpus: int, count: int
) -> None:
    if cpus > 1:
        with_cpus(cpus)  # skips where no QEMU can run it
    words = (f"--count={count}", *([f"--guest-cpus={cpus}"] if cpus > 1 else []))
    told = calibrated(tmp_path, ",".join(kernels), *words, timeout_s=7000)
    assert {each["kernel"] for each in told["kernels"]} == set(kernels)
    print(f"\n{cpus} CPUs, {count} of each kind\n{summed(told)}")
    check(told, count, LEAST[cpus])


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernels", "count"),
    [(("5.10",), 30), pytest.param(("5.10", "5.10-rt", RT), 1000, marks=pytest.mark.sweep)],
)
def test_with_few_events_all_are_found_but_handlers_that_began_in_idle(
    tmp_path: Path, kernels: tuple[str, ...], count: int
) -> None:
    """As an old kernel's trace ring records by default. Where a timer's handler ends is not among few events: what
    interrupts a delay is counted to it, so that single sizes are above the limit."""
    told = calibrated(
        tmp_path, ",".join(kernels), f"--count={count}", "--events=few", timeout_s=7000, codes=(0, 1)
    )
    print(f"\nfew events, {count} of each kind\n{summed(told)}")
    assert told["impossible"] == told["failed"] == []
    assert {of_kernel["kernel"] for of_kernel in told["kernels"]} == set(kernels)
    for of_kernel in told["kernels"]:
        assert of_kernel["undisturbed"]["invented"] == {}
        assert {kind["kind"] for kind in of_kernel["kinds"]} == set(EXPECTED)
        for kind in of_kernel["kinds"]:
            assert kind["delays_here"] is (kind["kind"] not in NEVER[of_kernel["kernel"]])
            if not kind["delays_here"]:
                continue
            error = kind["error_ns"]
            print(of_kernel["kernel"], kind["kind"], kind["hit"], kind["found"], kind["right"], error)
            assert kind["hit"] >= LEAST[1] * count
            least = 0.9 if kind["kind"] == "hard-irq" else 1
            assert kind["found"] >= least * (kind["hit"] - kind["unmeasurable"])
            assert kind["right"] >= 0.99 * kind["found"]
            assert error["median"] <= error["limit"] and error["max"] <= error["limit"] + FEW_MORE_NS
