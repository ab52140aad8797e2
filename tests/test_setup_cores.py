"""`./dev probe --with-cobalt --with-evl`: what is built, and what is left out in one line."""

import sys
from pathlib import Path

import pytest

from made_clone import Clone
from test_outside import install

NOWHERE = {"XENO_CONFIG": "/nowhere/xeno-config", "EVL_PC": "/nowhere/evl.pc"}
NO_COBALT = "Cobalt (no xeno-config on the PATH or in /usr/xenomai/bin; XENO_CONFIG names another)"
NO_EVL = "EVL (pkg-config does not know evl; EVL_PC names its evl.pc)"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        ("--with-cobalt --with-evl", f"{NO_COBALT}; {NO_EVL}"),
        ("--with-evl --with-cobalt", f"{NO_EVL}; {NO_COBALT}"),
        ("--with-cobalt", NO_COBALT),
        ("--with-evl", NO_EVL),
    ],
)
def test_without_a_core_s_library_its_probe_is_left_out_in_one_line(
    clone: Clone, options: str, left_out: str
) -> None:
    clone.stand_in("dpkg-query", "printf installed")
    done = clone.run("./dev", "probe", *options.split(), **NOWHERE)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line == f"howlate: left out: {left_out}"
    assert [path.name for path in clone.root.glob("build/*")] == [".lock"]


def test_with_one_library_that_core_s_probe_is_built_and_the_other_left_out(clone: Clone) -> None:
    """As far as the build, which is another test's."""
    clone.stand_in("xeno-config")
    for name in ("dpkg-query", "cmake"):
        clone.stand_in(name, "printf installed")
    done = clone.run("./dev", "probe", "--with-cobalt", "--with-evl", EVL_PC=NOWHERE["EVL_PC"])
    assert done.returncode == 3
    (configured,) = [call for call in clone.calls() if call.startswith("cmake -S")]
    assert f"-B {clone.root}/build/probe-cobalt " in configured
    assert f"-DHOWLATE_COBALT={clone.bin}/xeno-config" in configured
    assert done.stderr.splitlines()[-1] == f"howlate: left out: {NO_EVL}"


NO_ROOMS = "rooms (no package in .venv declares howlate.rooms)"


@pytest.mark.parametrize("printed", ["", "/site/acme;/site/other"])
def test_a_probe_with_timers_from_outside_is_built_where_a_package_declares_them(
    clone: Clone, printed: str
) -> None:
    python = clone.root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho '{printed}'\n")
    python.chmod(0o755)
    for name in ("dpkg-query", "cmake"):
        clone.stand_in(name, "printf installed")
    done = clone.run("./dev", "probe", "--with-rooms")
    configured = [call for call in clone.calls() if call.startswith("cmake -S")]
    if printed:
        assert f"-B {clone.root}/build/probe-rooms " in configured[0]
        assert f"-DHOWLATE_ROOMS={printed}" in configured[0]
    else:
        assert (done.returncode, configured) == (3, [])
        assert done.stderr.splitlines()[-1] == f"howlate: left out: {NO_ROOMS}"


@pytest.mark.parametrize("sound", [True, False])
def test_a_package_that_cannot_be_used_is_named_where_a_probe_is_built(clone: Clone, sound: bool) -> None:
    """By the real Python, beside a package that can be used or without one."""
    site = clone.root / "site"
    install(site, {}, "late_extras")
    (site / "late_extras-1.0.dist-info" / "entry_points.txt").write_text(
        "[howlate.rooms]\nextras = acme-late\n"
    )
    if sound:
        install(site, {"__init__.py": ""}, "other_extras")
    python = clone.root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{site}" PYTHONDONTWRITEBYTECODE=1 exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    for name in ("dpkg-query", "cmake"):
        clone.stand_in(name, "printf installed")
    done = clone.run("./dev", "probe", "--with-rooms")
    named, *_, last = done.stderr.splitlines()
    assert named.startswith("howlate: ") and "package late-extras" in named
    configured = [call for call in clone.calls() if call.startswith("cmake -S")]
    if sound:
        assert f"-DHOWLATE_ROOMS={site}/other_extras" in configured[0]
    else:
        assert (done.returncode, configured, last) == (3, [], f"howlate: left out: {NO_ROOMS}")


NO_CLICK = "No module named click"


def test_what_keeps_the_packages_from_being_listed_is_told(clone: Clone) -> None:
    python = clone.root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho '" + NO_CLICK + "' >&2\nexit 1\n")
    python.chmod(0o755)
    clone.stand_in("dpkg-query", "printf installed")
    done = clone.run("./dev", "probe", "--with-rooms")
    assert done.returncode == 4
    first, last = done.stderr.splitlines()
    assert first == NO_CLICK and last.endswith("reason stands above")


def test_an_unknown_option_of_the_probe_is_refused_before_anything_is_built(clone: Clone) -> None:
    clone.stand_in("dpkg-query", "printf installed")
    done = clone.run("./dev", "probe", "--with-cobalt", "--with-elv", **NOWHERE)
    assert done.returncode == 2
    assert "Give --with-cobalt or --with-evl" in done.stderr
