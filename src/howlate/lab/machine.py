"""The lab's machines as QEMU's arguments: exact, and the same on every host (docs/lab/guests.md says why each)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from howlate.errors import NotPossibleError, TargetError, UsageError
from howlate.lab import window
from howlate.model.run import REAL, VIRTUAL
from howlate.store.files import file_hash

MEMORY_MIB = 512
SEVERAL_CPUS = (
    "a guest in virtual time has one virtual CPU: QEMU hands one clock over between several in slices of up to "
    "100 ms, which makes times on them meaningless"
)
IN_TURNS = "rr=record,rrfile=/dev/null"
"""Nobody reads the record. It is made because QEMU's main loop then waits while the vCPU executes; otherwise it may
find one that has just halted and whose last instructions are not counted yet, and moves the clock too far."""
_VERSION_S = 60.0


@dataclass(frozen=True)
class Architecture:
    """What differs between the architectures."""

    name: str
    emulator: str
    package: str
    machine: str
    cpu: str
    console: str
    firmware: tuple[str, ...]
    """What QEMU loads beside the kernel; the guest runs it, so its bytes count."""


ARCHITECTURES = {
    "amd64": Architecture(
        "amd64",
        "qemu-system-x86_64",
        "qemu-system-x86",
        "q35",
        "qemu64-v1,-erms,-fsrm,-rdrand,-rdseed",
        "ttyS0",
        ("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin"),
    ),
    "arm64": Architecture(
        "arm64",
        "qemu-system-aarch64",
        "qemu-system-arm",
        "virt,gic-version=3",
        "cortex-a57",
        "ttyAMA0",
        (),
    ),
}


@dataclass(frozen=True)
class Places:
    """Files of the host that a guest is started with. Their paths are no input: `NAMED` stands for them in keys."""

    kernel: str
    initramfs: str
    window: str
    console: str


NAMED = Places("KERNEL", "INITRAMFS", "WINDOW", "CONSOLE")


@dataclass(frozen=True)
class Machine:
    """One virtual machine."""

    architecture: Architecture
    clock: str = VIRTUAL
    cpus: int = 1
    devices: tuple[str, ...] = ()
    """Beside those that every guest has, by QEMU's names."""

    def __post_init__(self) -> None:
        if self.cpus < 1:
            raise UsageError(f"a guest cannot have {self.cpus} CPUs", "give it at least one")
        if self.clock == VIRTUAL and self.cpus > 1:
            raise NotPossibleError(
                SEVERAL_CPUS, "ask for one CPU, or for real time (--clock real) on a host with KVM"
            )

    @classmethod
    def of(cls, arch: str, clock: str = VIRTUAL, cpus: int = 1) -> Machine:
        """The machine of an architecture."""
        return cls(ARCHITECTURES[arch], clock, cpus)

    def arguments(self, places: Places, command_line: str) -> list[str]:
        """QEMU's arguments, without what differs between making a snapshot and going on from one."""
        arch = self.architecture
        return [
            *self._time(),
            *("-M", arch.machine, "-m", str(MEMORY_MIB), "-smp", str(self.cpus)),
            *("-nodefaults", "-no-user-config", "-nographic", "-no-reboot"),
            *(
                "-object",
                f"memory-backend-file,id=window,share=on,size={window.SIZE},mem-path={escaped(places.window)}",
            ),
            *("-device", "ivshmem-plain,master=on,memdev=window", "-device", "pvpanic-pci"),
            *(word for device in self.devices for word in ("-device", device)),
            *("-chardev", f"file,id=console,path={escaped(places.console)}", "-serial", "chardev:console"),
            *("-global", "migration.store-global-state=off"),
            *("-kernel", places.kernel, "-initrd", places.initramfs, "-append", command_line),
        ]

    def _time(self) -> list[str]:
        if self.clock == REAL:
            # The guest writes to pvpanic when it is ready; there is no snapshot to make of it, so it goes on.
            return ["-accel", "kvm", "-cpu", "host", "-action", "panic=none"]
        return [
            *("-accel", "tcg,thread=single", "-icount", f"shift=0,sleep=off,{IN_TURNS}", "-seed", "1"),
            *(
                "-rtc",
                "base=2026-01-01T00:00:00,clock=vm",
                "-cpu",
                self.architecture.cpu,
                "-action",
                "panic=pause",
            ),
        ]

    def command_line(self, parameters: Iterable[str]) -> str:
        """The kernel's, with the label's parameters after the lab's own."""
        own = ["quiet", "loglevel=4", "nokaslr", "panic=-1", "random.trust_cpu=off", "rdinit=/init"]
        return " ".join([f"console={self.architecture.console}", *own, *parameters])

    def emulator(self) -> Path:
        """QEMU's binary; NotPossibleError if it is not installed."""
        found = shutil.which(self.architecture.emulator)
        if found is None:
            raise NotPossibleError(
                f"there is no {self.architecture.emulator} on this machine",
                f"install the package {self.architecture.package} (`howlate lab run` does it on Debian, as root)",
            )
        return Path(found)

    def identity(self) -> dict[str, str]:
        """Everything of QEMU that a guest's result depends on: version, and hashes of program, accelerator and
        firmware."""
        return dict(_identity(self.emulator(), self.architecture.firmware))


@cache
def _identity(emulator: Path, firmware: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = {"version": _said(emulator, "--version").splitlines()[0], "program": file_hash(emulator)}
    folders = [Path(line.strip()) for line in _said(emulator, "-L", "help").splitlines() if line.strip()]
    found |= {path.name: file_hash(path) for path in _accelerators(emulator)}
    for name in firmware:
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        found[name] = file_hash(path) if path else "not there"
    return tuple(found.items())


def _accelerators(emulator: Path) -> list[Path]:
    """Of this emulator, where the distribution has them apart from the program."""
    base = emulator.resolve().parent.parent
    places = [base / "lib" / "qemu", base / "lib64" / "qemu", *base.glob("lib/*-linux-gnu*/qemu")]
    name = f"accel-tcg-{emulator.name.removeprefix('qemu-system-')}.so"
    return [place / name for place in places if (place / name).is_file()]


def _said(emulator: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [str(emulator), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise TargetError(f"{emulator} could not be started: {problem}", "install it again") from None
    if done.returncode != 0 or not done.stdout.strip():
        raise TargetError(
            f"{emulator} {arguments[0]} failed: {done.stderr.decode('utf-8', 'replace').strip()}"
        )
    return done.stdout.decode("utf-8", "replace")


def escaped(path: str) -> str:
    """A path inside of a QEMU option, where a comma begins the next one."""
    return path.replace(",", ",,")
