"""Our module and the kernel's tracer on the same interrupt: the medians agree where both take the same path, and the
tracer's own hook is what they differ by where they do not (docs/tests/irq.md)."""

from pathlib import Path

import numpy as np
import pytest

from howlate.lab.bench import PROBE
from lab.equipped import Guest
from lab.guests import LIMITS, RT
from probe.drive import read_stream

MODULE = ("irq", "--period=1ms", "--points=500", "--stream=module", "--quiet")
TRACER = ("irq", "--source=timerlat", "--points=500", "--stream=timerlat", "--quiet")
# The tracer hooks in when it starts and keeps its books from its first period on: that is the module's warm-up.
HOOKED = (PROBE, *MODULE, "--warm-up=250ms")
HOOK = (PROBE, "irq", "--source=timerlat", "--period=100ms", "--points=12", "--stream=slow", "--quiet")


def median(folder: Path, stream: bytes) -> float:
    (folder / "stream").write_bytes(stream)
    rows = read_stream(folder / "stream").columns[0]
    return float(np.median(rows["irq_latency_ns"][rows["flags"] & 1 == 0]))


@pytest.mark.parametrize("load", ["none", pytest.param("cpu:100", marks=pytest.mark.sweep)])
def test_the_module_agrees_with_timerlat_where_both_pass_the_tracers_hook(
    tmp_path: Path, guest: Guest, load: str
) -> None:
    beside = f"--load={load}"
    lines = [(PROBE, *MODULE, beside), (PROBE, *TRACER, beside), ("/bin/both", *HOOKED, beside, "--", *HOOK)]
    done = guest(RT).run([("module", "howlate_irq"), *lines], LIMITS)[1:]
    assert [line.status for line in done] == ["0"] * 3, [line.stderr for line in done]
    alone, hooked = (median(tmp_path, done[at].files["module"]) for at in (0, 2))
    tracer = median(tmp_path, done[1].files["timerlat"])
    print(f"{load}: alone {alone:.0f} ns, with the hook {hooked:.0f} ns, timerlat {tracer:.0f} ns")
    assert hooked == pytest.approx(tracer, rel=0.1)
    assert hooked - alone > 0.8 * (tracer - alone) > 0
