"""A mirror that sends too much, too slowly, or nothing: it is given up at once, and nothing of it is kept."""

import itertools
import os
import shutil
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from howlate.errors import TargetError
from howlate.lab.archive import download
from howlate.lab.archive.mirror import MirrorArchive
from howlate.lab.archive.packages import Package
from howlate.lab.kernels import catalogue as kernels
from howlate.lab.kernels.label import Label
from lab.made_archive import Key, MadeArchive, Out, Spoilt, bzimage, deb, served
from lacks import lack

pytestmark = pytest.mark.skipif(
    shutil.which("gpg") is None or shutil.which("gpgv") is None,
    reason=lack("gpg or gpgv", "apt-get install gpg gpgv"),
)
HEAD = b"HTTP/1.0 200 OK\r\n\r\n"
SUITES = ("bullseye", "bookworm", "trixie")


@pytest.fixture(scope="module")
def www(tmp_path_factory: pytest.TempPathFactory, key: Key) -> Path:
    folder = tmp_path_factory.mktemp("www")
    made = MadeArchive(folder / "debian", key)
    release = "6.1.0-5-amd64"
    files = {f"boot/vmlinuz-{release}": bzimage(release), f"boot/config-{release}": b"CONFIG_PCI=y\n"}
    package = deb({**files, "usr/share/padding": bytes(1 << 21)}, compression="")
    made.add("bookworm", f"linux-image-{release}", "6.1.5-1", "amd64", package)
    for suite in SUITES:
        made.publish(suite)
    return folder


def opened(address: str, folder: Path, key: Key, said: list[str]) -> MirrorArchive:
    return MirrorArchive(folder / "mirror", [f"{address}/debian"], key.keyring, said.append)


def endless(ending: str, sent: list[int]) -> Spoilt:
    """Sends until the other side hangs up."""

    def answer(path: str, out: Out) -> bool:
        if not path.endswith(ending):
            return False
        out.write(HEAD)
        for _ in range(1 << 12):  # 4 GiB
            out.write(bytes(1 << 20))
            sent[0] += 1 << 20
        return True

    return answer


def test_a_package_is_read_to_its_size_and_no_further(tmp_path: Path, www: Path, key: Key) -> None:
    sent = [0]
    with served(www, endless(".deb", sent)) as at:
        archive = opened(at.address, tmp_path, key, [])
        with pytest.raises(TargetError, match="more than"):
            kernels.fetch(Label.parse("6.1"), archive, tmp_path / "cache", ())
    assert sent[0] < 64 << 20, "the size of 2 MiB, and what sockets hold"
    assert [p for p in (tmp_path / "cache").rglob("*") if not p.name.endswith(".lock") and p.is_file()] == []


@pytest.mark.parametrize("ending", ["InRelease", "/Packages.xz"])
def test_a_list_without_an_end_is_cut_off_and_the_mirror_not_asked_again(
    tmp_path: Path, www: Path, key: Key, ending: str
) -> None:
    sent = [0]
    said: list[str] = []
    spoilt = endless(ending, sent)

    def answer(path: str, out: Out) -> bool:
        return spoilt(path.replace("/by-hash/SHA256/", "/Packages.xz?").partition("?")[0], out)

    with served(www, answer) as at:
        with pytest.raises(TargetError, match="more than"):
            opened(at.address, tmp_path, key, said).packages()
        assert at.count("InRelease") == 1
    assert sent[0] < 64 << 20
    assert sum("more than" in text for text in said) == 1


def test_a_mirror_that_stalls_is_asked_once(
    tmp_path: Path, www: Path, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patience is cut short only once all that was sent has come: a busy machine may take its time until then."""
    sent, ended, block = b"-----BEGIN", threading.Event(), download._block
    came = bytearray()

    def impatient(answer: Any, address: str) -> bytes:
        if bytes(came) == sent:
            answer.fp.raw.raw._sock.settimeout(0.01)
        came.extend(got := block(answer, address))
        return got

    monkeypatch.setattr(download, "_block", impatient)

    def stall(path: str, out: Out) -> bool:
        out.write(HEAD + sent)
        ended.wait()
        return True

    said: list[str] = []
    with served(www, stall) as at:
        try:
            with pytest.raises(TargetError, match=r"timed out"):
                opened(at.address, tmp_path, key, said).packages()
        finally:
            ended.set()
        assert at.count("InRelease") == 1
    assert sum("timed out" in text for text in said) == 1


def test_a_mirror_that_drips_is_given_up(
    tmp_path: Path, www: Path, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    minutes = itertools.count(0, 45)
    monkeypatch.setattr("howlate.lab.archive.download.time.monotonic", lambda: float(next(minutes)))

    def drip(path: str, out: Out) -> bool:
        out.write(HEAD)
        for _ in range(100_000):
            out.write(b"-")
            out.flush()
        return True

    with served(www, drip) as at:
        with pytest.raises(TargetError, match="less than 1024 bytes"):
            opened(at.address, tmp_path, key, []).packages()
        assert at.count("InRelease") == 1


SLOW_HEADS = {
    "a status": b"HTTP/1.0 200 " + b"O" * 60,
    "a header": b"HTTP/1.0 200 OK\r\nX-Very: " + b"s" * 60,
    "headers": b"HTTP/1.0 200 OK\r\n" + b"A: b\r\n" * 30,
    "answers before the answer": b"HTTP/1.1 100 Continue\r\n\r\n" * 30,
}


@pytest.mark.parametrize("head", SLOW_HEADS.values(), ids=SLOW_HEADS)
def test_a_head_that_drips_is_given_up(
    tmp_path: Path, www: Path, key: Key, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    minutes = itertools.count(0, 5)
    monkeypatch.setattr("howlate.lab.archive.download.time.monotonic", lambda: float(next(minutes)))
    ended = threading.Event()

    def drip(path: str, out: Out) -> bool:
        for place in range(len(head)):
            out.write(head[place : place + 1])
            out.flush()
            ended.wait(0.002)  # so that it comes in pieces
        ended.wait()
        return True

    with served(www, drip) as at:
        try:
            with pytest.raises(TargetError, match="less than 1024 bytes"):
                opened(at.address, tmp_path, key, []).packages()
        finally:
            ended.set()
        assert at.count("InRelease") == 1


def test_what_follows_the_content_has_a_limit(tmp_path: Path, www: Path, key: Key) -> None:
    """Trailers of an answer in pieces."""
    sent = [0]

    def trail(path: str, out: Out) -> bool:
        out.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n-\r\n0\r\n")
        for _ in range(1 << 10):  # 4 GiB
            out.write(b"X-Trailer: more\r\n" * (1 << 18))
            sent[0] += 17 << 18
        return True

    with served(www, trail) as at:
        with pytest.raises(TargetError):
            opened(at.address, tmp_path, key, []).packages()
        assert at.count("InRelease") == 1
    assert sent[0] < 128 << 20


@pytest.mark.parametrize(
    "where", ["ftp://127.0.0.1:9/x", "file:///etc/passwd", "gopher://127.0.0.1/", "http://[", "x"]
)
def test_a_redirection_leads_to_web_addresses_alone(tmp_path: Path, www: Path, key: Key, where: str) -> None:
    def redirect(path: str, out: Out) -> bool:
        out.write(f"HTTP/1.0 302 Found\r\nLocation: {where}\r\n\r\n".encode())
        return True

    with served(www, redirect) as at, pytest.raises(TargetError):
        opened(at.address, tmp_path, key, []).packages()


def test_a_mirror_that_fails_is_one_sentence(tmp_path: Path, www: Path, key: Key) -> None:
    def fail(path: str, out: Out) -> bool:
        out.write(b"HTTP/1.0 500 Out of order\r\n\r\n")
        return True

    said: list[str] = []
    with served(www, fail) as at:
        with pytest.raises(TargetError, match="500 Out of order"):
            opened(at.address, tmp_path, key, said).packages()
        assert len(at.asked) == 1
    assert sum("500" in text for text in said) == 1


def test_a_suite_that_is_forbidden_does_not_cost_the_others(tmp_path: Path, www: Path, key: Key) -> None:
    def forbid(path: str, out: Out) -> bool:
        if "/bullseye/" not in path:
            return False
        out.write(b"HTTP/1.0 403 Forbidden\r\n\r\n")
        return True

    said: list[str] = []
    with served(www, forbid) as at:
        assert opened(at.address, tmp_path, key, said).packages()
    assert any("suite bullseye" in text for text in said)


REASONS = (b"\x1b]0;title\x07", b"\x1b[2J", b"\x9b31m", "\u202egnp".encode(), b"a\x08\x08b")


@pytest.mark.parametrize("reason", REASONS, ids=ascii)
@pytest.mark.parametrize("words", ["kernels", "fetch 6.1"])
@pytest.mark.parametrize("code", ["403", "500"])
def test_what_a_mirror_says_is_shown_and_not_obeyed(
    tmp_path: Path, www: Path, key: Key, code: str, words: str, reason: bytes
) -> None:
    """Without any signature: a man in the middle is enough."""

    def refuse(path: str, out: Out) -> bool:
        out.write(f"HTTP/1.0 {code} ".encode() + b"before" + reason + b"after\r\n\r\n")
        return True

    with served(www, refuse) as at:
        argv = ["lab", *words.split(), "--mirror", f"{at.address}/debian", "--keyring", str(key.keyring)]
        done = subprocess.run(
            [sys.executable, "-m", "howlate", *argv],
            env={**os.environ, "HOWLATE_CACHE": str(tmp_path / "cache"), "PYTHONUTF8": "1"},
            capture_output=True,
            check=False,
        )
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 4 and "fault in howlate" not in said, said
    assert "before" in said and "after" in said
    assert not [sign for sign in said if sign != "\n" and unicodedata.category(sign) in ("Cc", "Cf")]


def test_suites_that_fail_for_one_reason_are_one_sentence(tmp_path: Path, www: Path, key: Key) -> None:
    def portal(path: str, out: Out) -> bool:
        out.write(HEAD + b"<html>Please log in</html>")
        return True

    said: list[str] = []
    with served(www, portal) as at, pytest.raises(TargetError, match="does not verify the signature"):
        opened(at.address, tmp_path, key, said).packages()
    (sentence,) = [text for text in said if "does not verify the signature" in text]
    assert all(suite in sentence for suite in SUITES)


def test_a_further_module_is_asked_for_by_the_size_that_was_recorded(
    tmp_path: Path, www: Path, key: Key
) -> None:
    sizes: list[int] = []

    class Watched(MirrorArchive):
        def fetch(self, package: Package, folder: Path) -> Path:
            sizes.append(package.size)
            return super().fetch(package, folder)

    with served(www) as at:
        archive = Watched(tmp_path / "mirror", [f"{at.address}/debian"], key.keyring)
        kernel = kernels.fetch(Label.parse("6.1"), archive, tmp_path / "cache", ())
        kernels.add_modules(kernel, ["veth"], archive)
    assert len(sizes) == 2 and sizes[0] == sizes[1] > 1 << 21
