"""The shared libraries of a probe that is not static, and the refusal of what is no probe."""

import subprocess
from pathlib import Path

import pytest

from howlate.errors import NotPossibleError, UsageError
from howlate.lab.libraries import PASSWD, check_probe, guest_libraries, read_program
from howlate.lab.targets.lab import open_lab
from howlate.system.paths import probe_path
from howlate.targets import LabOptions


def built(folder: Path, name: str, text: str, *options: str) -> Path:
    source = folder / f"{name}.c"
    source.write_text(text)
    subprocess.run(["gcc", str(source), "-o", str(folder / name), *options], check=True)
    return folder / name


def test_the_static_probe_needs_nothing() -> None:
    assert guest_libraries(probe_path()) == {}


def test_a_program_s_libraries_stand_where_its_linker_looks(tmp_path: Path) -> None:
    """A library of one's own, named by a path in the program, lies beside the C library in the guest."""
    own = built(
        tmp_path, "libown.so", "int own(void) { return 7; }", "-shared", "-fPIC", "-Wl,-soname,libown.so"
    )
    text = "int own(void); int main(void) { return own() - 7; }"
    program = built(tmp_path, "program", text, str(own), f"-Wl,-rpath,{tmp_path}")
    files = guest_libraries(program)
    (folder,) = {str(Path(name).parent) for name in files if Path(name).name.startswith("libc.so")}
    assert files[f"{folder}/libown.so"] == own.read_bytes()
    linker = read_program(program.read_bytes())
    assert linker is not None and linker.interpreter.lstrip("/") in files
    assert files[PASSWD].startswith(b"root:")
    assert not any(name.startswith("/") for name in files)


def test_a_library_that_is_not_there_is_named(tmp_path: Path) -> None:
    own = built(
        tmp_path, "libgone.so", "int own(void) { return 7; }", "-shared", "-fPIC", "-Wl,-soname,libgone.so"
    )
    program = built(
        tmp_path, "program", "int own(void); int main(void) { return own(); }", f"-L{tmp_path}", "-lgone"
    )
    own.unlink()
    with pytest.raises(NotPossibleError, match="libgone"):
        guest_libraries(program)


@pytest.mark.parametrize("data", [b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01"])
def test_what_is_no_program_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "it").write_bytes(data)
    with pytest.raises(UsageError, match="not a program for amd64"):
        check_probe(tmp_path / "it", "amd64")


def test_a_probe_for_another_architecture_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="arm64"):
        check_probe(built(tmp_path, "here", "int main(void) { return 0; }"), "arm64")
    with pytest.raises(UsageError, match="cannot be used"):
        check_probe(tmp_path / "gone", "amd64")


def test_a_program_that_is_not_howlate_s_probe_is_refused(tmp_path: Path) -> None:
    other = built(tmp_path, "other", "int main(void) { return 0; }")
    with pytest.raises(UsageError, match="it is another program") as caught:
        check_probe(other, "amd64")
    assert "--with-cobalt" in caught.value.remedy
    assert check_probe(probe_path(), "amd64") == probe_path().read_bytes()


def test_what_is_no_probe_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        open_lab("6.1", LabOptions(probe=tmp_path / "gone"), cache=tmp_path)
