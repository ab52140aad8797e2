"""What a kernel of the user's own must have to be a guest of the lab, checked from its config before it boots.

What single loads, timers and ways to switch need beyond is declared in the probe. docs/lab/own-kernels.md is the page
of both; a test holds them in step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from howlate.errors import UnfitKernelError
from howlate.lab.archive.packages import Say
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.problems import UNUSABLE
from howlate.model.capabilities import LoadKind
from howlate.model.kernel_config import Config
from howlate.words.statement import message

LACKS = message("lab.kernel-lacks", "the kernel {kernel} lacks {options:all} for {what}", remedy="{hint}")

PAGE = "docs/lab/own-kernels.md"
TSC = "tsc=reliable"
NO_TSC = (
    f"a kernel with Dovetail waits in virtual time for a clock that does not come: give it {TSC}, as "
    f"`--own-kernel PATH[{TSC}]` (docs/cores.md)"
)
WHAT_IT_NEEDS = f"a kernel of your own must have what {PAGE} lists"


EVERY = (
    *("64BIT", "BLK_DEV_INITRD", "BINFMT_ELF", "FUTEX", "POSIX_TIMERS", "SIGNALFD", "EVENTFD"),
    *("PROC_FS", "SYSFS", "DEVTMPFS", "SHMEM", "TMPFS", "PCI"),
)
"""Options (without CONFIG_) that must be built in (`y`), because such a kernel brings no modules. Without one
of these no cell can be measured; the page explains each."""
OF_KNOBS = ("FILE_LOCKING",)
"""What a cell that sets a knob needs beyond."""
OF_ARCHITECTURE = {"arm64": ("PCI_HOST_GENERIC",)}
"""The same, for one architecture only."""


def missing(options: Iterable[str], config: Config) -> list[str]:
    """The options (without CONFIG_) that this config has not built in, returned with CONFIG_."""
    names = (f"CONFIG_{option}" for option in options)
    return [option for option in names if config.get(option) != "y"]


def check_own(kernel: Kernel, say: Say) -> None:
    """UnfitKernelError with all missing options; a message if there is no config to check."""
    if kernel.config_path is None:
        say(f"{kernel.label} has no config: whether it has what a guest needs is not checked ({PAGE})")
        return
    lacking = missing((*EVERY, *OF_ARCHITECTURE.get(kernel.arch, ())), kernel.config)
    if lacking:
        raise _lacks(kernel, lacking, "a guest")


def check_load(kernel: Kernel, load: LoadKind, spec: str) -> None:
    """The same for what a load with modules needs beyond, as it is written (`spec`), before the cell's guest starts.
    Everything else says in the guest what is missing."""
    if kernel.config_path is None:
        return
    lacking = missing((need.name for need in load.used(load.config, spec)), kernel.config)
    if lacking:
        raise _lacks(kernel, lacking, f"the load {load.name}")


def check_knobs(kernel: Kernel) -> None:
    """The same for what every knob needs beyond."""
    lacking = missing(OF_KNOBS, kernel.config) if kernel.config_path is not None else []
    if lacking:
        raise _lacks(kernel, lacking, "knobs")


def check_cpus(label: Label, kernel: Kernel, cpus: int) -> None:
    """UnfitKernelError if the kernel, with these boot parameters, would die of the CPUs of its guest."""
    has_cobalt = kernel.config_path is not None and kernel.config.get("CONFIG_XENOMAI") == "y"
    if has_cobalt and cpus > _cpus_at_start(label):
        reason = "its Cobalt cannot use CPUs that come online after boot, as a guest's do"
        hint = "measure on one CPU (see docs/cores.md)"
        raise UnfitKernelError(UNUSABLE(what=label, reason=reason, hint=hint))


def remedy_of_hang(kernel: Kernel, command_line: str) -> str:
    """What to do where the kernel gets no further in its boot; "" where its config does not tell."""
    dovetail = kernel.config_path is not None and kernel.config.get("CONFIG_DOVETAIL") == "y"
    return NO_TSC if dovetail and kernel.arch == "amd64" and TSC not in command_line.split() else ""


def _cpus_at_start(label: Label) -> int:
    numbers = [word.removeprefix("maxcpus=") for word in label.parameters if word.startswith("maxcpus=")]
    return max(1, int(numbers[-1])) if numbers and numbers[-1].isdecimal() else 1


def _remedy(kernel: Kernel, lacking: Sequence[str]) -> str:
    it = "it" if len(lacking) == 1 else "each"
    modules = " (y: a kernel of your own has no modules here)" if _as_modules(kernel, lacking) else ""
    return f"build {it} in{modules}; {PAGE} says what each is for"


def _as_modules(kernel: Kernel, options: Sequence[str]) -> bool:
    return any(kernel.config.get(option) == "m" for option in options)


def _lacks(kernel: Kernel, options: Sequence[str], what: str) -> UnfitKernelError:
    return UnfitKernelError(
        LACKS(kernel=kernel.label, options=options, what=what, hint=_remedy(kernel, options))
    )
