"""The launchers' quick way in: a stamp counts only while what it stands for is there."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from howlate import __version__ as howlate_version
from howlate.errors import NotPossibleError
from howlate.lab.archive.apt import default_keyring
from howlate.model.facts import Facts
from howlate.settings._check import granting
from howlate.system import paths as places
from made_clone import Clone
from processes import completed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone in which everything is made."""
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe" / "main.cpp").touch()
    (tmp_path / "requirements.lock").write_text("a==1")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "lib" / "python3.11").mkdir(parents=True)
    (tmp_path / ".venv" / ".requirements.lock").write_text("a==1")
    for name in ("python3.11", "python3.12"):
        (tmp_path / name).touch(0o755)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(tmp_path / "python3.11")
    built = tmp_path / "build" / "probe"
    built.mkdir(parents=True)
    (built / "howlate-probe").touch(0o755)
    for path in (tmp_path / "probe", tmp_path / "probe" / "main.cpp"):
        os.utime(path, (1, 1))
    (built / ".built").touch()
    return tmp_path


def is_old(root: Path) -> tuple[bool, bool]:
    """The virtual environment, the probe."""
    asked = (
        f"root='{root}'; . '{places.ROOT}/tools/setup.sh'; root='{root}'\n"
        'venv_is_old "$root/requirements.lock"; venv=$?\n'
        'probe_is_old "$root/build/probe/.built"; echo "$venv $?"'
    )
    done = completed(["bash", "-u", "-c", asked], check=True)
    venv, probe = done.stdout.split()
    return venv == "0", probe == "0"


def test_what_is_made_is_not_made_again(root: Path) -> None:
    assert is_old(root) == (False, False)


def test_a_probe_that_is_gone_is_built_again(root: Path) -> None:
    (root / "build" / "probe" / "howlate-probe").unlink()
    assert is_old(root) == (False, True)


def test_a_changed_source_is_built_again(root: Path) -> None:
    os.utime(root / "probe" / "main.cpp", (2**31, 2**31))
    assert is_old(root) == (False, True)


def test_another_lock_is_installed(root: Path) -> None:
    (root / "requirements.lock").write_text("a==2")
    assert is_old(root) == (True, False)


def test_a_new_python_has_nothing_of_the_old_ones(root: Path) -> None:
    """It stands under the same name, and the packages below the old one's version."""
    python = root / ".venv" / "bin" / "python"
    python.unlink()
    assert is_old(root) == (True, False)
    python.symlink_to(root / "python3.12")
    assert is_old(root) == (True, False)


def test_the_cross_probe_of_this_machine_is_as_new_as_its_own_even_where_it_stays_the_same(
    root: Path,
) -> None:
    own, stamp = root / "build" / "probe" / "howlate-probe", root / "build" / "probe" / ".built"
    clock, trace = own.with_name("howlate-clock.so"), own.with_name("howlate-trace.so")
    copy = root / "build" / "cross" / os.uname().machine / "howlate-probe"
    shutil.copytree(places.ROOT / "tools", root / "tools")
    for content, built in ((b"one", 1000), (b"one", 2000), (b"two", 3000)):
        own.write_bytes(content)
        clock.write_bytes(content)
        trace.write_bytes(content)
        os.utime(own, (999, 999))
        os.utime(stamp, (built, built))
        os.utime(root / "probe" / "main.cpp", (built - 1, built - 1))
        asked: list[str | Path] = [root / "tools" / "ready.sh", "probe", os.uname().machine]
        subprocess.run(asked, capture_output=True, check=True)
        assert copy.read_bytes() == copy.with_name(clock.name).read_bytes() == content
        assert copy.with_name(trace.name).read_bytes() == content
        assert copy.with_name(".built").stat().st_mtime == built


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize("place", ["$root/build/probe", "build/unit"])
@pytest.mark.parametrize("way", ["moved", "copied"])
def test_a_checkout_that_was_moved_or_copied_builds_again(clone: Clone, place: str, way: str) -> None:
    """By the real CMake, which refuses a folder that it configured under another name."""
    project = "cmake_minimum_required(VERSION 3.22)\nproject(p NONE)\nadd_custom_target(howlate-probe)\n"
    (clone.root / "probe" / "CMakeLists.txt").write_text(project)
    build = f'build_probe "{place}" howlate-probe'
    assert clone.bash(build).returncode == 0
    kept = clone.root / place.removeprefix("$root/") / "kept"
    kept.touch()
    assert clone.bash(build).returncode == 0
    assert kept.exists()
    there = clone.root.with_name("there")
    clone.root.rename(there) if way == "moved" else shutil.copytree(clone.root, there, symlinks=True)
    clone.root = there
    done = clone.bash(build)
    assert done.returncode == 0, done.stderr
    assert "source does not" not in (there / place.removeprefix("$root/") / "build.log").read_text()


BOOKWORM = {"cmake": "3.25.1-1", "g++": "4:12.2.0-3", "ninja-build": "1.11", "python3": "3.11.2-1+b1"}
BOOKWORM["python3-venv"] = BOOKWORM["python3"]
NEED = 'need_packages "${packages_run[@]}"'


# What is asked before anything is installed


def test_what_is_too_old_is_refused_before_anything_is_installed(clone: Clone) -> None:
    clone.debian({"cmake": "3.18.4-2", "g++": "4:10.2.1-1", "python3": "3.9.2-3", "python3-venv": "3.9.2-3"})
    done = clone.bash(f"install=yes\n{NEED}")
    assert done.returncode == 3
    for what in (
        "Python 3.9.2 instead of 3.11",
        "GCC 10.2.1 instead of 11",
        "CMake 3.18.4 instead of 3.22",
        "ssh:root@",
    ):
        assert what in done.stderr
    assert not [call for call in clone.calls() if "install" in call]


def test_a_newer_python_beside_the_distributions_is_taken(clone: Clone) -> None:
    """Ubuntu 22.04's is 3.10, and it packages 3.11."""
    own = BOOKWORM | {"python3": "3.10.6-1", "python3-venv": "3.10.6-1"}
    clone.debian(own | {"python3.11": "3.11.0", "python3.11-venv": "3.11.0"})
    assert clone.bash(f"install=yes\n{NEED}").returncode == 0
    (installed,) = [call for call in clone.calls() if call.startswith("apt-get install -y")]
    assert installed.endswith("cmake g++ ninja-build python3.11 python3.11-venv")


def test_without_a_terminal_nothing_is_installed_but_by_the_two_commands(clone: Clone) -> None:
    clone.debian(BOOKWORM)
    done = clone.bash(NEED)
    assert done.returncode == 3
    assert "apt-get install --no-install-recommends cmake g++ ninja-build python3 python3-venv" in done.stderr
    assert not [call for call in clone.calls() if "-y" in call]
    for agreed in ("install=unasked", "install=yes"):
        clone.log.unlink()
        assert clone.bash(f"{agreed}\n{NEED}").returncode == 0
        assert [call for call in clone.calls() if "install -y" in call]


@pytest.mark.parametrize(
    ("command", "code"), [("check", 4), ("run timers", 3), ("lab kernels", 3), ("--yes run timers", 4)]
)
def test_the_launcher_installs_unasked_for_check_alone(clone: Clone, command: str, code: int) -> None:
    """Code 4: it went on to install, which this stand-in cannot."""
    clone.debian(BOOKWORM)
    clone.stand_in("apt-get", "case $* in *-y*) exit 1 ;; esac")
    clone.find_no_python()
    assert clone.run("./howlate", *command.split()).returncode == code
    assert any("install -y" in call for call in clone.calls()) == (code == 4)


@pytest.mark.parametrize(("answer", "code"), [("n\n", 3), ("y\n", 0), ("\n", 0), ("", 3)])
def test_it_asks_on_the_terminal_though_the_messages_go_to_a_file(
    clone: Clone, answer: str, code: int
) -> None:
    clone.debian(BOOKWORM)
    script = (
        f"setsid --ctty bash -u -c 'root=$PWD; . tools/setup.sh; find_python() {{ return 1; }}; {NEED}' 2>log"
    )
    ours, theirs = os.openpty()
    try:
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=clone.root,
            env={"PATH": f"{clone.bin}:/usr/bin:/bin"},
            stdin=theirs,
            stdout=subprocess.PIPE,
        )
        os.close(theirs)
        asked = b""
        while b"[Y/n]" not in asked:
            asked += os.read(ours, 1024)
        os.write(ours, answer.encode() or b"\x04")
        assert process.wait() == code
    finally:
        os.close(ours)
    assert b"install cmake g++ ninja-build python3 python3-venv" in asked.replace(b"\r\n", b"")
    assert any("install -y" in call for call in clone.calls()) == (code == 0)


@pytest.mark.parametrize(
    "said",
    [
        "0 upgraded, 61 newly installed, 0 to remove and 3 not upgraded.\nNeed to get 95.0 MB of archives.\n"
        "After this operation, 378 MB of additional disk space will be used.\n",
        "Summary:\n  Upgrading: 0, Installing: 61, Removing: 0, Not Upgrading: 3\n  Download size: 95.0 MB\n"
        "  Space needed: 378 MB / 79.0 GB available\n",
    ],
    ids=["apt 2", "apt 3"],
)
def test_what_packages_cost_is_told_in_apts_figures(clone: Clone, said: str) -> None:
    clone.stand_in("apt-get", f"cat <<'END'\n{said}END")
    assert clone.bash("apt_cost g++").stdout == "61 packages, 95.0 MB to fetch, 378 MB on disk\n"


def test_no_network_is_told_with_a_way_out(clone: Clone) -> None:
    (clone.root / "requirements.lock").write_text("click==8.1.8 --hash=sha256:" + "0" * 64 + "\n")
    script = 'root=$PWD; . tools/setup.sh; install=yes; need_venv "$root/requirements.lock"'
    done = clone.run("bash", "-u", "-c", script, PIP_NO_INDEX="1")
    assert done.returncode == 4
    assert "pip download" in done.stderr
    assert "PIP_FIND_LINKS" in done.stderr


# Help, version and lists


BARE = "bash dirname env find flock head id mkdir readlink sed sort touch uname"
HELP = ("--help", "-h", "", "check --help", "lab run --help", "run x -h", "lab")
LISTS = ("studies", "studies show check", "reference list", "completion bash")


@pytest.mark.parametrize("words", (*HELP, *LISTS, "--version"))
def test_help_version_and_lists_install_nothing(clone: Clone, words: str) -> None:
    """Before the set-up they say in a sentence what makes it."""
    clone.debian(BOOKWORM)
    before = sorted(clone.root.iterdir())
    done = clone.run("./howlate", *words.split())
    if words == "--version":
        assert (done.returncode, done.stdout) == (0, f"howlate, version {howlate_version}\n")
    else:
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
        assert "`./howlate check` sets everything up" in done.stderr
    assert sorted(clone.root.iterdir()) == before
    assert not clone.calls()


@pytest.mark.parametrize("words", (*HELP, *LISTS, "--version"))
def test_they_take_the_environment_that_is_there_however_old(clone: Clone, words: str) -> None:
    clone.environment("of another lock")
    done = clone.run("./howlate", *words.split())
    assert (done.returncode, done.stdout) == (0, " ".join(("-P -m howlate", *words.split())) + "\n")
    assert not clone.calls()


def test_a_shell_that_asks_how_a_line_goes_on_is_told_nothing_before_the_set_up(clone: Clone) -> None:
    clone.debian(BOOKWORM)
    done = clone.run("./howlate", "run", _HOWLATE_COMPLETE="bash_complete")
    assert (done.returncode, done.stdout, done.stderr, clone.calls()) == (0, "", "", [])


@pytest.mark.parametrize("words", ["show RUN", "lab kernels", "lab run check", "check", "run -- --help"])
def test_with_its_environment_the_launcher_only_starts_howlate(clone: Clone, words: str) -> None:
    clone.debian(BOOKWORM)
    clone.environment((clone.root / "requirements.lock").read_text())
    done = clone.run("./howlate", *words.split())
    assert (done.returncode, done.stdout) == (0, f"-P -m howlate {words}\n")
    assert not clone.calls()
    assert not (clone.root / "build").exists()


@pytest.mark.parametrize("words", ["show RUN", "run timers", "check"])
def test_check_alone_asks_for_the_compiler_at_once(clone: Clone, words: str) -> None:
    clone.debian(BOOKWORM)
    clone.find_no_python()
    done = clone.run("./howlate", "--no-install", *words.split())
    compiler = "cmake g++ ninja-build " if words == "check" else ""
    assert done.returncode == 3
    assert f"are missing: {compiler}python3 python3-venv" in done.stderr


# What howlate asks for when it comes to it


def test_the_probe_is_built_when_a_command_comes_to_it(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Once in a process, and again when a source has changed; never where one is named."""
    clone.stand_in(
        "cmake",
        'case $1 in -S) mkdir -p "$4" && : >"$4/howlate-probe" && chmod +x "$4/howlate-probe" ;; esac',
    )
    clone.stand_in("dpkg-query", "printf installed")
    monkeypatch.setattr(places, "ROOT", clone.root)
    monkeypatch.setenv("PATH", f"{clone.bin}:/usr/bin:/bin")
    (named := clone.bin / "named").touch(0o755)
    monkeypatch.setenv("HOWLATE_PROBE", str(named))
    assert places.probe_path() == named
    assert not clone.calls()
    monkeypatch.delenv("HOWLATE_PROBE")
    for _ in range(2):
        assert places.probe_path() == clone.root / "build" / "probe" / "howlate-probe"
    assert len([call for call in clone.calls() if call.startswith("cmake -S")]) == 1
    assert "building the probe" in capfd.readouterr().err
    places._own_ready.cache_clear()
    os.utime(clone.root / "probe", (2**31, 2**31))
    places.probe_path()
    assert len([call for call in clone.calls() if call.startswith("cmake -S")]) == 2


@pytest.mark.parametrize(
    ("asked", "packages"),
    [
        (lambda: places.probe_path(), "cmake g++ ninja-build"),
        (lambda: places.make_ready("amd64"), "debootstrap"),
        (lambda: places.make_ready("arm64"), "qemu-system-arm"),
        (lambda: default_keyring(), "gpgv debian-archive-keyring"),
    ],
    ids=["probe", "amd64", "arm64", "archive"],
)
def test_what_is_missing_is_named_when_a_command_comes_to_it(
    clone: Clone,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    asked: Callable[[], object],
    packages: str,
) -> None:
    clone.debian(BOOKWORM)
    monkeypatch.setattr(places, "ROOT", clone.root)
    monkeypatch.setattr("howlate.lab.archive.apt.KEYRINGS", ())
    monkeypatch.delenv("HOWLATE_PROBE")
    for name in BARE.split():
        (clone.bin / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(clone.bin))
    monkeypatch.setenv("HOWLATE_INSTALL", "no")
    with pytest.raises(NotPossibleError, match="the reason above"):
        asked()
    assert packages in capfd.readouterr().err


def test_what_guests_of_another_kind_need_and_is_there_is_not_locked_for(clone: Clone) -> None:
    """Whoever may not write the checkout measures with what is built."""
    other, arch = ("amd64", "x86_64") if os.uname().machine == "aarch64" else ("arm64", "aarch64")
    for name in (f"qemu-system-{arch}", "debootstrap"):
        clone.stand_in(name)
    built = clone.root / "build" / "cross" / arch
    built.mkdir(parents=True)
    for name in ("howlate-probe", ".built"):
        (built / name).touch(0o755)
    assert clone.run("tools/ready.sh", "guest", other).returncode == 0
    assert not (clone.root / "build" / ".lock").exists()


# Building the probe


def test_warnings_are_errors_for_developers_alone(tmp_path: Path) -> None:
    for wanted in ("OFF", "ON"):
        folder = tmp_path / wanted
        subprocess.run(
            ["cmake", "-S", places.ROOT / "probe", "-B", folder, "-G", "Ninja", f"-DHOWLATE_WERROR={wanted}"],
            capture_output=True,
            check=True,
        )
        assert ("-Werror" in (folder / "compile_commands.json").read_text()) == (wanted == "ON")


def test_the_probe_of_howlate_is_built_without_them_also_by_dev(clone: Clone) -> None:
    clone.stand_in("cmake", 'case $1 in -S) mkdir -p "$4" && : >"$4/howlate-probe" ;; esac')
    assert clone.bash("werror=ON\nneed_probe; build_probe build/unit probe-unit").returncode == 0
    own, unit = [call for call in clone.calls() if "-S" in call]
    assert "-DHOWLATE_WERROR=OFF" in own
    assert "-DHOWLATE_WERROR=ON" in unit


def test_flags_of_the_user_reach_the_compiler_and_none_keeps_what_is_built(clone: Clone) -> None:
    clone.stand_in("cmake", "[ $1 != -S ] || echo here: $(ls build/probe/CMakeCache.txt)")
    probe = clone.root / "build" / "probe"
    probe.mkdir(parents=True)
    configured = f"CMAKE_HOME_DIRECTORY:INTERNAL={clone.root}/probe\nCMAKE_CACHEFILE_DIR:INTERNAL={probe}\n"
    is_old = 'flags_differ build/probe; echo "$?"'
    for flags, there in (("-O1", False), ("-O1", True), ("-O2", False), ("", True)):
        (probe / "CMakeCache.txt").write_text(configured)
        differ = clone.bash(is_old, CXXFLAGS=flags).stdout.strip() == "0"
        assert differ is not there
        clone.bash("build_probe build/probe howlate-probe", CXXFLAGS=flags)
        assert ("CMakeCache.txt" in (probe / "build.log").read_text().partition("here:")[2]) is there


def test_a_failed_build_names_a_way_out_and_keeps_no_flags(clone: Clone) -> None:
    clone.stand_in("cmake", "echo 'x.cpp:1: error: no' && exit 1")
    (clone.root / "build" / "probe").mkdir(parents=True)
    (clone.root / "build" / "probe" / "CMakeCache.txt").touch()
    done = clone.bash("build_probe build/probe howlate-probe", CXXFLAGS="-nonsense")
    assert done.returncode == 4
    assert "x.cpp:1: error: no" in done.stderr
    assert "CXX=" in done.stderr
    assert not (clone.root / "build" / "probe" / "CMakeCache.txt").exists()
    assert clone.bash("flags_differ build/probe; echo $?", CXXFLAGS="-nonsense").stdout == "0\n"


# Hints


def test_hints_name_howlate_as_it_was_called(clone: Clone) -> None:
    on_path = clone.bin / "howlate"
    on_path.symlink_to(clone.root / "howlate")
    for given, typed in (
        ("./howlate", "./howlate"),
        ("howlate", "./howlate"),
        ("/a b/howlate", "/a\\ b/howlate"),
        (str(on_path), "howlate"),
    ):
        assert clone.bash(f"name_to_type '{given}'").stdout == typed


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ("check --help", "Example: ./howlate check --period 500us --policy fifo:90 --deadline 300us"),
        ("check --help", "Usage: ./howlate check"),
        ("check --no-such", "`./howlate check --help`"),
        ("run", "`./howlate run --help` shows how"),
        ("lab kernels --help", "`./howlate lab fetch`"),
        ("probe cyclic --help", "usage: ./howlate probe cyclic"),
        ("probe --no-such", "./howlate probe --help"),
    ],
)
def test_every_command_that_is_named_can_be_typed(argv: str, expected: str) -> None:
    done = completed(
        [sys.executable, "-m", "howlate", *argv.split()],
        env=os.environ | {"HOWLATE_COMMAND": "./howlate", "LANG": "C.UTF-8"},
    )
    assert expected in " ".join((done.stdout + done.stderr).split())


def test_the_doctor_and_the_probe_grant_the_same_rights_to_the_same_file() -> None:
    path = os.environ["HOWLATE_PROBE"]
    facts = json.loads(subprocess.run([path, "facts", "--json"], capture_output=True, check=True).stdout)
    assert facts["values"]["caller.program"] == str(Path(path).resolve())
    command = granting(Facts.from_json(facts))
    assert command == f"/sbin/setcap cap_sys_nice,cap_ipc_lock=ep {Path(path).resolve()}"
    done = completed(
        f"setpriv --securebits=+noroot --inh-caps=-all {path} cyclic --policy fifo:80 --activations 1".split()
    )
    assert done.returncode == 3
    assert f"`{command}` (package libcap2-bin)" in done.stderr


def test_no_file_of_a_session_is_granted_rights() -> None:
    assert granting(Facts({"caller.program": "/dev/shm/howlate.a1b2/howlate-probe"})) == ""


@pytest.mark.parametrize(("term", "draws"), [("xterm", True), ("dumb", False)])
def test_a_build_shows_how_many_files_are_built_and_keeps_every_line(
    tmp_path: Path, term: str, draws: bool
) -> None:
    """The first line comes in two parts, and the last one without its end."""
    built = "printf '[1/4] Buil'; sleep 1.2; printf 'ding a\\n[2/4] Building b\\n'; printf 'error: c'"
    script = f"root={places.ROOT}; . {places.ROOT}/tools/setup.sh; {{ {built}; }} | log_build log"
    ours, theirs = os.openpty()
    done = subprocess.run(
        ["bash", "-u", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "TERM": term},
        stderr=theirs,
        check=False,
    )
    shown = os.read(ours, 65536).decode() if select.select([ours], [], [], 0)[0] else ""
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    assert (tmp_path / "log").read_text() == "[1/4] Building a\n[2/4] Building b\nerror: c"
    drawn = [text.strip() for text in re.findall(r"\r([^\r\x1b]*)\x1b\[K", shown)]
    assert bool(drawn) is draws
    if draws:
        files = [text.partition("  ")[0] for text in drawn if "files" in text]
        assert files == ["1 of 4 files", "2 of 4 files"] and drawn[-1] == ""
