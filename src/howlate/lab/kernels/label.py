"""A kernel's name in the lab: `6.1`, `6.1-rt`, `6.12-rt@arm64`, `6.1[preempt=none]`, `6.1=6.1.192-2`."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.lab.problems import UNUSABLE
from howlate.model.decode import twice
from howlate.system.paths import MACHINES

FORM = (
    "a kernel is written SERIES[-rt][@arm64][=VERSION][[PARAMETERS]], "
    'as in "6.1", "6.12-rt@arm64", "6.1[preempt=none]"; "all" and "all@arm64" name one of every series'
)

_SERIES = re.compile(r"(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)")
_VERSION = re.compile(r"[0-9][A-Za-z0-9.+~-]*")
_OWN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_LABEL = re.compile(
    rf"(?P<series>{_SERIES.pattern})(?P<rt>-rt)?(?:@(?P<arch>[^=\[@]*))?(?:=(?P<version>[^\[]*))?(?:\[(?P<parameters>[^\[\]]*)\])?",
)


class Label(Struct, frozen=True):
    """One kernel with its boot parameters. `str()` of it is its shortest spelling, and `parse` reads that back."""

    series: str
    """Upstream's major.minor; for a kernel of the user's own, its file's name or the given name."""
    rt: bool = False
    arch: str = "amd64"
    version: str = ""
    """The package's version, if it is pinned."""
    parameters: tuple[str, ...] = ()
    """Parameters of the kernel's command line, in order."""
    own: bool = False
    """The kernel is a file of the user's own, not one of an archive."""

    @classmethod
    def parse(cls, text: str) -> Label:
        """Parse a label of the archive's kernels; UsageError with the remedy for anything else."""
        match = _LABEL.fullmatch(text.strip())
        if match is None:
            raise bad_label(text, _hint(text))
        arch = match["arch"] if match["arch"] is not None else "amd64"
        if arch not in MACHINES.values():
            raise bad_label(text, f"{arch} is not amd64 or arm64")
        version = match["version"] or ""
        if match["version"] is not None:
            _check_version(text, match["series"], version)
        parameters = tuple((match["parameters"] or "").split())
        if match["parameters"] is not None:
            _check_parameters(text, parameters)
        return cls(match["series"], match["rt"] is not None, arch, version, parameters)

    @classmethod
    def of_file(cls, name: str, arch: str, parameters: tuple[str, ...] = ()) -> Label:
        """The label of a kernel of the user's own, from its file's name or the given name."""
        if _OWN.fullmatch(name) is None or is_of_the_archive(name):
            hint = "name it with letters, digits and ._+-, and not as one of the archive's: --own-kernel mine=PATH"
            raise bad_label(name, hint)
        return cls(name, arch=arch, parameters=parameters, own=True)

    @property
    def base(self) -> Label:
        return replace(self, parameters=())

    def with_parameters(self, *parameters: str) -> Label:
        """The same kernel, with these parameters after its own."""
        _check_parameters(" ".join(parameters), parameters)
        return replace(self, parameters=(*self.parameters, *parameters))

    def __str__(self) -> str:
        arch = "" if self.arch == "amd64" else f"@{self.arch}"
        version = f"={self.version}" if self.version else ""
        parameters = f"[{' '.join(self.parameters)}]" if self.parameters else ""
        return f"{self.series}{'-rt' if self.rt else ''}{arch}{version}{parameters}"


def is_of_the_archive(text: str) -> bool:
    """Whether a label has the form of the archive's, which no kernel of the user's own may have."""
    return _LABEL.fullmatch(text) is not None


def parse_labels(text: str) -> tuple[Label, ...]:
    """Several labels, separated by commas; a comma inside brackets belongs to a parameter (`isolcpus=1,2`)."""
    labels = tuple(Label.parse(word) for word in split_labels(text))
    if not labels:
        raise bad_label("", FORM)
    for number, label in enumerate(labels):
        if label in labels[:number]:
            raise UsageError(twice("value of --kernels", str(label), "name it once"))
    return labels


def split_labels(text: str) -> list[str]:
    return [word.strip() for word in re.split(r",(?![^\[]*\])", text) if word.strip()]


def split_own(text: str) -> tuple[str, Path, tuple[str, ...]]:
    """`NAME=PATH[a=b c]` -> the name ("" without one), the file and the parameters. If the whole word is an
    existing file, it is that file, whatever characters its name contains."""
    word, parameters = split_parameters(text)
    name, equals, path = word.partition("=")
    if not equals or "/" in name or Path(word).exists():
        return "", Path(word), parameters
    if not name or not path:
        raise bad_label(text, "write --own-kernel bzImage or --own-kernel mine=linux/bzImage")
    return name, Path(path).expanduser(), parameters


def split_parameters(text: str) -> tuple[str, tuple[str, ...]]:
    """`PATH[a=b c]` -> the path and the parameters."""
    match = re.fullmatch(r"(?P<path>.*[^\]])(?:\[(?P<parameters>[^\[\]]*)\])", text, re.DOTALL)
    if match is None:
        return text, ()
    parameters = tuple(match["parameters"].split())
    _check_parameters(text, parameters)
    return match["path"], parameters


def _check_version(text: str, series: str, version: str) -> None:
    if _VERSION.fullmatch(version) is None:
        raise bad_label(text, 'pin a version as in "6.1=6.1.192-2"')
    if re.match(rf"{re.escape(series)}(?![0-9])", version) is None:
        raise bad_label(
            text, f"{version} is not of the series {series}; `howlate lab kernels --all` lists versions"
        )


def _check_parameters(text: str, parameters: tuple[str, ...]) -> None:
    if not parameters:
        raise bad_label(text, "write a parameter in the brackets, as in [preempt=none]")
    for word in parameters:
        if re.fullmatch(r"[!-Z\\^-~]+", word) is None or '"' in word or word == "--":
            raise bad_label(text, f'"{word}" is not a parameter; write it as in [preempt=none]')
        _check_commas(text, word)


FLAGS = frozenset({
    "debug", "earlycon", "earlyprintk", "ignore_loglevel", "irqfixup", "irqpoll", "kaslr", "lapic", "no-steal-acc",
    "no_timer_check", "noapic", "nohlt", "noirqdebug", "nokaslr", "nolapic", "nolapic_timer", "nomodule", "nopti",
    "nopv", "nosmap", "nosmep", "nosmp", "nosoftlockup", "notsc", "nowatchdog", "quiet", "rootwait", "threadirqs",
})  # fmt: skip
"""Common boot parameters without a value. A kernel's image does not distinguish them from its other words."""
EARLY = frozenset({
    "acpi", "apic", "cgroup_disable", "cpuidle.off", "hugepages", "idle", "init_on_alloc", "init_on_free",
    "intel_idle.max_cstate", "iommu", "isolcpus", "maxcpus", "mem", "memmap", "mitigations", "nmi_watchdog", "nosmt",
    "nr_cpus", "pci", "preempt", "processor.max_cstate", "pti", "rcu_nocbs", "slub_debug", "spectre_v2",
    "transparent_hugepage", "tsc",
})  # fmt: skip
"""Common parameters with a value that kernels do not spell with "="; both sets serve only for hints."""


def _check_commas(text: str, word: str) -> None:
    """Refuse two parameters separated by a comma: to the kernel they are one."""
    first, *pieces = word.split(",")
    joined = first in FLAGS and bool(pieces)
    if "." in first.partition("=")[0]:
        return  # values of a module's parameter have their own grammar
    for piece in pieces:
        joined |= piece in FLAGS or re.fullmatch(r"[a-z][a-z0-9_.-]*=.*", piece) is not None
    if joined:
        raise bad_label(text, f"separate parameters by spaces: [{word.replace(',', ' ')}]")


def _hint(text: str) -> str:
    """The spelling that was probably meant."""
    lower = text.strip().lower()
    if text.count("[") > text.count("]"):
        closed = f"{text.strip()}]"
        if _LABEL.fullmatch(closed) and not closed.endswith("[]"):
            return f'the bracket is not closed: did you mean "{closed}"?'
        return f"the bracket is not closed; {FORM}"
    match = re.search(r"([0-9]+\.[0-9]+)(\.[0-9]+)?", lower)
    if match is None:
        return FORM
    rt = "-rt" if re.search(r"\brt", lower) else ""
    arch = "@arm64" if "arm64" in lower or "aarch64" in lower else ""
    version = " (a version is pinned as in 6.1=6.1.192-2)" if match[2] else ""
    return f'did you mean "{match[1]}{rt}{arch}"{version}?'


def bad_label(text: str, hint: object) -> UsageError:
    return UsageError(UNUSABLE(what=f'"{text}"', reason="it is not the name of a kernel", hint=hint))
