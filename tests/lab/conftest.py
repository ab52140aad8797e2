"""A boot takes 3 to 9 seconds of a core: tests that are not about booting share the guests that one made."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from howlate.lab.bench import Bench
from howlate.lab.kernels.label import Label
from lab.equipped import DEVICES, PROGRAMS, Guest, compiled, modules_for
from lab.guests import bench, booted_guests
from lab.made_archive import Key, made_key
from lacks import KERNEL, skip


@pytest.fixture(scope="session")
def booted() -> Path:
    return booted_guests()


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    with made_key(tmp_path_factory.mktemp("key") / "home") as made:
        yield made


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    folder = tmp_path_factory.mktemp("programs")
    return {f"bin/{name}": compiled(folder, name) for name in PROGRAMS}


@pytest.fixture
def equipped(tmp_path: Path, booted: Path, programs: Mapping[str, bytes]) -> Guest:
    """A kernel with the programs of this folder, and with all modules where they can be built."""

    def made(name: str) -> Bench:
        extra = {**modules_for(name).files, **programs}
        return bench(tmp_path / str(Label.parse(name)), name, extra, snapshots=booted, devices=DEVICES)

    return made


@pytest.fixture
def guest(equipped: Guest) -> Guest:
    """The same, for what needs the modules."""

    def made(name: str) -> Bench:
        if modules_for(name).absent:
            skip(modules_for(name).absent[0], KERNEL)
        return equipped(name)

    return made
