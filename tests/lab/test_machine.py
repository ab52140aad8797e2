import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.errors import NotPossibleError, UsageError
from howlate.lab.devices import CARDS
from howlate.lab.guests.guest import Boot
from howlate.lab.guests.machine import ARCHITECTURES, NAMED, Machine, Places, escaped
from howlate.lab.guests.snapshot import key_of
from howlate.model.run import REAL
from howlate.targets import open_target

MACHINE = Machine.of("amd64")
BOOT = Boot(MACHINE, Path("/a/vmlinuz"), Path("/a/initramfs"), MACHINE.command_line(()))


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_several_cpus_in_real_time_are_qemus_own(arch: str) -> None:
    assert "-smp 4" in " ".join(Machine.of(arch, REAL, 4).arguments(NAMED, ""))


def test_no_cpu_makes_no_sense() -> None:
    with pytest.raises(UsageError):
        Machine.of("amd64", REAL, 0)


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_nothing_random_and_no_time_of_this_host_gets_in(arch: str) -> None:
    line = " ".join(Machine.of(arch).arguments(NAMED, ""))
    for wanted in (
        "shift=0,sleep=off",
        "-seed 1",
        "clock=vm",
        "-nodefaults",
        "-no-user-config",
        "thread=single",
    ):
        assert wanted in line
    assert "kvm" not in line


def test_instructions_whose_count_is_not_their_cost_are_off() -> None:
    line = " ".join(MACHINE.arguments(NAMED, ""))
    for feature in ("erms", "fsrm", "rdrand", "rdseed"):
        assert f"-{feature}" in line


def test_a_comma_in_a_path_stays_in_the_path() -> None:
    places = Places("/k", "/i", "/a,b/window", "/a,b/console")
    assert escaped("/a,b") == "/a,,b"
    line = " ".join(MACHINE.arguments(places, ""))
    assert "mem-path=/a,,b/window" in line
    assert "path=/a,,b/console" in line


def test_the_labels_parameters_come_after_the_labs_own() -> None:
    words = MACHINE.command_line(("preempt=none", "x=1")).split()
    assert words[0] == "console=ttyS0"
    assert words[-2:] == ["preempt=none", "x=1"]


def test_a_key_knows_no_path_of_the_host() -> None:
    elsewhere = replace(BOOT, kernel=Path("/b/other"), initramfs=Path("/c"))
    assert key_of(BOOT, "1", "2") == key_of(elsewhere, "1", "2")


def test_whatever_a_guest_depends_on_changes_its_key() -> None:
    keys = [
        key_of(BOOT, "1", "2"),
        key_of(BOOT, "1", "3"),
        key_of(BOOT, "3", "2"),
        key_of(replace(BOOT, command_line="other"), "1", "2"),
        key_of(replace(BOOT, kernel=Path("/a/vmlinux")), "1", "2"),
        key_of(replace(BOOT, machine=Machine.of("amd64", REAL)), "1", "2"),
    ]
    assert len(set(keys)) == len(keys)


def test_a_guest_boots_at_another_speed_than_it_measures_and_that_is_part_of_its_key() -> None:
    """An instruction of a boot takes 8 ns, and one of a cell 1 ns."""
    assert "shift=3,sleep=off" in " ".join(MACHINE.arguments(NAMED, "", 3))
    assert "shift=0,sleep=off" in " ".join(MACHINE.arguments(NAMED, ""))
    assert [architecture.boot_shift for architecture in ARCHITECTURES.values()] == [3, 0]
    unpacked = replace(BOOT, kernel=Path("/a/vmlinux"))
    assert (BOOT.shift, unpacked.shift) == (0, 3)
    otherwise = dataclasses.replace(MACHINE, architecture=replace(MACHINE.architecture, boot_shift=0))
    assert key_of(unpacked, "1", "2") != key_of(replace(unpacked, machine=otherwise), "1", "2")


def test_only_in_virtual_time_does_the_lab_know_the_clocks_rate() -> None:
    assert "tsc_early_khz=1000000" in MACHINE.command_line(()).split()
    assert "tsc" not in Machine.of("amd64", REAL).command_line(())
    assert "tsc" not in Machine.of("arm64").command_line(())


def test_a_device_that_a_cell_needs_is_there_and_part_of_the_key() -> None:
    plain, with_edu = Machine.of("amd64"), dataclasses.replace(Machine.of("amd64"), devices=("edu",))
    assert "edu" not in plain.arguments(NAMED, "")
    arguments = with_edu.arguments(NAMED, "")
    assert arguments[arguments.index("edu") - 1] == "-device"
    keys = {key_of(Boot(one, Path(), Path(), ""), "a", "b") for one in (plain, with_edu)}
    assert len(keys) == 2


def test_network_cards_come_as_pairs_each_on_a_hub_of_its_own() -> None:
    """With addresses by which the load knows them, and without a file of the host's. Hub 0 makes the turns of several
    CPUs."""
    arguments = dataclasses.replace(Machine.of("amd64", cpus=2), devices=(*CARDS, "edu")).arguments(NAMED, "")
    ports = [word.rpartition("hubid=")[2] for word in arguments if word.startswith("hubport")]
    assert sorted(ports) == sorted(["0", *(str(hub) for hub in range(1, len(CARDS) + 1) for _ in range(2))])
    pairs = [[word for word in arguments if word.startswith(f"{name},")] for name in CARDS]
    cards = [card for pair in pairs for card in pair]
    assert [len(pair) for pair in pairs] == [2] * len(CARDS)
    assert len({card.partition("mac=")[2] for card in cards}) == len(cards)
    assert all(",mac=02:68:6c:" in card and card.endswith(",romfile=") for card in cards)


def test_the_load_offers_the_cards_that_a_guest_can_have() -> None:
    loads = {load.name: load for load in open_target("local").capabilities().loads}
    assert tuple(need.name for need in loads["network"].devices) == CARDS


def test_qemu_is_known_by_its_bytes() -> None:
    found = MACHINE.identity()
    assert "version" in found["version"]
    assert len(found["program"]) == 64
    assert len(found["bios-256k.bin"]) == 64


def test_qemus_accelerator_is_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for number in ("1", "2"):
        program = tmp_path / number / "bin" / "qemu-system-x86_64"
        module = tmp_path / number / "lib" / "x86_64-linux-gnu" / "qemu" / "accel-tcg-x86_64.so"
        for folder in (program.parent, module.parent):
            folder.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho made\n")
        program.chmod(0o755)
        module.write_text(number)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        found.append(MACHINE.identity())
    assert found[0]["program"] == found[1]["program"]
    assert found[0]["accel-tcg-x86_64.so"] != found[1]["accel-tcg-x86_64.so"]


@pytest.mark.parametrize("step", ["FORMAT", "AFTER_NS"])
def test_how_a_guest_is_saved_is_an_input(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    before = key_of(BOOT, "1", "2")
    monkeypatch.setattr(f"howlate.lab.guests.snapshot.{step}", 7)
    assert key_of(BOOT, "1", "2") != before


def test_an_emulator_that_is_not_installed_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotPossibleError, match="qemu-system-x86_64"):
        MACHINE.emulator()
