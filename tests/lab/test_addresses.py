"""The address of an archive comes from this machine's apt, however its files write it, or from --mirror."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from howlate.errors import NotPossibleError
from howlate.lab.archive import apt
from howlate.lab.archive.apt import AptArchive, addresses_of, fetchable, machine_sources
from howlate.system.paths import ROOT
from lacks import MACHINE, lack
from made_clone import Clone
from processes import completed

pytestmark = pytest.mark.skipif(
    shutil.which("apt-get") is None or not apt.HELPER.exists(),
    reason=lack("apt, which Debian and Ubuntu have", MACHINE),
)

DEB822 = "Types: deb\nURIs: {uris}\nSuites: bookworm bookworm-updates\nComponents: main contrib\n"
SECURITY = "\nTypes: deb\nURIs: http://s/security\nSuites: bookworm-security\nComponents: main\n"
SIGNED = """Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEY865UxYJKwYBBAHaRw8BAQdAd7Z0srwuhlB6JKFkcf4HU4SSS/xcRfwEQWzr
 -----END PGP PUBLIC KEY BLOCK-----
"""
MEDIUM = "deb cdrom:[Debian GNU/Linux 12 _Bookworm_ - Official amd64 NETINST]/ bookworm main\n"
KINDS: dict[str, tuple[str, str, list[str]]] = {
    "one line": ("list", "deb http://a/debian bookworm main\n", ["http://a/debian/"]),
    "options": (
        "list",
        "deb [arch=amd64 signed-by=/none lang=none] http://a/debian bookworm main\n",
        ["http://a/debian/"],
    ),
    "medium first": ("list", f"{MEDIUM}deb http://a/debian bookworm main\n", ["http://a/debian/"]),
    "sources first": (
        "list",
        "deb-src http://z/debian bookworm main\ndeb http://a/debian bookworm main\n",
        ["http://a/debian/"],
    ),
    "commented": (
        "list",
        "# deb http://z/debian bookworm main\ndeb http://a/debian bookworm main\n",
        ["http://a/debian/"],
    ),
    "another's first": (
        "list",
        "deb http://z/tools stable-tools main\ndeb http://a/debian bookworm main\n",
        ["http://a/debian/"],
    ),
    "an alias": ("list", "deb https://a/debian stable main\n", ["https://a/debian/"]),
    "deb822": ("sources", DEB822.format(uris="http://a/debian"), ["http://a/debian/"]),
    "several": (
        "sources",
        DEB822.format(uris="http://a/debian https://b/debian"),
        ["http://a/debian/", "https://b/debian/"],
    ),
    "on lines": (
        "sources",
        DEB822.format(uris="\n http://a/debian\n http://b/debian"),
        ["http://a/debian/", "http://b/debian/"],
    ),
    "signed": ("sources", DEB822.format(uris="http://a/debian") + SIGNED, ["http://a/debian/"]),
    "disabled": (
        "sources",
        "Enabled: no\n"
        + DEB822.format(uris="http://z/debian")
        + "\n"
        + DEB822.format(uris="http://a/debian"),
        ["http://a/debian/"],
    ),
    "a folder": ("sources", DEB822.format(uris="file:/srv/debian"), ["file:/srv/debian/"]),
    "a file of mirrors": (
        "sources",
        DEB822.format(uris="mirror+file:{mirrors}"),
        ["http://m/debian", "https://n/debian"],
    ),
    "mirrors of a server": ("sources", DEB822.format(uris="mirror+http://z/list"), []),
    "only a medium": ("list", MEDIUM, []),
    "only another's": ("list", "deb http://z/tools stable-tools main\n", []),
    "nothing": ("list", "", []),
}
CONF = """Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{folder}/parts";
Dir::State::lists "{folder}/lists";
"""
MIRRORS = "# of this house\nhttp://m/debian\tpriority:1\n\nhttps://n/debian\ttype:deb\n"


@pytest.fixture(params=KINDS)
def machine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, list[str]]:
    """The kind of this machine's sources, for the real apt, which has never updated; and what addresses they name."""
    end, text, addresses = KINDS[request.param]
    (tmp_path / "parts").mkdir()
    (tmp_path / "mirrors").write_text(MIRRORS)
    (tmp_path / "parts" / f"own.{end}").write_text(text.replace("{mirrors}", str(tmp_path / "mirrors")))
    (tmp_path / "apt.conf").write_text(CONF.format(folder=tmp_path))
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    return request.param, addresses


def test_addresses_are_those_that_apt_reads(machine: tuple[str, list[str]]) -> None:
    kind, expected = machine
    asked: list[str | Path] = [
        sys.executable,
        "-P",
        ROOT / "tools" / "archive_addresses.py",
        "Debian",
        "trixie",
    ]
    done = completed(asked, check=True)
    assert done.stdout.splitlines() == expected, kind


def test_the_lab_s_apt_takes_each_of_them_that_apt_can_fetch_from(
    machine: tuple[str, list[str]], tmp_path: Path
) -> None:
    """A file of mirrors is apt's own matter; a root that debootstrap makes is given what it names."""
    kind, expected = machine
    if kind in ("only a medium", "only another's", "nothing"):
        with pytest.raises(NotPossibleError) as caught:
            machine_sources(tmp_path / "keys")
        assert "--mirror URL" in caught.value.remedy
        return
    sources = machine_sources(tmp_path / "keys")
    (address,) = {source.address for source in sources}
    assert re.match(r"(https?|file|mirror\+(file|http)):", address) and "/z/debian" not in address
    archive = AptArchive(tmp_path / "apt", sources)
    assert [place for suite, place, _ in archive.places() if suite == "trixie"] == expected[
        : len(fetchable(address))
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# none\n\nhttp://a/debian priority:1\n  https://b/\n", ["http://a/debian", "https://b/"]),
        ("mirror+file:{own}\nhttp://a/\n", ["http://a/"]),
        ("ftp://a/\n\0\n", []),
        ("http://a/\n" * 1_000_000, None),
    ],
    ids=["plain", "names itself", "nothing that is fetched", "huge"],
)
def test_a_file_of_mirrors_is_read_up_to_a_limit(tmp_path: Path, text: str, found: list[str] | None) -> None:
    own = tmp_path / "mirrors"
    own.write_text(text.replace("{own}", str(own)))
    mirrors = fetchable(f"mirror+file:{own}")
    assert mirrors == found if found is not None else 0 < len(mirrors) < 1_000_000


def test_a_security_archive_is_not_taken_for_the_main_one() -> None:
    rows = [
        ["", "noble-security", "main", "http://s/"],
        ["", "noble", "main", "http://a/"],
        ["", "noble", "universe", "http://b/"],
    ]
    assert addresses_of(rows, "Ubuntu", ["noble"]) == (["http://a/"], ["http://s/"])


ODD = {
    "Microsoft's": "http://z/debian/12/prod bookworm",
    "Chrome's": "https://z/linux/chrome/deb/ stable",
    "Yarn's": "https://z/debian/ stable",
    "Zabbix's": "https://z/zabbix/6.0/debian bookworm",
    "Jenkins'": "https://z/debian-stable/ stable",
    "a folder": "file:/srv/packages bookworm",
}
"""Archives of others, which call their releases and components as Debian does."""
ARCHIVES = {
    "whole": ("http://a/debian bookworm", "http://a/debian bookworm-updates"),
    "a mirror": ("http://a/mirrors/debian/ stable", "http://a/mirrors/debian/ stable-updates"),
    "of another name": ("http://a/all bookworm", "http://a/all bookworm-updates"),
    "without updates": ("http://a/debian bookworm",),
}
"""Debian's own; the last two cannot be told from others' that are called `debian`."""
PAIRS = [
    (odd, archive)
    for archive in ARCHIVES
    for odd in ODD
    if archive in ("whole", "a mirror") or odd in ("Microsoft's", "Chrome's", "a folder")
]


@pytest.mark.parametrize(("odd", "archive"), PAIRS)
def test_an_archive_of_others_that_stands_first_is_not_taken_for_debians(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str, archive: str
) -> None:
    """With the real apt, which has never updated and so knows of no origin."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a-first.list").write_text(f"deb {ODD[odd]} main\n")
    (tmp_path / "parts" / "own.list").write_text("".join(f"deb {each} main\n" for each in ARCHIVES[archive]))
    (tmp_path / "apt.conf").write_text(CONF.format(folder=tmp_path))
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    sources = machine_sources(tmp_path / "keys")
    (address,) = {source.address for source in sources}
    assert address.startswith("http://a/")


def test_what_apt_knows_to_be_the_archive_stands_before_what_is_called_like_it() -> None:
    rows = [
        ["", "bookworm", "main", "http://z/debian/"],
        ["", "bookworm-updates", "main", "http://z/debian/"],
        ["Debian", "bookworm", "main", "http://a/"],
        ["Others", "bookworm", "main", "http://y/debian/"],
    ]
    assert addresses_of(rows, "Debian", ["bookworm"]) == (["http://a/", "http://z/debian/"], [])


@pytest.mark.parametrize("origin", ["Debian", "Ubuntu"])
def test_the_names_of_an_archive_stand_first(origin: str) -> None:
    """Of rows whose origin apt does not know, which all have the release's name."""
    name = origin.lower()
    own = [f"http://a/{name}/", f"http://b/{name}-ports", f"file:/srv/{name}", f"http://d/{origin}//"]
    others = [f"http://z/{name}/12/prod/", "http://z/chrome/deb/", f"http://{name}.z/", f"http://z/{name}x/"]
    rows = [["$(ORIGIN)", "this", "main", address] for address in (*others, *own)]
    assert addresses_of(rows, origin, ["this"])[0] == [*own, *others]
    security = [
        ["", "this-security", "main", address] for address in ("http://z/x/", f"http://a/{name}-security/")
    ]
    assert addresses_of(security, origin, ["this"]) == ([], [security[1][3], security[0][3]])


def fresh(clone: Clone, folder: Path, sources: str, *words: str) -> subprocess.CompletedProcess[str]:
    """As far as the archive."""
    (folder / "parts").mkdir()
    (folder / "parts" / "own.list").write_text(sources)
    (folder / "apt.conf").write_text(CONF.format(folder=folder))
    (clone.bin / "apt-get").unlink()
    (clone.root / ".venv").symlink_to(sys.prefix)
    for name, body in (
        ("id", "echo 0"),
        ("dpkg-query", "printf installed"),
        ("git", ""),
        ("unshare", "echo reached"),
    ):
        clone.stand_in(name, body)
    return clone.run("tools/fresh.sh", *words, APT_CONFIG=str(folder / "apt.conf"))


@pytest.mark.parametrize("suite", ["bookworm", "trixie", "noble"])
def test_without_an_address_fresh_says_what_to_name(tmp_path: Path, suite: str) -> None:
    done = fresh(
        Clone(tmp_path), tmp_path, "deb http://z/tools stable-tools main\n", "check", "--suite", suite
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert "--mirror URL" in done.stderr


def test_an_address_that_lacks_the_suite_is_named(tmp_path: Path) -> None:
    sources = f"deb file:{tmp_path}/none bookworm main\n"
    done = fresh(Clone(tmp_path), tmp_path, sources, "check", f"--mirror=file:{tmp_path}/neither")
    assert done.returncode == 3
    assert f"(file:{tmp_path}/neither file:{tmp_path}/none/)" in done.stderr


@pytest.mark.parametrize("given", ["mirror", "apt"])
def test_the_first_address_that_has_the_suite_is_taken(tmp_path: Path, given: str) -> None:
    archive = tmp_path / "archive" / "dists" / "trixie"
    archive.mkdir(parents=True)
    (archive / "InRelease").touch()
    has = f"file:{tmp_path}/archive"
    sources = f"deb file:{tmp_path}/none bookworm main\n" + (
        f"deb {has} bookworm main\n" if given == "apt" else ""
    )
    words = ["--mirror", has] if given == "mirror" else []
    done = fresh(Clone(tmp_path), tmp_path, sources, "check", "--suite", "trixie", *words)
    assert (done.returncode, done.stdout) == (0, "reached\n"), done.stderr


@pytest.mark.parametrize(
    "sources", ["deb http://a/debian\n", "deb [arch= http://a/debian bookworm main\n", "nothing of apt's\n"]
)
def test_sources_that_apt_cannot_read_are_told_and_end_fresh(tmp_path: Path, sources: str) -> None:
    archive = tmp_path / "archive" / "dists" / "bookworm"
    archive.mkdir(parents=True)
    (archive / "InRelease").touch()
    done = fresh(Clone(tmp_path), tmp_path, sources, "check", f"--mirror=file:{tmp_path}/archive")
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("howlate: apt-get indextargets could not be fetched: ")
    assert line.endswith("`apt-get update` works.")


def test_no_file_knows_where_an_archive_is() -> None:
    files = completed(["git", "ls-files", "-z"], cwd=ROOT, check=True)
    hosts = re.compile(
        r"\b(?:deb|ftp|archive|security|ports|snapshot|old-releases)\.(?:[a-z]{2}\.)?(?:debian|ubuntu)\.(?:org|com)"
    )
    named = [
        name
        for name in files.stdout.split("\0")
        if name and not name.startswith("docs/") and hosts.search((ROOT / name).read_text(errors="replace"))
    ]
    assert named == []
