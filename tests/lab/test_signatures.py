"""What of a mirror is believed: a text that keys of the keyring have signed, all of them good today, and not an older
one than was seen there before."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from howlate.errors import DamagedError, HowlateError, TargetError
from howlate.lab.archive.mirror import MirrorArchive, verified, why_not
from lab.made_archive import Key, MadeArchive, bzimage, deb, made_key
from lacks import needs_program

pytestmark = [needs_program("gpg", "gpg"), needs_program("gpgv", "gpgv")]
RELEASE = "6.1.0-5-amd64"
PACKAGE = deb(
    {
        f"boot/vmlinuz-{RELEASE}": bzimage(RELEASE),
        f"boot/config-{RELEASE}": b"CONFIG_PCI=y\n",
        "usr/share/padding": bytes(1 << 21),
    },
    compression="",
)
TEXT = "Suite: bookworm\nCodename: bookworm\n"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    with made_key(tmp_path_factory.mktemp("other") / "home") as made:
        yield made


@pytest.fixture(scope="module")
def expired(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Key]:
    """It signs before its end, which has come."""
    with made_key(tmp_path_factory.mktemp("expired") / "home", "20240601T000000", "1y") as made:
        yield made


def reason(folder: Path, signed: bytes, *keys: Key) -> str:
    """Why it is refused; "" if it is not."""
    keyring = folder / "keyring.gpg"
    keyring.write_bytes(b"".join(one.keyring.read_bytes() for one in keys))
    (folder / "InRelease").write_bytes(signed)
    try:
        assert verified(folder / "InRelease", keyring, "InRelease") == TEXT
    except DamagedError as refused:
        assert refused.statement.rule == "lab.unusable"
        assert "--keyring" in refused.remedy
        return str(refused.statement.values["reason"])
    return ""


def test_a_good_signature_is_taken(tmp_path: Path, key: Key, other: Key) -> None:
    assert reason(tmp_path, key.sign(TEXT), key) == ""
    assert reason(tmp_path, key.sign(TEXT), other, key) == ""
    assert "not in it" in reason(tmp_path, key.sign(TEXT), other)


def test_keys_that_are_no_longer_good_are_refused(tmp_path: Path, key: Key, expired: Key) -> None:
    before = expired.sign(TEXT)
    assert "has expired" in reason(tmp_path, before, expired)
    assert "has expired" in reason(tmp_path, before, key, expired)


def test_a_revoked_key_is_refused(tmp_path: Path, key: Key) -> None:
    with made_key(tmp_path / "home") as stolen:
        before = stolen.sign(TEXT)
        assert reason(tmp_path, before, stolen) == ""
        stolen.revoke()
        assert "is revoked" in reason(tmp_path, before, stolen)
        assert "is revoked" in reason(tmp_path, before, key, stolen)


def test_a_weak_hash_is_refused(tmp_path: Path, key: Key) -> None:
    weak = key.sign(TEXT, ("--digest-algo", "SHA224", "--clearsign"))
    assert reason(tmp_path, weak, key) != ""


@pytest.mark.parametrize(
    "spoil",
    [
        lambda signed, _: signed.replace(b"bookworm", b"bookwarm", 1),
        lambda signed, _: signed + signed,
        lambda signed, _: b"Suite: bookworm\n" + signed,
        lambda signed, _: signed.partition(b"-----BEGIN PGP SIGNATURE")[0],
        lambda signed, _: b"",
        lambda _, key: key.sign(TEXT, ("--sign",)),
        lambda _, key: key.sign(TEXT, ("--armor", "--sign")),
        lambda _, key: key.sign("x" * (6 << 20), ("--armor", "--sign", "-z9")),
    ],
    ids=["changed", "twice", "led-in", "cut", "empty", "binary", "armoured", "bomb"],
)
def test_anything_else_is_refused(tmp_path: Path, key: Key, spoil: Callable[[bytes, Key], bytes]) -> None:
    assert reason(tmp_path, spoil(key.sign(TEXT), key), key) != ""


def test_each_report_of_gpgv_about_a_signature_is_minded() -> None:
    """Of two signatures one may be good; the other has to be as well."""
    plain, new, good = ["PLAINTEXT", "74", "0"], ["NEWSIG"], ["GOODSIG", "AB", "x"]
    valid = ["VALIDSIG", "AB", "2026-11-27", "1", "0", "4", "0", "22", "10", "01", "AB"]
    whole = [plain, new, good, valid]
    assert why_not(whole, 0) == ""
    assert why_not(whole, 2) != ""
    for left_out in range(len(whole)):
        assert why_not([row for place, row in enumerate(whole) if place != left_out], 0) != ""
    for keyword in ("REVKEYSIG", "EXPKEYSIG", "EXPSIG", "BADSIG", "ERRSIG"):
        assert why_not([*whole, new, [keyword, "CD"]], 0) != ""
        assert why_not([plain, new, [keyword, "AB"], valid], 0) != ""
    for weak in ("1", "2", "3", "11", "", "99"):
        assert why_not([plain, new, good, [*valid[:8], weak, *valid[9:]]], 0) != ""


def archive_at(made: MadeArchive, folder: Path, said: list[str]) -> MirrorArchive:
    return MirrorArchive(folder / "mirror", [f"file://{made.folder}"], made.key.keyring, said.append)


def versions(archive: MirrorArchive) -> list[str]:
    return [package.version for package in archive.packages(refresh=True)]


def at(days: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(days=days), usegmt=True)


def test_an_older_release_after_a_newer_one_is_refused(tmp_path: Path, key: Key) -> None:
    old, new = MadeArchive(tmp_path / "old", key), MadeArchive(tmp_path / "new", key)
    old.add("bookworm", f"linux-image-{RELEASE}", "6.1.1-1", "amd64", PACKAGE)
    new.add("bookworm", f"linux-image-{RELEASE}", "6.1.9-1", "amd64", PACKAGE)
    old.publish("bookworm", fields={"Date": at(-3)})
    new.publish("bookworm", fields={"Date": at(-2)})
    there = MadeArchive(tmp_path / "there", key)
    said: list[str] = []
    archive = archive_at(there, tmp_path, said)
    old.folder.rename(there.folder)
    assert versions(archive) == ["6.1.1-1"]
    shutil.rmtree(there.folder)
    shutil.copytree(new.folder, there.folder)
    assert versions(archive) == ["6.1.9-1"]
    assert versions(archive) == ["6.1.9-1"], "the same one is no older"
    old.publish("bookworm", fields={"Date": at(-3)})
    shutil.rmtree(there.folder)
    old.folder.rename(there.folder)
    with pytest.raises(TargetError) as caught:
        versions(archive)
    assert "before" in caught.value.message
    assert [package.version for package in archive.packages()] == ["6.1.9-1"], "what was read before is kept"
    with pytest.raises(TargetError):
        versions(MirrorArchive(tmp_path / "mirror", [f"file://{there.folder}", "file:///x"], key.keyring))


@pytest.mark.parametrize(
    "fields",
    [
        {"Valid-Until": "soon"},
        {"Valid-Until": "Sat, 01 Jan 99999 00:00:00 UTC"},
        {"Valid-Until": "9" * 5000},
        {"Date": ""},
        {"Date": "yesterday"},
        {"Date": f"Sat, 01 Jan 2{'0' * 400} 00:00:00 UTC"},
        {"Date": 3.0},
        {"Valid-Until": -0.001},
        {"Valid-Until": "Sat, 01 Jan 2022 00:00:00 -0000"},
    ],
)
def test_a_release_without_good_dates_is_refused_in_a_sentence(
    tmp_path: Path, key: Key, fields: dict[str, str | float]
) -> None:
    """A number: so many days from now."""
    made = MadeArchive(tmp_path / "there", key)
    made.add("bookworm", f"linux-image-{RELEASE}", "6.1.1-1", "amd64", PACKAGE)
    dates = {name: at(value) if isinstance(value, float) else value for name, value in fields.items()}
    made.publish("bookworm", fields=dates)
    said: list[str] = []
    with pytest.raises(HowlateError):
        archive_at(made, tmp_path, said).packages()
    assert any("bookworm" in text for text in said)
    made.publish("bookworm")
    assert versions(archive_at(made, tmp_path, said)) == ["6.1.1-1"]


def test_a_damaged_list_of_dates_is_no_obstacle(tmp_path: Path, key: Key) -> None:
    made = MadeArchive(tmp_path / "there", key)
    made.add("bookworm", f"linux-image-{RELEASE}", "6.1.1-1", "amd64", PACKAGE)
    made.publish("bookworm")
    archive = archive_at(made, tmp_path, [])
    place = f"file://{made.folder}/dists/bookworm {key.keyring}"
    for text in ("", "{", "[]", '{"dates": 1}', f'{{"dates": {{"{place}": 1e999}}}}'):
        archive.seen_dates.file.parent.mkdir(exist_ok=True)
        archive.seen_dates.file.write_text(text)
        assert versions(archive) == ["6.1.1-1"]
