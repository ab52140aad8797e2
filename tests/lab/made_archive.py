"""A small archive of Debian's kind, made and signed on the spot, and a server that counts what it is asked for."""

import functools
import hashlib
import http.server
import io
import lzma
import shutil
import struct
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

from msgspec import Struct, field

from howlate.system.paths import MACHINES

Files = Mapping[str, bytes]


def elf_module(modinfo: Mapping[str, str], size: int = 0) -> bytes:
    """An object file with a .modinfo section, as small as one can be."""
    info = b"".join(f"{key}={value}".encode() + b"\0" for key, value in modinfo.items())
    names = b"\0.modinfo\0.shstrtab\0"
    start = 64
    table = start + len(info) + len(names)

    def section(name: int, offset: int, length: int) -> bytes:
        return struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, offset, length, 0, 0, 1, 0)

    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2
    )
    sections = bytes(64) + section(1, start, len(info)) + section(10, start + len(info), len(names))
    return header + info + names + sections + bytes(size)


def bzimage(release: str, payload: bytes = b"") -> bytes:
    """The head of a 64-bit bzImage, which is all that is read of one, and a payload."""
    data = bytearray(0x1000)
    data[0x1F1] = 1
    data[0x1FE:0x200] = b"\x55\xaa"
    data[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", data, 0x206, 0x20F)
    struct.pack_into("<H", data, 0x20E, 0x300)
    struct.pack_into("<H", data, 0x236, 1)
    struct.pack_into("<II", data, 0x248, 0x1000 - 2 * 512, len(payload))
    text = f"{release} (builder) #1 SMP".encode()
    data[0x500 : 0x500 + len(text)] = text
    return bytes(data) + payload


def arm64_image(release: str, more: bytes = b"") -> bytes:
    """The head of an Image."""
    data = bytearray(0x1000)
    data[0x38:0x3C] = b"ARM\x64"
    return bytes(data) + f"Linux version {release} (builder)".encode() + b"\0" + more


def deb(files: Files, links: Mapping[str, str] | None = None, compression: str = "xz") -> bytes:
    """A package with these files; no control part is read, so it is empty."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size, member.mode = len(data), 0o755 if name.startswith("usr/bin/") else 0o644
            tar.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(f"./{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return ar(
        {
            "debian-binary": b"2.0\n",
            "control.tar.xz": lzma.compress(b""),
            **_data(plain.getvalue(), compression),
        }
    )


def _data(tar: bytes, compression: str) -> dict[str, bytes]:
    if compression == "zst":
        done = subprocess.run(["zstd", "-c"], input=tar, capture_output=True, check=True)
        return {"data.tar.zst": done.stdout}
    if compression == "gz":
        import gzip

        return {"data.tar.gz": gzip.compress(tar)}
    return {"data.tar.xz": lzma.compress(tar)} if compression else {"data.tar": tar}


def ar(members: Files) -> bytes:
    """The container."""
    out = b"!<arch>\n"
    for name, data in members.items():
        out += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
            + data
            + b"\n" * (len(data) % 2)
        )
    return out


class Key(Struct):
    """A throwaway key, and the keyring that has it."""

    home: Path

    @property
    def keyring(self) -> Path:
        return self.home / "keyring.gpg"

    at: str = ""
    """The time (as gpg reads it) at which it is made and signs, if not now."""

    def gpg(self, *argv: str, given: bytes = b"") -> bytes:
        faked = ["--faked-system-time", f"{self.at}!"] if self.at else []
        command = ["gpg", "--homedir", str(self.home), "--batch", "--quiet", "--passphrase", "", *faked]
        return subprocess.run([*command, *argv], input=given, capture_output=True, check=True).stdout

    def sign(self, text: str, how: Sequence[str] = ("--clearsign",)) -> bytes:
        return self.gpg(*how, given=text.encode())

    def export(self) -> None:
        self.keyring.write_bytes(self.gpg("--export"))

    def revoke(self) -> None:
        """What it signed before stays as it is."""
        (made,) = (self.home / "openpgp-revocs.d").glob("*.rev")
        self.gpg("--import", given=made.read_bytes().replace(b":-----BEGIN", b"-----BEGIN"))
        self.export()


@contextmanager
def made_key(home: Path, at: str = "", valid: str = "never") -> Iterator[Key]:
    """gpg's agent ends with it."""
    home.mkdir(mode=0o700)
    key = Key(home, at)
    try:
        key.gpg("--quick-generate-key", "An archive of the test's own", "ed25519", "sign", valid)
        key.export()
        yield key
    finally:
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False, capture_output=True)
        shutil.rmtree(home, ignore_errors=True)


class MadeArchive(Struct):
    """dists/ and pool/ below a folder; `publish` signs what was added."""

    folder: Path
    key: Key
    rows: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(
        self,
        suite: str,
        name: str,
        version: str,
        architecture: str,
        package: bytes,
        depends: str = "",
        more: Mapping[str, str] | None = None,
    ) -> Path:
        """`more`: members of its paragraph in the list, in place of its own."""
        safe = "".join(c for c in f"{name}_{version}_{architecture}" if c not in "/\0")[:200]
        file = self.folder / "pool" / f"{safe}.deb"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(package)
        lines = {
            "Package": name,
            "Version": version,
            "Architecture": architecture,
            "Description": "one\n line that is folded",
            "Depends": depends,
            "Filename": f"pool/{file.name}",
            "Size": str(len(package)),
            "SHA256": hashlib.sha256(package).hexdigest(),
            **(more or {}),
        }
        paragraph = "".join(f"{key}: {value}\n" for key, value in lines.items() if value)
        for listed in MACHINES.values() if architecture == "all" else (architecture,):
            self.rows.setdefault((suite, listed), []).append(paragraph)
        return file

    def publish(
        self,
        suite: str,
        valid: timedelta = timedelta(days=7),
        key: Key | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        """`fields`: of the Release, in place of its own."""
        folder = self.folder / "dists" / suite
        hashes = []
        for architecture in MACHINES.values():
            other = "Package: zsh\nVersion: 5\nArchitecture: any\nFilename: x\nSize: 1\nSHA256: 0\n"
            rows = [other, *self.rows.get((suite, architecture), []), other]
            plain = "\n".join(rows).encode()
            packed = lzma.compress(plain)
            name = f"main/binary-{architecture}/Packages.xz"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(packed)
            for data, listed in ((plain, name.removesuffix(".xz")), (packed, name)):  # apt wants both listed
                hashes.append(f" {hashlib.sha256(data).hexdigest()} {len(data)} {listed}\n")
        now = datetime.now(UTC)
        named = {
            "Origin": "Debian",
            "Label": "Debian",
            "Suite": suite,
            "Codename": suite,
            "Date": format_datetime(now - timedelta(days=30), usegmt=True),
            "Valid-Until": format_datetime(now + valid, usegmt=True),
            "Architectures": " ".join(MACHINES.values()),
            "Components": "main",
            **(fields or {}),
        }
        text = "".join(f"{name}: {value}\n" for name, value in named.items() if value)
        text += f"SHA256:\n{''.join(hashes)}"
        (folder / "InRelease").write_bytes((key or self.key).sign(text))


class Served(Struct):
    """Where an archive is served, and what was asked for so far."""

    address: str
    asked: list[str]

    def count(self, part: str) -> int:
        return sum(part in path for path in self.asked)


Out = io.BufferedIOBase
Spoilt = Callable[[str, Out], bool]
"""Given what is asked for and the way out: whether it answered in the server's place."""


@contextmanager
def served(folder: Path, spoilt: Spoilt = lambda _path, _out: False) -> Iterator[Served]:
    """A server of the folder on this machine; `spoilt` may answer badly."""
    asked: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            with suppress(OSError):  # who has heard enough hangs up
                if not spoilt(self.path, self.wfile):
                    super().do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_address[1]}", asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
