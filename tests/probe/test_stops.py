"""A probe that is stopped at any instant ends in order, and one that is killed leaves nothing (docs/probe.md,
docs/knobs.md)."""

import signal
from itertools import islice
from pathlib import Path

import pytest

from lacks import needs_root
from probe.drive import probe_list, run
from probe.stops import ASKED, INCONCLUSIVE, LOADS, Ended, ends, whole_s
from processes import until

QUICK, LONG = 2, 1000
ANY = (signal.SIGKILL, *ASKED)
SETTINGS = {
    "compaction": ("/proc/sys/vm/compaction_proactiveness", "6"),
    "ksm": ("/sys/kernel/mm/ksm/run", "on"),
    "numa_balancing": ("/proc/sys/kernel/numa_balancing", "on"),
    "rcu_normal": ("/sys/kernel/rcu_normal", "on"),
    "rt_throttling": ("/proc/sys/kernel/sched_rt_runtime_us", "off"),
    "soft_watchdog": ("/proc/sys/kernel/soft_watchdog", "off"),
    "stat_interval": ("/proc/sys/vm/stat_interval", "77"),
    "thp": ("/sys/kernel/mm/transparent_hugepage/enabled", "never"),
    "timer_migration": ("/proc/sys/kernel/timer_migration", "off"),
    "workqueue_cpumask": ("/sys/devices/virtual/workqueue/cpumask", "away"),
    "irq_affinity": ("/proc/irq/default_smp_affinity", "away"),
}
"""Eleven knobs, each with a file that shows it."""


@pytest.mark.beside
@pytest.mark.parametrize("stops", [QUICK, pytest.param(LONG, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("load", LOADS)
def test_a_stop_at_any_instant_of_a_loads_start_is_in_order(probe: Path, load: str, stops: int) -> None:
    """As many as are asked for come while loads start: nothing was measured then, which the code says."""
    words = ["cyclic", "--load", load, "--activations=1", "--quiet", "--policy=other"]
    during = 0
    for end in islice(ends(words, ASKED, whole_s(words), stops), 20 * stops):
        end.check()
        during += end.code == INCONCLUSIVE
        if during == stops:
            return
    pytest.fail(f"{during} of {20 * stops} stops came while loads started")


def machine() -> dict[str, str]:
    """What the knobs set, as it is now."""
    files = [Path(file) for file, _ in SETTINGS.values()] + sorted(Path("/proc/irq").glob("*/smp_affinity"))
    return {str(file): file.read_text() for file in files if file.exists()}


def held() -> list[str]:
    """The command line's words for those that can be set here."""
    possible = {knob["name"] for knob in probe_list()["knobs"] if not knob["reason"]}
    return [f"--knob={name}={value}" for name, (_, value) in SETTINGS.items() if name in possible]


def check_stream(path: Path, ended: Ended) -> None:
    """Whatever was written is whole up to its last batch, and the account agrees."""
    if path.exists() and path.stat().st_size > 0:
        checked = run("check-stream", path)
        cut = ended.number == signal.SIGKILL
        assert checked.returncode in ((0, 4) if cut else (0,)), (ended, checked.stderr)


@needs_root
@pytest.mark.parametrize("kills", [1, pytest.param(LONG // len(LOADS) + 1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("load", LOADS)
def test_a_probe_that_ends_at_any_instant_leaves_every_setting_as_it_was(
    probe: Path, tmp_path: Path, load: str, kills: int
) -> None:
    """Killed or stopped while it starts, measures or ends, with knobs, a load, and events recorded."""
    before = machine()
    stream = tmp_path / "stream"
    words = ["cyclic", "--load", load, "--duration=200ms", "--policy=other", "--json", *held(), "--cpus=0"]
    if run("cyclic", "--explain", "--activations=1").returncode == 0:
        words.append("--explain")
    span_s = whole_s(words)
    for end in islice(ends([*words, "--stream", str(stream)], ANY, span_s, kills), kills):
        end.check()
        assert until(lambda: machine() == before, 30) or run("restore").returncode == 0
        assert machine() == before, end
        check_stream(stream, end)
        stream.unlink(missing_ok=True)
