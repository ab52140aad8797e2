"""As root in a folder, with a cache or with a home of another user's: no lab command executes or imports anything out
of it, traced by strace."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.made_archive import MadeArchive, bzimage, deb, made_key
from lacks import needs_program, needs_root
from made_study import study_text
from processes import completed, environment
from swept import crossed

pytestmark = [
    needs_root,
    needs_program("strace", "strace"),
    needs_program("gpg", "gpg"),
    needs_program("gpgv", "gpgv"),
]
NOBODY = 65534
RELEASE = "6.1.0-5-amd64"
STUDY = study_text("traced", period="1ms", activations=10, axes={"load": ["none"]})
PLANTED = {
    **{f"{name}.py": "import os; open('/proc/self/cwd/RAN', 'w')\n" for name in
       ("json", "click", "random", "queue", "numpy", "sitecustomize", "usercustomize", "tarfile", "lzma")},
    "howlate/__init__.py": "open('/proc/self/cwd/RAN', 'w')\n",
    "howlate/__main__.py": "open('/proc/self/cwd/RAN', 'w')\n",
    **dict.fromkeys(("gpgv", "gpg", "zstd", "make", "qemu-system-x86_64", "apt-get"), "#!/bin/sh\ntouch RAN\n"),
}  # fmt: skip
IN_THE_CACHE = (
    "emulators/qemu-system-x86_1%3a10.0.2+ds-2+deb13u1/usr/bin/qemu-system-x86_64",
    "headers/linux-headers-6.1/usr/src/x/scripts/basic/fixdep",
    "roots/bookworm-amd64-0/root/bin/sh",
)
COMMANDS = {
    "kernels": ["kernels"],
    "fetch": ["fetch", "6.1"],
    "run": ["run", "study.toml", "--kernels", "99.9", "--guest-cpus", "2"],
    "prove": ["prove", "--kernels", "99.9", "--load", "none"],
    "why": ["why", "run"],
    "bisect": ["bisect", "study.toml", "--good", "99.8", "--bad", "99.9", "--limit", "1ms"],
    "clean": ["clean"],
}
OF_THE_ARCHIVE = ("kernels", "fetch", "run", "prove", "bisect")
_CALL = re.compile(r'(execve|openat|openat2|open)\((?:AT_FDCWD, )?"((?:[^"\\]|\\.)*)"[^\n]*?= (-?\d+)')


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeArchive]:
    folder = tmp_path_factory.mktemp("archive")
    with made_key(folder / "home") as key:
        made = MadeArchive(folder / "debian", key)
        files = {f"boot/vmlinuz-{RELEASE}": bzimage(RELEASE), f"boot/config-{RELEASE}": b"CONFIG_PCI=y\n"}
        package = deb({**files, "usr/share/padding": bytes(1 << 21)}, compression="")
        made.add("bookworm", f"linux-image-{RELEASE}", "6.1.5-1", "amd64", package)
        made.publish("bookworm")
        yield made


def plant(folder: Path, names: dict[str, str]) -> Path:
    """Files that say when they are executed, all of another user's."""
    for name, text in names.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    (folder / "study.toml").write_text(STUDY)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    return folder


def traced(
    argv: list[str], folder: Path, archive: MadeArchive, theirs: Path, log: Path, variables: dict[str, str]
) -> tuple[int, str]:
    """Exit code and errors; asserts that nothing of `theirs` was executed or imported."""
    more = []
    if argv[0] in OF_THE_ARCHIVE:
        more = ["--mirror", f"file://{archive.folder}", "--keyring", str(archive.key.keyring)]
    strace = ["strace", "-f", "-qq", "-s", "4096", "-e", "trace=execve,open,openat", "-o", str(log)]
    howlate = [sys.executable, "-P", "-m", "howlate", "lab", *argv, *more]
    done = completed([*strace, *howlate], cwd=folder, env=environment(**variables))
    calls = _CALL.findall(log.read_text(errors="replace"))
    assert any(call == "execve" for call, _, _ in calls)
    for call, name, result in calls:
        path = Path(os.path.normpath(folder / name))
        if path.is_relative_to(theirs) and int(result) >= 0:
            assert call != "execve", path
            assert path.suffix not in (".py", ".pyc", ".so", ".pth"), path
    assert not list(theirs.rglob("RAN"))
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_of_another_user_brings_no_code(tmp_path: Path, archive: MadeArchive, command: str) -> None:
    theirs = plant(tmp_path / "theirs", PLANTED)
    environment = {"HOWLATE_CACHE": str(tmp_path / "cache")}
    code, errors = traced(COMMANDS[command], theirs, archive, theirs, tmp_path / "log", environment)
    # An older QEMU than the lab wants is looked for before the kernel is.
    codes = {"kernels": (0,), "fetch": (0,), "clean": (0,), "run": (2, 3)}.get(command, (2,))
    assert code in codes, errors
    assert "fault" not in errors


@pytest.mark.parametrize(
    ("command", "variable"), crossed(list(COMMANDS), ["HOWLATE_CACHE", "XDG_CACHE_HOME", "HOME"])
)
def test_a_cache_of_another_user_is_refused_by_each_command(
    tmp_path: Path, archive: MadeArchive, command: str, variable: str
) -> None:
    if variable != "HOWLATE_CACHE" and command not in ("run", "fetch"):
        return  # where the cache is, one function says to all commands
    below = {"HOWLATE_CACHE": "", "XDG_CACHE_HOME": "howlate/", "HOME": ".cache/howlate/"}[variable]
    theirs = plant(tmp_path / "theirs", {f"{below}{name}": "#!/bin/sh\ntouch RAN\n" for name in IN_THE_CACHE})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "study.toml").write_text(STUDY)
    environment = {"HOWLATE_CACHE": "", "XDG_CACHE_HOME": "", variable: str(theirs)}
    code, errors = traced(
        COMMANDS[command], tmp_path / "mine", archive, theirs, tmp_path / "log", environment
    )
    if command != "why":  # which looks at the run first
        assert code == 3, errors
        assert "HOWLATE_CACHE" in errors
    assert code != 0
