"""Debian packages without dpkg: an `ar` with a compressed tar in it. Files are extracted, and nothing is
installed.

A package may be signed and hostile: whatever is unpacked has a limit.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import posixpath
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, cast

from howlate.errors import DamagedError
from howlate.lab.problems import not_installed
from howlate.words.statement import message

DAMAGED_PACKAGE = message("lab.damaged-package", "{package} is damaged: {damage}", remedy="fetch it again")


MOST_UNPACKED = 4 << 30
"""Bytes of a package; of Debian's that are fetched the largest (an older kernel) has 0.5 GB."""
_MOST_RATIO, _FREE = 40, 64 << 20
"""What a package may unpack to for each of its bytes, and besides; Debian's have 3 to 10."""
MOST_FILE = 512 << 20
"""Bytes of a file that is read as a whole."""
_MOST_HEADER = 1 << 20
"""Bytes of what stands in a tar before a file: its names, which are read as a whole."""
_MOST_MEMBERS, _LONGEST_NAME, _DEEPEST = 200_000, 1024, 64
_UNFIT = (
    errno.ELOOP,
    errno.EEXIST,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.EINVAL,
)
"""The system's errors that come of a package's content, not of the place that it is unpacked to."""
_MAGIC = b"!<arch>\n"
_HEADER = 60


class TooMuchError(DamagedError):
    """It unpacks to more than it may."""


class Plain(io.RawIOBase):
    """What comes out of a decompressor, up to a limit."""

    def __init__(self, stream: IO[bytes], most: int, whence: str | Path) -> None:
        super().__init__()
        self._stream, self.most, self._whence = stream, most, whence
        self.count = 0
        self.ceiling = most
        """A lower limit, for a while."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            got = int(self._stream.readinto(buffer) or 0)  # type: ignore[attr-defined]
        except OSError as error:
            if error.errno is not None:
                raise
            raise DamagedError(DAMAGED_PACKAGE(package=self._whence, damage=error)) from None  # bz2's
        self.count += got
        if self.count > self.ceiling:
            raise TooMuchError(
                DAMAGED_PACKAGE(package=self._whence, damage=f"it has more than {self.most} bytes")
            )
        return got


@contextmanager
def data_tar(package: Path) -> Iterator[Plain]:
    """The package's data.tar, decompressed, for sequential reading."""
    with package.open("rb") as file:
        name, start, size = _data_member(file, package)
        file.seek(start)
        part = io.BufferedReader(_Part(file, size))
        most = min(MOST_UNPACKED, _FREE + _MOST_RATIO * size)
        with decompressed(part, name.removeprefix("data.tar").removeprefix("."), package, most) as stream:
            yield stream


def members(stream: Plain, whence: Path) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    """The files, folders and links of a tar, in order, by their names ("usr/lib/..."). A file can be read until the
    next one is requested."""
    with _reading(whence), ExitStack() as held:
        stream.ceiling = _MOST_HEADER
        with _decoding(whence):
            tar = held.enter_context(tarfile.open(fileobj=stream, mode="r|"))
        for _ in range(_MOST_MEMBERS):
            stream.ceiling = min(stream.most, max(stream.count, tar.offset) + _MOST_HEADER)
            with _decoding(whence):
                member = tar.next()
            stream.ceiling = stream.most
            if member is None:
                return
            tar.members.clear()  # type: ignore[attr-defined]  # kept for random access, which nobody makes here
            name = posixpath.normpath(member.name).lstrip("/")
            if member.issparse() or len(name) > _LONGEST_NAME or name.count("/") > _DEEPEST:
                raise DamagedError(DAMAGED_PACKAGE(package=whence, damage="Debian makes no package so"))
            if name != ".":
                yield name, member, tar
        raise DamagedError(DAMAGED_PACKAGE(package=whence, damage="it has too many files"))


@contextmanager
def _decoding(whence: Path) -> Iterator[None]:
    """What tarfile raises for headers that it cannot decode, in addition to its own errors."""
    try:
        yield
    except (ValueError, RecursionError, OverflowError) as error:
        raise DamagedError(DAMAGED_PACKAGE(package=whence, damage=error)) from None


def unpack(package: Path, into: Path, is_needed: Callable[[str], bool] = lambda name: True) -> list[str]:
    """Write the wanted files (and links) of the package, by name ("usr/lib/..."), below `into`; return their
    names.

    Nothing is written outside `into`, whatever the package contains: absolute links are made relative to it,
    and a link that leaves it is refused.
    """
    done: list[str] = []
    links: list[tarfile.TarInfo] = []
    with data_tar(package) as stream:
        for name, member, tar in members(stream, package):
            if not is_needed(name):
                continue
            try:
                _write(tar, member, name, into, package)
            except OSError as error:
                if error.errno not in _UNFIT:
                    raise
                raise DamagedError(DAMAGED_PACKAGE(package=package, damage=error.strerror)) from None
            done.append(name)
            if member.issym():
                links.append(member)
    _check_links(links, into, package)
    return done


def _check_links(links: list[tarfile.TarInfo], into: Path, package: Path) -> None:
    """A link that stays inside by its text may leave through another."""
    root = os.path.realpath(into)
    for member in links:
        name = posixpath.normpath(member.name).lstrip("/")
        if not Path(os.path.realpath(into / name)).is_relative_to(root):
            raise DamagedError(DAMAGED_PACKAGE(package=package, damage=f"it links to {member.linkname}"))


@contextmanager
def decompressed(stream: IO[bytes], kind: str, whence: Path, most: int) -> Iterator[Plain]:
    """A stream decompressed according to its ending ("", gz, xz, lzma, bz2, zst), of at most `most` bytes."""
    with _reading(whence), ExitStack() as held:
        if kind == "":
            plain = stream
        elif kind == "gz":
            plain = cast("IO[bytes]", held.enter_context(gzip.GzipFile(fileobj=stream)))
        elif kind in ("xz", "lzma"):
            plain = held.enter_context(lzma.LZMAFile(stream))
        elif kind == "bz2":
            plain = held.enter_context(bz2.BZ2File(stream))
        elif kind == "zst":
            plain = held.enter_context(_unzstd(stream, whence))
        else:
            raise DamagedError(DAMAGED_PACKAGE(package=whence, damage=f"unknown compression .{kind}"))
        yield Plain(plain, most, whence)


@contextmanager
def _unzstd(stream: IO[bytes], whence: Path) -> Iterator[IO[bytes]]:
    """Through the command `zstd`, because Python before 3.14 has no such module."""
    command = shutil.which("zstd")
    if command is None:
        raise not_installed("zstd", "zstd")
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
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file, 1 << 20)
        file.seek(0)
        yield file


@contextmanager
def _reading(whence: Path) -> Iterator[None]:
    """Turn the errors of the standard library's readers about a damaged file into one error of ours."""
    try:
        yield
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error, tarfile.TarError, MemoryError) as error:
        raise DamagedError(DAMAGED_PACKAGE(package=whence, damage=error or "it ends too early")) from None


def _data_member(file: IO[bytes], package: Path) -> tuple[str, int, int]:
    """Name, place and size of data.tar.*."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise DamagedError(DAMAGED_PACKAGE(package=package, damage="it is not a Debian package"))
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
            link = posixpath.relpath(link.lstrip("/") or ".", posixpath.dirname(name) or ".")
        if posixpath.normpath(posixpath.join(posixpath.dirname(name), link)).split("/")[0] == "..":
            raise DamagedError(DAMAGED_PACKAGE(package=package, damage=f"it links to {member.linkname}"))
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
    parent = Path(os.path.realpath(target.parent))
    if ".." in name.split("/") or not parent.is_relative_to(os.path.realpath(into)):
        raise DamagedError(DAMAGED_PACKAGE(package=package, damage=f"its file {name} is outside of it"))
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
