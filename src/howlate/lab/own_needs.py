"""What a kernel of the user's own must have to be a guest of the lab, checked from its config before it boots.

docs/lab/own-kernels.md is the page of these tables; a test holds the two in step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from howlate.errors import NotPossibleError
from howlate.lab.archive import Say
from howlate.lab.kernel import Kernel
from howlate.model.kernel_config import Config

PAGE = "docs/lab/own-kernels.md"
WHAT_IT_NEEDS = f"a kernel of your own must have what {PAGE} lists"


@dataclass(frozen=True)
class Need:
    """Options that must be built in (`y`): a kernel of the user's own brings no modules."""

    options: tuple[str, ...]
    """Without CONFIG_."""
    why: str
    arch: str = ""
    """Of this architecture only; "" for all."""


EVERY: tuple[Need, ...] = (
    Need(("64BIT",), "the probe is a program of 64 bits"),
    Need(("BLK_DEV_INITRD",), "the guest's only file system is an initramfs"),
    Need(("BINFMT_ELF",), "the probe, which is `/init`, is an ELF program"),
    Need(("FUTEX",), "the probe's C library waits with futexes"),
    Need(("POSIX_TIMERS",), "CPU time is counted with the clocks that come with it"),
    Need(("SIGNALFD",), "`/init` waits for its children with a signalfd"),
    Need(("EVENTFD",), "the threads of a cell tell each other of its end with an eventfd"),
    Need(("PROC_FS",), "`/init` mounts proc; facts, tasks and CPUs are read there"),
    Need(("SYSFS",), "`/init` mounts sysfs; the window to the host is found there"),
    Need(("DEVTMPFS",), "`/init` mounts devtmpfs on `/dev`"),
    Need(("SHMEM", "TMPFS"), "samples and results are files of a tmpfs until the cell is over"),
    Need(("PCI",), "job and result pass through a device on the PCI bus (ivshmem)"),
    Need(("PCI_HOST_GENERIC",), "the PCI bus of QEMU's machine `virt`", "arm64"),
)
"""Without one of these no cell can be measured."""

BY_USE: dict[str, Need] = {
    "load `disk`": Need(("BLOCK", "BLK_DEV_RAM", "EXT4_FS"), "it writes to ext4 on a RAM disk"),
    "load `network`": Need(("NET", "INET"), "it sends ICMP echo requests"),
    "load `network`, `path=veth`": Need(
        ("NET_NS", "NETDEVICES", "VETH"), "otherwise the load goes over loopback, and says so"
    ),
    "load `hackbench`": Need(("NET", "UNIX"), "socket pairs; with `pipe` none of them"),
    "timer `timerfd`": Need(("TIMERFD",), "the descriptor that is read"),
    "timer `epoll_timerfd`": Need(("TIMERFD", "EPOLL"), "the descriptor, and the set that it is in"),
    "timer `epoll_pwait2`": Need(("EPOLL",), "the set that is waited for"),
    "timer `io_uring`": Need(("IO_URING",), "the ring"),
    "test `switch`, `--by mqueue`": Need(("POSIX_MQUEUE",), "the message queues"),
}
"""What one load, timer or test needs beyond. Without it, its cells are "not possible here"."""

_BEFORE_A_CELL = {"disk": "load `disk`", "network": "load `network`"}
"""Loads whose needs are checked before the cell's guest starts; everything else says in the guest what is missing."""


def missing(needs: Sequence[Need], config: Config, arch: str) -> list[str]:
    """The options that this config has not built in, in the table's order."""
    wanted = [f"CONFIG_{option}" for need in needs if need.arch in ("", arch) for option in need.options]
    return [option for option in wanted if config.get(option) != "y"]


def check_own(kernel: Kernel, say: Say) -> None:
    """NotPossibleError with all that is missing; says where there is no config to look at."""
    if kernel.config_path is None:
        say(
            f"{kernel.label} has no config in it or beside it: whether it has what a guest needs is not checked "
            f"({PAGE})"
        )
        return
    lacking = missing(EVERY, kernel.config, kernel.arch)
    if lacking:
        raise NotPossibleError(
            f"the kernel {kernel.label} cannot be a guest of the lab: its config lacks {', '.join(lacking)}",
            _remedy(kernel, lacking),
        )


def check_load(kernel: Kernel, load: str) -> None:
    """The same for what one load needs beyond."""
    use = _BEFORE_A_CELL.get(load)
    if use is None or kernel.config_path is None:
        return
    lacking = missing([BY_USE[use]], kernel.config, kernel.arch)
    if lacking:
        raise NotPossibleError(
            f"the kernel {kernel.label} has no {', '.join(lacking)}, which the load {load} needs",
            _remedy(kernel, lacking),
        )


def _remedy(kernel: Kernel, lacking: Sequence[str]) -> str:
    it = "it" if len(lacking) == 1 else "each"
    modules = " (y: a kernel of your own has no modules here)" if _as_modules(kernel, lacking) else ""
    return f"build {it} in{modules}; {PAGE} says what each is for"


def _as_modules(kernel: Kernel, options: Sequence[str]) -> bool:
    return any(kernel.config.get(option) == "m" for option in options)
