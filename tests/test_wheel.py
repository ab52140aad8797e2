"""The wheel: built by the backend of pyproject.toml, installed without the checkout, measuring with its own probe."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import howlate
from howlate.system.paths import ARCHITECTURES, ROOT, emulator_clock_path, emulator_trace_path, probe_path
from processes import completed

ARCHITECTURE = ARCHITECTURES[os.uname().machine]


def build(out: Path, probes: Path) -> subprocess.CompletedProcess[str]:
    return completed(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        env={**os.environ, "HOWLATE_WHEEL_PROBES": str(probes)},
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With this machine's probe alone: those of other architectures take a cross compiler."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "probes" / ARCHITECTURE).mkdir(parents=True)
    (folder / "probes" / ARCHITECTURE / "howlate-probe").symlink_to(probe_path())
    (folder / "probes" / ARCHITECTURE / "howlate-clock.so").symlink_to(emulator_clock_path())
    (folder / "probes" / ARCHITECTURE / "howlate-trace.so").symlink_to(emulator_trace_path())
    done = build(folder / "out", folder / "probes")
    assert done.returncode == 0, done.stderr
    (made,) = (folder / "out").iterdir()
    return made


class Installed:
    """A virtual environment that holds the wheel, and takes the packages that it needs from the tests' own."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        venv.create(folder / "venv")
        bin_folder = folder / "venv" / "bin"
        self.command = bin_folder / "howlate"
        (packages,) = (folder / "venv" / "lib").glob("python3*/site-packages")
        (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "--python",
                bin_folder / "python",
                "install",
                "-q",
                "--no-deps",
                wheel,
            ],
            check=True,
            env=self.environment(PIP_NO_INDEX="1"),
        )

    def environment(self, **more: str) -> dict[str, str]:
        """Without what leads to the checkout."""
        kept = {
            name: os.environ[name] for name in ("PATH", "LC_ALL", "HOWLATE_QUIET_S") if name in os.environ
        }
        return {**kept, "HOME": str(self.folder), **more}

    def __call__(self, *arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        return completed(
            [str(self.command), *map(str, arguments)], cwd=self.folder, env=self.environment(**more)
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


def test_it_holds_probe_studies_documents_modules_and_settings(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert wheel.name == f"howlate-{howlate.__version__}-py3-none-any.whl"
    assert {
        f"howlate/probes/{ARCHITECTURE}/howlate-probe",
        f"howlate/probes/{ARCHITECTURE}/howlate-clock.so",
        f"howlate/probes/{ARCHITECTURE}/howlate-trace.so",
        "howlate/studies/check.toml",
        "howlate/published/studies/tut-2017.toml",
        "howlate/published/documents/tut-2017.toml",
        "howlate/kmod/howlate_irq.c",
        "howlate/settings.toml",
        "howlate/document/page.js",
    } <= names


def test_without_a_probe_no_wheel_is_built(tmp_path: Path) -> None:
    done = build(tmp_path / "out", tmp_path)
    assert done.returncode == 1
    assert "`./dev wheel` builds them" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_it_says_its_version_and_lists_what_it_holds(installed: Installed) -> None:
    assert installed("--version").stdout == f"howlate, version {howlate.__version__}\n"
    studies = installed("studies").stdout
    assert "check " in studies and "tut-2017 " in studies
    assert "toshiba-2010" in installed("reference", "list").stdout
    assert "settings.toml" in installed("settings").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_has_completion(installed: Installed, shell: str) -> None:
    done = installed("completion", shell)
    assert done.returncode == 0 and "_HOWLATE_COMPLETE" in done.stdout


def test_bash_is_told_the_studies(installed: Installed) -> None:
    done = installed(_HOWLATE_COMPLETE="bash_complete", COMP_WORDS="howlate run ch", COMP_CWORD="2")
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,check\n", "")


def test_it_measures_with_its_own_probe_and_shows_the_run(installed: Installed) -> None:
    axes = ("--set", "load=none", "--set", "order.repetitions=1", "--set", "duration=1s")
    done = installed("run", "check", *axes, "--out", "measured")
    assert done.returncode in (0, 5), done.stderr
    shown = installed("show", "measured", "--json")
    assert shown.returncode == 0, shown.stderr
    (cell,) = json.loads(shown.stdout)["cells"]
    assert cell["accounting"]["recorded"] > 0
