"""The kernels between a good and a bad one, in order (docs/lab/bisect.md): those of the archive, those whose boot
parameters lie between two sets, or those that a command of the user's builds."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from howlate.errors import TargetError, UsageError
from howlate.lab.archive.packages import Archive, PackageVersion
from howlate.lab.kernels.catalogue import available, choose, newest, versions
from howlate.lab.kernels.label import Label
from howlate.lab.problems import UNUSABLE
from howlate.prove.bisected import Step
from howlate.system.opening import read_bytes

SKIPPED = 125
"""The exit code with which a build says that its revision cannot be tested; as for `git bisect run`."""


def of_labels(good: str, bad: str, archive: Callable[[], Archive]) -> list[Step]:
    first, last = Label.parse(good), Label.parse(bad)
    if first != last and first.base == last.base:
        return _parameters(first, last)
    if first == last or (first.rt, first.arch, first.parameters) != (last.rt, last.arch, last.parameters):
        raise UsageError(
            "{good} and {bad} must differ either in their version or in their parameters",
            remedy="name two versions with the same parameters, or one kernel with two sets of parameters",
            good=first,
            bad=last,
        )
    return _versions(first, last, archive())


def _parameters(first: Label, last: Label) -> list[Step]:
    """One after the other takes its last value: what is in the first set alone leaves, what is in both is changed,
    what is in the last alone is added."""
    labels, names = [first], [""]
    wanted = {_key(word): word for word in last.parameters}
    for word in first.parameters:
        if word not in last.parameters:
            key = _key(word)
            instead = wanted.get(key) if wanted.get(key) not in first.parameters else None
            now = labels[-1].parameters
            changed = tuple(instead if each == word else each for each in now)
            labels.append(replace(first, parameters=tuple(each for each in changed if each is not None)))
            names.append(f"{word} -> {instead}" if instead else f"without {word}")
    for word in last.parameters:
        if word not in labels[-1].parameters:
            labels.append(replace(first, parameters=(*labels[-1].parameters, word)))
            names.append(word)
    return [Step(str(label), name, str(label)) for label, name in zip(labels, names, strict=True)]


def _key(word: str) -> str:
    return word.partition("=")[0]


def _versions(first: Label, last: Label, archive: Archive) -> list[Step]:
    """The newest of each series, or, where one of the two is pinned to a version, all versions."""
    every = [
        each
        for each in available(archive.packages())
        if (each.label.rt, each.label.arch) == (first.rt, first.arch)
    ]
    ends = [choose(label.base, every)[0] for label in (first, last)]
    some = versions(every) if first.version or last.version else newest(every)
    low, high = sorted(PackageVersion(end.version) for end in ends)
    between = [each for each in some if low <= PackageVersion(each.version) <= high]
    between = sorted(
        {each.version: each for each in [*between, *ends]}.values(),
        key=lambda each: PackageVersion(each.version),
    )
    if ends[0] is not between[0]:
        between.reverse()
    names = [replace(each.pinned, parameters=first.parameters) for each in between]
    return [
        Step(
            str(label), "" if number == 0 else f"{between[number - 1].version} -> {each.version}", str(label)
        )
        for number, (label, each) in enumerate(zip(names, between, strict=True))
    ]


def of_revisions(path: Path) -> list[Step]:
    """The lines of a file, the good revision first."""
    try:
        lines = read_bytes(path, links=True).decode("utf-8").splitlines()
        words = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        reason = "" if len(words) > 1 else f"{len(words)} revision"
    except (OSError, UnicodeDecodeError) as problem:
        reason = f"{problem.strerror}" if isinstance(problem, OSError) else "it is not UTF-8"
    if reason:
        hint = "write at least two revisions into a text file, one a line, the good one first and the bad one last"
        raise UsageError(UNUSABLE(what=path, reason=reason, hint=hint))
    return [Step(word, "" if number == 0 else word) for number, word in enumerate(words)]


def build(command: str, revision: str, folder: Path) -> Path | None:
    """The kernel that the user's command builds of a revision; None where it says that it is to be skipped."""
    folder.mkdir(parents=True, exist_ok=True)
    kernel = folder.resolve() / _file_name(revision.split()[0])
    kernel.unlink(missing_ok=True)
    told = {**os.environ, "HOWLATE_REVISION": revision.split()[0], "HOWLATE_KERNEL": str(kernel)}
    code = subprocess.run(["/bin/sh", "-c", command], env=told, check=False, stdout=2).returncode
    if code == SKIPPED:
        return None
    if code != 0 or not kernel.is_file():
        raise TargetError(
            "the command that builds {revision} failed: {reason}",
            remedy="let it copy its bzImage or Image to $HOWLATE_KERNEL, or end with 125 to skip a revision",
            revision=revision,
            reason=f"it ended with exit code {code}" if code else f"there is no kernel at {kernel}",
        )
    return kernel


def _file_name(revision: str) -> str:
    """A name of its own for each revision: a digest tells those apart that are the same without their slashes."""
    plain = re.sub(r"[^A-Za-z0-9.+-]", "-", revision).strip(".+-")
    if plain == revision:
        return plain
    return f"{plain or 'kernel'}-{hashlib.blake2b(revision.encode(), digest_size=4).hexdigest()}"
