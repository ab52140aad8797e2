import json
import struct
import threading
import time
from pathlib import Path

import pytest

from howlate.errors import DamagedError
from howlate.lab.guests import qcow2
from howlate.lab.guests.guest import Guest
from lab.guests import bench


class Unbooted(Guest):
    """A machine that never executes an instruction."""

    def image(self, path: Path) -> Path:
        qcow2.create(path)
        deadline = time.monotonic() + 300
        with self.started():
            assert self.monitor is not None
            self.monitor.save(path, deadline)
            self.monitor.quit(deadline)
            self.wait(deadline)
        return path


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("qcow2, image")
    on = bench(folder / "cache")
    return Unbooted(on._boot(on._stored()), folder, threading.Event()).image(folder / "image")


def machine_in(path: Path) -> bytes:
    with path.open("rb") as file:
        return b"".join(qcow2.saved_machine(file))


def test_what_qemu_saved_is_read_as_a_whole(image: Path) -> None:
    """QEMU's stream begins with its mark, and ends with a description of all of it."""
    machine = machine_in(image)
    assert machine.startswith(b"QEVM")
    begin = machine.rindex(b'"page_size"')
    at = machine.rindex(b"\x06", 0, begin)
    (length,) = struct.unpack_from(">I", machine, at + 1)
    assert len(machine) == at + 5 + length
    assert "timer" in {device["name"] for device in json.loads(machine[at + 5 :])["devices"]}


def test_an_image_that_is_cut_is_noticed_wherever_it_is(image: Path, tmp_path: Path) -> None:
    whole = image.read_bytes()
    for size in (0, 71, 1 << 16, 5 << 16, len(whole) // 2):
        cut = tmp_path / "cut"
        cut.write_bytes(whole[:size])
        with pytest.raises(DamagedError):
            machine_in(cut)


def test_an_empty_image_holds_no_machine(tmp_path: Path) -> None:
    qcow2.create(tmp_path / "empty")
    with pytest.raises(DamagedError, match="is empty"):
        machine_in(tmp_path / "empty")
