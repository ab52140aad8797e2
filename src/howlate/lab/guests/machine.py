"""The lab's machines as QEMU's arguments: exact, and the same on every host (docs/lab/guests.md says why each)."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from msgspec import Struct

from howlate.errors import NotPossibleError, TargetError, UsageError
from howlate.lab.devices import device_arguments
from howlate.lab.guests import window
from howlate.lab.problems import not_installed, qemu_failed
from howlate.model.guest_cpus import MOST_MIPS, SHIFTS, GuestCpus
from howlate.model.run import REAL, VIRTUAL
from howlate.model.turns import Turns, turns_of
from howlate.store.files import file_hash
from howlate.words.statement import message

NO_GUEST = message("lab.no-such-guest", "a guest cannot have {what}", remedy="{hint}")

MEMORY_MIB = 512
MOST_CPUS = 4
TURN_NS = 5_000
"""The usual turn of several CPUs."""
_MOST_TURN_NS = 1_000_000
_BOOT_INTERVAL_US = 1_000
"""While a guest boots its CPUs are idle most of the time, and QEMU stops at each end of a turn."""
IN_TURNS = "rr=record,rrfile=/dev/null"
"""Nobody reads the record. It is made because QEMU's main loop then waits while the vCPU executes; otherwise it may
find one that has just halted and whose last instructions are not counted yet, and moves the clock too far."""
_CLOCK = "0.1 ms a question"
"""What QEMU is told of the host's time: results depend on it, so it changes with probe/emulator/clock.cpp."""
_VERSION_S = 60.0


def is_turn(turn_ns: int) -> bool:
    """Whether several CPUs can take turns of this length: QEMU's timer counts whole microseconds."""
    return turn_ns % 1000 == 0 and 1000 <= turn_ns <= _MOST_TURN_NS


class Architecture(Struct, frozen=True):
    name: str
    emulator: str
    package: str
    machine: str
    cpu: str
    console: str
    firmware: tuple[str, ...]
    """Files that QEMU loads in addition to the kernel; the guest runs them, so their bytes count."""
    further_cpu: str = ""
    """QEMU's name of a further CPU as a device; "" where it has none."""
    several: tuple[str, ...] = ()
    """Parameters for several CPUs in virtual time. One starts alone; and a kernel for amd64 would take the TSCs of
    several CPUs that are not Intel's for unsynchronized (unsynchronized_tsc in arch/x86/kernel/tsc.c) and read the
    HPET, though in this machine all of them are the one virtual clock."""
    clocks: tuple[str, ...] = ()
    """Parameters that tell a kernel in virtual time what its clocks are. One for amd64 would measure the TSC against
    an interrupt timer early, and the timer of its local APIC against that: at 8 ns an instruction it was up to 77 ppm
    off, which is 0.8 us in 10 ms."""
    boot_shift: int = 0
    """While a guest boots, an instruction takes 2**boot_shift ns. A kernel for amd64 spins for 220 ms of its clock
    to calibrate the timer of its local APIC, and QEMU leaves its loop at each `pause`: with instructions of 1 ns that
    is a third of the boot's CPU time."""


ARCHITECTURES = {
    "amd64": Architecture(
        "amd64",
        "qemu-system-x86_64",
        "qemu-system-x86",
        "q35",
        "qemu64-v1,-erms,-fsrm,-rdrand,-rdseed",
        "ttyS0",
        ("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin", "pvh.bin"),
        further_cpu="qemu64-v1-x86_64-cpu",
        several=("maxcpus=1", "tsc=reliable"),
        clocks=("tsc_early_khz=1000000",),
        boot_shift=3,
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


class Places(Struct, frozen=True):
    """The host's files of a guest. Their paths are not an input: `NAMED` stands for them in keys."""

    kernel: str
    initramfs: str
    window: str
    console: str


NAMED = Places("KERNEL", "INITRAMFS", "WINDOW", "CONSOLE")


@dataclass(frozen=True)
class Machine:
    architecture: Architecture
    clock: str = VIRTUAL
    cpus: int = 1
    devices: tuple[str, ...] = ()
    """Devices in addition to those of every guest, by QEMU's names."""
    mips: int = MOST_MIPS
    """Millions of instructions in a second of virtual time."""
    turn_ns: int = 0
    """The longest turn of one of several CPUs, in virtual time."""
    fetched: Path | None = dataclasses.field(default=None, compare=False)
    """Where a QEMU is unpacked that is not the installed one (lab/guests/emulator.py)."""

    def __post_init__(self) -> None:
        if self.cpus < 1:
            raise UsageError(NO_GUEST(what=f"{self.cpus} CPUs", hint="give it at least one"))
        if self.mips not in SHIFTS:
            hint = f"choose {', '.join(map(str, SHIFTS))}"
            raise UsageError(NO_GUEST(what=f"a speed of {self.mips} MIPS", hint=hint))
        if self.clock == REAL:
            if self.mips != MOST_MIPS or self.turn_ns:
                hint = "leave out --mips and --turn, or measure in virtual time"
                raise UsageError(NO_GUEST(what="a speed or turn in real time", hint=hint))
        elif self.cpus == 1:
            if self.turn_ns:
                hint = "leave out --turn, or ask for several CPUs with --guest-cpus"
                raise UsageError(NO_GUEST(what="turns of one CPU", hint=hint))
        elif not self.architecture.further_cpu:
            hint = (
                "ask for one CPU, for a kernel for amd64, or for real time (--clock real) on a host with KVM"
            )
            raise NotPossibleError(
                NO_GUEST(what=f"several CPUs in virtual time on {self.architecture.name}", hint=hint)
            )
        elif self.cpus > MOST_CPUS:
            raise UsageError(
                NO_GUEST(what=f"{self.cpus} CPUs in virtual time", hint=f"ask for at most {MOST_CPUS}")
            )
        elif not is_turn(self.turn_ns):
            raise no_turn(self.turn_ns)

    @classmethod
    def of(
        cls, arch: str, clock: str = VIRTUAL, cpus: int = 1, mips: int = MOST_MIPS, turn_ns: int = 0
    ) -> Machine:
        """The machine of an architecture; several CPUs take the usual turns unless others are given."""
        usual = TURN_NS if cpus > 1 and clock == VIRTUAL else 0
        return cls(ARCHITECTURES[arch], clock, cpus, mips=mips, turn_ns=turn_ns or usual)

    @property
    def guest_cpus(self) -> GuestCpus:
        """What the label and the facts of its cells state."""
        return GuestCpus(self.cpus, self.mips, self.turn_ns)

    def arguments(self, places: Places, command_line: str, boot_shift: int | None = None) -> list[str]:
        """QEMU's arguments, without what differs between making a snapshot and going on from one, apart from the
        clock: while the guest boots, an instruction takes 2**`boot_shift` ns of virtual time."""
        arch = self.architecture
        return [
            *self._time(boot_shift),
            *("-M", arch.machine, "-m", str(MEMORY_MIB), *self._cpus()),
            *self._turns(boots=boot_shift is not None),
            *("-nodefaults", "-no-user-config", "-nographic", "-no-reboot"),
            *(
                "-object",
                f"memory-backend-file,id=window,share=on,size={window.SIZE},mem-path={escaped(places.window)}",
            ),
            *("-device", "ivshmem-plain,master=on,memdev=window", "-device", "pvpanic-pci"),
            *(word for device in self.devices for word in device_arguments(device)),
            *("-chardev", f"file,id=console,path={escaped(places.console)}", "-serial", "chardev:console"),
            *("-global", "migration.store-global-state=off"),
            *("-kernel", places.kernel, "-initrd", places.initramfs, "-append", command_line),
        ]

    def _cpus(self) -> list[str]:
        """QEMU refuses a record for a machine that it makes with several CPUs itself, and keeps one for CPUs that are
        devices. What the guest does not know of (`nr_cpus`) makes the others equally fast (model/turns.py)."""
        if self.clock == REAL or self.cpus == 1:
            return ["-smp", str(self.cpus)]
        counted = self._taken.counted
        further = [
            f"{self.architecture.further_cpu},socket-id=0,core-id={number},thread-id=0"
            for number in range(1, counted)
        ]
        return [
            *("-smp", f"1,maxcpus={counted},sockets=1,cores={counted},threads=1"),
            *(word for device in further for word in ("-device", device)),
        ]

    def _turns(self, *, boots: bool) -> list[str]:
        """A turn ends with the next timer of the virtual clock at the latest (model/turns.py). This timer is a
        network filter's without a card: the guest cannot see it."""
        if not self.turn_ns:
            return []
        interval_us = _BOOT_INTERVAL_US if boots else self._taken.interval_ns // 1000
        return [
            *("-netdev", "hubport,id=turns,hubid=0"),
            *("-object", f"filter-buffer,id=turn,netdev=turns,interval={interval_us}"),
        ]

    @property
    def _taken(self) -> Turns:
        return turns_of(self.cpus, self.turn_ns, SHIFTS[self.mips])

    def _time(self, boot_shift: int | None) -> list[str]:
        if self.clock == REAL:
            # The guest writes to pvpanic when it is ready; there is no snapshot to make of it, so it goes on.
            return ["-accel", "kvm", "-cpu", "host", "-action", "panic=none"]
        shift = SHIFTS[self.mips] if boot_shift is None else boot_shift
        return [
            *("-accel", "tcg,thread=single", "-icount", f"shift={shift},sleep=off,{IN_TURNS}", "-seed", "1"),
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
        clocks = self.architecture.clocks if self.clock == VIRTUAL else ()
        # The probe starts the others (docs/lab/guests.md, "Several CPUs").
        several = self.clock == VIRTUAL and self.cpus > 1
        cpus = (*self.architecture.several, f"nr_cpus={self.cpus}") if several else ()
        return " ".join([f"console={self.architecture.console}", *own, *clocks, *cpus, *parameters])

    def emulator(self) -> Path:
        """QEMU's binary; NotPossibleError if it is not installed."""
        if self.fetched is not None:
            return self.fetched / "usr" / "bin" / self.architecture.emulator
        path = shutil.which(self.architecture.emulator)
        if path is None:
            raise not_installed(self.architecture.emulator, self.architecture.package)
        return Path(path)

    def program(self) -> list[str]:
        """QEMU's binary, and where its data are if it is not installed."""
        share = self.fetched / "usr" / "share" if self.fetched is not None else None
        return [str(self.emulator()), *(data_of(share) if share is not None else ())]

    def identity(self) -> dict[str, str]:
        """Everything of QEMU that a guest's result depends on: version, hashes of program, accelerator and firmware,
        and what stands in for the host's clock."""
        return dict(_identity(tuple(self.program()), self.architecture.firmware))


def data_of(share: Path) -> tuple[str, ...]:
    """The options that name QEMU's data below an unpacked /usr/share."""
    return ("-L", str(share / "qemu"), "-L", str(share / "seabios"))


def version_of(emulator: Path) -> str:
    return output_of([str(emulator)], "--version").splitlines()[0]


@cache
def _identity(program: tuple[str, ...], firmware: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    emulator = Path(program[0])
    data = {"version": version_of(emulator), "program": file_hash(emulator), "clock": _CLOCK}
    folders = [Path(line.strip()) for line in output_of(program, "-L", "help").splitlines() if line.strip()]
    data |= {path.name: file_hash(path) for path in _accelerators(emulator)}
    for name in firmware:
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        data[name] = file_hash(path) if path else "not there"
    return tuple(data.items())


def _accelerators(emulator: Path) -> list[Path]:
    """Of this emulator, where the distribution has them apart from the program."""
    base = emulator.resolve().parent.parent
    places = [base / "lib" / "qemu", base / "lib64" / "qemu", *base.glob("lib/*-linux-gnu*/qemu")]
    name = f"accel-tcg-{emulator.name.removeprefix('qemu-system-')}.so"
    return [place / name for place in places if (place / name).is_file()]


def output_of(program: Sequence[str], *arguments: str) -> str:
    """What QEMU prints; TargetError if it fails."""
    emulator = program[0]
    try:
        done = subprocess.run(
            [*program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise TargetError(qemu_failed(f"{emulator}: {problem}")) from None
    if done.returncode != 0 or not done.stdout.strip():
        output = done.stderr.decode("utf-8", "replace").strip()
        raise TargetError(qemu_failed(f"{emulator} {arguments[0]}: {output}"))
    return done.stdout.decode("utf-8", "replace")


def escaped(path: str) -> str:
    """A path inside of a QEMU option, where a comma begins the next one."""
    return path.replace(",", ",,")


def no_turn(turn_ns: int) -> UsageError:
    hint = "choose a whole number of microseconds, from 1us to 1ms"
    return UsageError(NO_GUEST(what=f"turns of {turn_ns} ns", hint=hint))
