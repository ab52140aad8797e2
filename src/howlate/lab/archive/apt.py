"""The Debian archive through this machine's apt: its addresses, proxies, keys and checks, with a separate
state.

Nothing of the machine's own apt is changed: lists, cache and status are in the cache folder, and the
machine's hooks after an update are not run. `apt-get indextargets` gives the addresses; only suites whose
signature apt has verified are used.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from howlate.errors import HowlateError, NotPossibleError, TargetError
from howlate.lab.archive.download import NOT_FETCHED
from howlate.lab.archive.manifest import file_hashes
from howlate.lab.archive.packages import (
    ADDITIONS,
    CODENAMES,
    Package,
    Say,
    absent,
    cached_index,
    once,
    read_packages,
    save_index,
    silent,
    suites,
    wanted_architectures,
)
from howlate.lab.cache import (
    make_folder,
    read_entry,
    read_sealed_json,
    remove,
    say_changed,
    storing,
    write_entry,
    write_sealed_json,
)
from howlate.lab.problems import UNUSABLE, not_installed
from howlate.system.paths import archive_ready

KEYRINGS = tuple(Path("/usr/share/keyrings") / f"debian-archive-keyring.{end}" for end in ("gpg", "pgp"))
HELPER = Path("/usr/lib/apt/apt-helper")
RELEASES = (*CODENAMES, "oldoldstable", "oldstable", "stable", "testing", "unstable")
"""The names by which sources call them."""


class Source(Struct, frozen=True):
    """One suite at one address."""

    address: str
    suite: str
    keyring: Path

    @property
    def line(self) -> str:
        """The line for a sources.list. Only the lists of packages: no translations, no DEP-11."""
        keyring = _fit(self.keyring.absolute(), r"[\s,\[\]]")
        options = f"arch={','.join(wanted_architectures())} lang=none target=Packages signed-by={keyring}"
        return f"deb [{options}] {self.address} {self.suite} main"


def default_keyring() -> Path:
    """The Debian archive's keys, as the package installs them."""
    if not any(keyring.is_file() for keyring in KEYRINGS):
        archive_ready()
    for keyring in KEYRINGS:
        if keyring.is_file():
            return keyring
    raise not_installed(
        "the keyring of the Debian archive", "debian-archive-keyring, or name one with --keyring"
    )


def machine_sources(keyring: Path | None = None) -> tuple[Source, ...]:
    """All suites at the addresses of the Debian archive in this machine's apt configuration."""
    return sources_of(machine_rows(), keyring)


def machine_rows() -> list[list[str]]:
    """(origin, release, component, address) of each list of packages, as apt reads this machine's files."""
    if shutil.which("apt-get") is None or not HELPER.exists():
        raise _no_archive("apt is not installed")
    form = "|".join(f"$({column})" for column in ("ORIGIN", "RELEASE", "COMPONENT", "REPO_URI"))
    query = ["apt-get", "indextargets", "--format", form, "Created-By: Packages"]
    # Without the last option apt leaves out what it has never updated, with it it tells no origin.
    updated, all_rows = (
        [line.split("|") for line in _run([*query, *more]).splitlines()]
        for more in ((), ("--no-release-info",))
    )
    known = {tuple(row[1:]) for row in updated}
    return [*updated, *(row for row in all_rows if tuple(row[1:]) not in known)]


_ADDITIONS = r"(-updates|-backports|-security|/updates)$"


def addresses_of(
    rows: Iterable[Sequence[str]], origin: str, releases: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The addresses of a distribution's archive, and those of its security archive. Before a first update apt does
    not know origins; then the release's name decides. Others call their releases so too, so those that are named
    and divided as an archive come first. Media are none: only apt-cdrom finds them."""
    whole = [row for row in rows if len(row) == 4]
    named = re.compile(rf"/{origin}(-[a-z]+)?/*$", re.IGNORECASE)
    divided = {address for _, release, _, address in whole if re.search(_ADDITIONS, release)}

    def doubt(row: Sequence[str]) -> int:
        known, _, _, address = row
        return 0 if known == origin else 3 - (named.search(address) is not None) - (address in divided)

    main: list[str] = []
    security: list[str] = []
    for known, release, component, address in sorted(whole, key=doubt):
        base = re.sub(_ADDITIONS, "", release)
        own = known == origin or (known in ("", "$(ORIGIN)") and base in releases)
        addresses = security if release.endswith(("-security", "/updates")) else main
        if component == "main" and own and address not in addresses and not address.startswith("cdrom:"):
            addresses.append(address)
    return main, security


_FETCHED = ("http:", "https:", "file:")
_MOST_MIRRORS = 1 << 20
"""Characters of a file of mirrors."""


def fetchable(address: str) -> list[str]:
    """The addresses of a source that others than apt can fetch from: those of a file of mirrors, its own, or none."""
    scheme, _, path = address.partition(":")
    if scheme == "mirror+file":
        with suppress(OSError, UnicodeError):
            with Path(path.rstrip("/")).open() as file:
                lines = [line.split() for line in file.read(_MOST_MIRRORS).splitlines()]
            return [words[0] for words in lines if words and words[0].startswith(_FETCHED)]
    return [address] if address.startswith(_FETCHED) else []


def sources_of(rows: Iterable[Sequence[str]], keyring: Path | None = None) -> tuple[Source, ...]:
    main, security = addresses_of(rows, "Debian", RELEASES)
    if not main:
        raise _no_archive("it is not among the sources of apt")
    keys = keyring or default_keyring()
    # The first address of each kind: further ones are mirrors of the same.
    return tuple(
        Source(addresses[0], suite, keys)
        for _, suite in suites()
        if (addresses := security if suite.endswith("-security") else main)
    )


class AptArchive:
    def __init__(
        self,
        folder: Path,
        sources: Sequence[Source] | None = None,
        keyring: Path | None = None,
        say: Say = silent,
    ) -> None:
        self.folder = folder
        self.keyring = keyring
        self.say = say
        self._given = sources
        self.index = folder / "packages.json"
        self._lists, self._conf = folder / "lists", folder / "apt.conf"
        self._hashes = folder / "lists.json"
        """What the lists were after the last update."""

    def packages(self, *, refresh: bool = False) -> Sequence[Package]:
        return cached_index(self.index, self.folder, self._update, refresh=refresh, say=self.say)

    def fetch(self, package: Package, folder: Path) -> Path:
        """Fetch by apt's own transports (proxies, mirrors); apt checks the hash in the signed list."""
        self.configure()
        file = folder / package.file_name
        with storing(file):
            make_folder(folder)
        done = self._apt(
            [str(HELPER), "download-file", _quoted(package.uri), str(file), f"SHA256:{package.sha256}"]
        )
        if done.returncode != 0 or not file.is_file():
            why = _reason(done.stderr + done.stdout)
            if re.search(r"\b404\b", why) or "File not found" in why:
                raise absent(package)
            raise TargetError(
                NOT_FETCHED(
                    address=package.file_name,
                    reason=why,
                    hint="call `howlate lab kernels --refresh` and try again",
                )
            )
        return file

    def places(self) -> Sequence[tuple[str, str, Path]]:
        return [(s.suite, address, s.keyring) for s in self.sources() for address in fetchable(s.address)]

    def sources(self) -> Sequence[Source]:
        """Apt is asked once."""
        if self._given is None:
            self._given = machine_sources(self.keyring)
        return self._given

    def _update(self) -> None:
        self._remove_changed_lists()
        self.configure()
        self.say("fetching the lists of packages (a minute at the first time)")
        done = self._apt(["apt-get", "update", "-o", "pkgCacheFile::Generate=0"])
        failed = failures(done.stdout)
        packages = self._read_lists()
        if not packages:
            why = next(iter(failed.values()), _reason(done.stderr))
            raise _no_archive(why, TargetError)
        for suite, why in failed.items():
            self.say(f"the suite {suite} could not be updated: {why}")
        save_index(self.index, packages, {"failed": failed})
        with storing(self._hashes):
            write_sealed_json(self._hashes, file_hashes(self._lists))

    def _remove_changed_lists(self) -> None:
        """Apt takes a list that it has for the one that it verified: those that changed since are removed."""
        again = "the lists are fetched again"
        try:
            stored = read_sealed_json(self._hashes, self.say, again)
            if not self._lists.exists() or stored == file_hashes(self._lists):
                return
        except OSError:  # something that is neither a file nor a folder
            pass
        say_changed(self._lists, self.say, again)
        with storing(self._lists):
            remove(self._lists)

    def _read_lists(self) -> list[Package]:
        columns = "$(FILENAME)|$(RELEASE)|$(REPO_URI)"
        rows = self._apt(["apt-get", "indextargets", "--format", columns, "Created-By: Packages"]).stdout
        packages: list[Package] = []
        for row in rows.splitlines():
            file, suite, base = row.split("|")
            command = [str(HELPER), "cat-file", file]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
                assert child.stdout is not None
                packages += read_packages(child.stdout, suite, base, file)
        return once(packages)

    def configure(self) -> None:
        """Write the settings of the private state; they are few and always the same."""
        status, sources = self.folder / "status", self.folder / "sources.list"
        with storing(self.folder):
            make_folder(self._lists / "partial")
            make_folder(self.folder / "archives" / "partial")
            _write(status, "")
            _write(sources, "".join(f"{source.line}\n" for source in self.sources()))
            _write(
                self._conf, _CONF.format(folder=_fit(self.folder, r'["\\\n]'), host=wanted_architectures()[0])
            )

    def _apt(self, argv: list[str]) -> subprocess.CompletedProcess[str]:
        return _completed([argv[0], "-c", str(self._conf), *argv[1:]])


# `-c` is read after the machine's own settings, so these hold and its proxies stay. As root apt would fetch as the
# user _apt, who cannot enter everybody's cache folder: what is fetched is checked all the same.
_CONF = """#clear APT::Update;
#clear APT::Architectures;
#clear DPkg::Post-Invoke;
APT::Architecture "{host}";
APT::Architectures {{ "amd64"; "arm64"; }};
APT::Sandbox::User "root";
Acquire::GzipIndexes "true";
Acquire::Retries "3";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
"""


def failures(output: str) -> dict[str, str]:
    """Suite -> reason, from the output of `apt-get update`. A missing addition of a release is not a failure."""
    failed: dict[str, str] = {}
    lines = output.splitlines()
    for number, line in enumerate(lines):
        match = re.match(r"Err:\d+ \S+ (\S+)", line)
        if match is None:
            continue
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        why = (
            re.sub(r"\s*\[IP: [^\]]*\]", "", follows).strip()
            if follows.startswith("  ")
            else "no reason was given"
        )
        suite = match[1].partition("/")[0]
        absent = why.startswith("404") or "File not found" in why
        if not (absent and suite.endswith(ADDITIONS)):
            failed.setdefault(suite, why)
    return failed


def _write(file: Path, text: str) -> None:
    """Write only if the content changes, because another howlate may be reading the file."""
    data = text.encode()
    with suppress(OSError):
        if read_entry(file, len(data)) == data:
            return
    write_entry(file, data)


def _fit(path: Path, unfit: str) -> Path:
    """A path to be written into a file of apt's; NotPossibleError if it cannot be: apt knows no escapes there."""
    if re.search(unfit, str(path)):
        reason = "for apt it may not have a quote, backslash, space, comma or bracket"
        hint = "set HOWLATE_CACHE to another folder, rename the keyring, or use --mirror"
        raise NotPossibleError(UNUSABLE(what=path, reason=reason, hint=hint))
    return path


def _quoted(uri: str) -> str:
    """`~` and `+` are allowed; apt quotes them itself."""
    return quote(uri, safe=":/~+%@")


def _reason(output: str) -> str:
    for line in output.splitlines():
        if line.startswith(("E: ", "W: ")):
            return re.sub(r"\s*\[IP: [^\]]*\]", "", line[3:]).strip()
    return "it does not say why"


def _run(argv: list[str]) -> str:
    done = _completed(argv)
    if done.returncode != 0:
        raise TargetError(
            NOT_FETCHED(
                address=" ".join(argv[:2]),
                reason=_reason(done.stderr),
                hint="check that `apt-get update` works",
            )
        )
    return done.stdout


def _completed(argv: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    environment.pop("APT_CONFIG", None) if "-c" in argv else None
    return subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment,
        check=False,
    )


def _no_archive(reason: str, error: type[HowlateError] = NotPossibleError) -> HowlateError:
    return error(
        "the apt of this machine does not get the Debian archive: {reason}",
        remedy="check the network, or name a mirror of it with --mirror URL",
        reason=reason,
    )
