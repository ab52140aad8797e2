"""Debian packages without dpkg: an `ar` with a compressed tar in it. Files are extracted, and nothing is
installed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from howlate.errors import DamagedError, NotPossibleError
from howlate.words.statement import rule

UNKNOWN_COMPRESSION = rule(
    "lab.unknown-compression", "{package} has an unknown compression (.{kind})", remedy="fetch it again"
)
NO_ZSTD = rule(
    "lab.no-zstd",
    "{package} is compressed with zstd, and zstd is not installed to unpack it",
    remedy="install the package zstd",
)
DAMAGED_PACKAGE = rule("lab.damaged-package", "{package} is damaged: {damage}", remedy="fetch it again")
NOT_A_PACKAGE = rule("lab.not-a-package", "{package} is not a Debian package", remedy="fetch it again")
LINK_LEAVES = rule(
    "lab.link-leaves", "{package} has a link that leaves it: {link} -> {target}", remedy="fetch it again"
)
FILE_OUTSIDE = rule(
    "lab.file-outside", "{package} has a file outside of its own: {file}", remedy="fetch it again"
)

_MAGIC = b"!<arch>\n"
_HEADER = 60


@contextmanager
def data_tar(package: Path) -> Iterator[IO[bytes]]:
    """The package's data.tar, decompressed, for sequential reading."""
    with package.open("rb") as file:
        name, start, size = _data_member(file, package)
        file.seek(start)
        part = io.BufferedReader(_Part(file, size))
        with decompressed(part, name.removeprefix("data.tar").removeprefix("."), package) as stream:
            yield stream


def unpack(package: Path, into: Path, wanted: Callable[[str], bool] = lambda name: True) -> list[str]:
    """Write the wanted files (and links) of the package, by name ("usr/lib/..."), below `into`; return their
    names.

    Nothing is written outside `into`, whatever the package contains: absolute links are made relative to it,
    and a link that leaves it is refused.
    """
    done = []
    with data_tar(package) as stream, _reading(package), tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            name = posixpath.normpath(member.name).lstrip("/")
            if name == "." or not wanted(name):
                continue
            _write(tar, member, name, into, package)
            done.append(name)
    return done


@contextmanager
def decompressed(stream: IO[bytes], kind: str, whence: Path) -> Iterator[IO[bytes]]:
    """A stream decompressed according to its ending: "", gz, xz, lzma, bz2, zst."""
    with _reading(whence):
        if kind == "":
            yield stream
        elif kind == "gz":
            with gzip.GzipFile(fileobj=stream) as plain:
                yield cast("IO[bytes]", plain)
        elif kind in ("xz", "lzma"):
            with lzma.LZMAFile(stream) as plain:
                yield plain
        elif kind == "bz2":
            with bz2.BZ2File(stream) as plain:
                yield plain
        elif kind == "zst":
            with _unzstd(stream, whence) as plain:
                yield plain
        else:
            raise DamagedError(UNKNOWN_COMPRESSION(package=whence, kind=kind))


@contextmanager
def _unzstd(stream: IO[bytes], whence: Path) -> Iterator[IO[bytes]]:
    """Through the command `zstd`, because Python before 3.14 has no such module."""
    command = shutil.which("zstd")
    if command is None:
        raise NotPossibleError(NO_ZSTD(package=whence))
    # A file in between: a pipe fed from here and read from here would need a second thread.
    with _spooled(stream) as packed:
        with subprocess.Popen(
            [command, "-dc"], stdin=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as child:
            assert child.stdout is not None
            yield child.stdout
            rest = child.stdout.read(1)  # one that was read to its end ends by itself
            if rest:
                child.kill()
        if not rest and child.returncode != 0:
            raise DamagedError(DAMAGED_PACKAGE(package=whence, damage="zstd could not unpack it"))


@contextmanager
def _spooled(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    import tempfile

    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file, 1 << 20)
        file.seek(0)
        yield file


@contextmanager
def _reading(whence: Path) -> Iterator[None]:
    """Turn the errors of the standard library's readers about a damaged file into one error of ours."""
    try:
        yield
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, tarfile.TarError) as error:
        raise DamagedError(DAMAGED_PACKAGE(package=whence, damage=error or "it ends too early")) from None


def _data_member(file: IO[bytes], package: Path) -> tuple[str, int, int]:
    """Name, place and size of data.tar.*."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise DamagedError(NOT_A_PACKAGE(package=package))
    size_of_file = os.fstat(file.fileno()).st_size
    while header := file.read(_HEADER):
        try:
            name = header[:16].decode("ascii").strip().rstrip("/")
            size = int(header[48:58])
        except ValueError:
            break
        if len(header) != _HEADER or header[58:] != b"`\n" or size < 0 or file.tell() + size > size_of_file:
            break
        if name.startswith("data.tar"):
            return name, file.tell(), size
        file.seek(size + size % 2, io.SEEK_CUR)
    raise DamagedError(DAMAGED_PACKAGE(package=package, damage="it has no whole data.tar"))


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str, into: Path, package: Path) -> None:
    target = _inside(into, name, package)
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        link = member.linkname
        if link.startswith("/"):
            link = posixpath.relpath(link.lstrip("/"), posixpath.dirname(name) or ".")
        if posixpath.normpath(posixpath.join(posixpath.dirname(name), link)).split("/")[0] == "..":
            raise DamagedError(LINK_LEAVES(package=package, link=name, target=member.linkname))
        target.symlink_to(link)
    elif member.islnk():
        os.link(_inside(into, posixpath.normpath(member.linkname).lstrip("/"), package), target)
    elif member.isreg():
        source = tar.extractfile(member)
        assert source is not None
        with target.open("xb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
        target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _inside(into: Path, name: str, package: Path) -> Path:
    """`into`/name, if no folder on the way is a link that leaves `into`."""
    target = into / name
    root = into.resolve()
    if ".." in name.split("/") or not target.parent.resolve().is_relative_to(root):
        raise DamagedError(FILE_OUTSIDE(package=package, file=name))
    return target


class _Part(io.RawIOBase):
    """The next `size` bytes of a file, as a file."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        super().__init__()
        self.file = file
        self.left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.file.read(min(len(buffer), self.left))
        buffer[: len(data)] = data
        self.left -= len(data)
        return len(data)
