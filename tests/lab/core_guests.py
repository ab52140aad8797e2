"""Guests of real-time cores beside Linux, on kernels that somebody built: nothing of them is in Debian's archive.

HOWLATE_COBALT_KERNEL=linux/arch/x86/boot/bzImage HOWLATE_COBALT_PROBE=build/probe-cobalt/howlate-probe \\
    HOWLATE_COBALT_TOOL=/usr/xenomai/bin/latency ./dev test tests/lab/test_cores.py tests/lab/test_core_modules.py
HOWLATE_EVL_KERNEL=... HOWLATE_EVL_PROBE=... HOWLATE_EVL_TOOL=.../latmus
"""

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from howlate.lab.archive.apt import AptArchive
from howlate.lab.archive.packages import silent
from howlate.lab.bench import Bench
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.snapshot import Snapshots
from howlate.lab.kernels.own_kernel import own_kernel
from howlate.lab.libraries import guest_libraries
from howlate.lab.needed import built, needed
from howlate.lab.results import Results
from howlate.targets.local import LocalTarget
from lab.guests import KERNELS, with_kernels
from lacks import KERNEL, skip

IN_USER_SPACE = {"cobalt": ("cobalt", "cobalt-timerfd", "alchemy"), "evl": ("evl", "evl-sleep")}
THREAD = {"cobalt": "cobalt-kernel-task", "evl": "evl-kernel-thread"}
"""The timer whose activations are in a kernel thread."""
HANDLER = {"cobalt": "cobalt-kernel-timer", "evl": "evl-kernel-timer"}
"""The timer whose activations are in a timer's handler, which is no thread and has no stage to leave."""


def named(core: str, what: str) -> Path:
    """A core's kernel, probe or tool; skipped, with the reason, where nobody names it."""
    name = f"HOWLATE_{core.upper()}_{what}"
    if not os.environ.get(name):
        skip(f"{core}'s {what.lower()}, which {name} names (docs/cores.md)", KERNEL)
    return Path(os.environ[name])


def given(core: str) -> tuple[Path, Path]:
    """The kernel and the probe of a core."""
    return named(core, "KERNEL"), named(core, "PROBE")


def own_config(core: str) -> str:
    """The config in a core's build tree."""
    return (named(core, "KERNEL").parents[3] / ".config").read_text()


def bench_of(
    core: str,
    cache: Path,
    machine: Machine,
    *tools: Path,
    boot: str = "",
    folders: Sequence[Path] = (),
    programs: Mapping[str, bytes] | None = None,
) -> tuple[Bench, list[list[str]]]:
    """The guest of a core's kernel, with its module, those of these folders and these programs in /bin; and the
    lines that load the core's."""
    path, probe = given(core)
    label, kernel = own_kernel(f"{path}[tsc=reliable{boot}]", with_kernels(cache))
    cyclic = next(test for test in LocalTarget(probe).capabilities().tests if test.name == "cyclic")
    modules = cyclic.used(cyclic.modules, {"timer": HANDLER[core]})
    archive = AptArchive(KERNELS / "apt")
    found = needed(modules, label, kernel, archive, cache, silent)
    assert found.files and not found.absent
    files = {**found.files, **built(folders, label, kernel, archive, cache, silent).files}
    for program in (probe, *tools):
        files |= guest_libraries(program)
    files |= {f"bin/{tool.name}": tool.read_bytes() for tool in tools}
    files |= {f"bin/{name}": data for name, data in (programs or {}).items()}
    on = Bench(
        label,
        kernel,
        machine,
        probe.read_bytes(),
        cache,
        Snapshots(cache / "snapshots"),
        Results(cache / "results"),
        threading.Event(),
        files,
    )
    return on, [list(line) for line in found.lines]
