"""A command of ./dev takes the Python packages that it needs: the tests and linters, and only some more."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from howlate.system.paths import ROOT
from made_clone import Clone

GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
BEYOND = {
    "selenium": {"tests/browsing.py", "tests/document/test_browser.py"},
    "hatchling": {"tools/wheel_contents.py"},
}
"""The packages that are not in the plain environment, and who imports them."""


def pins(group: str) -> dict[str, str]:
    lock = ROOT / ("requirements.lock" if not group else f"requirements-{group}.lock")
    return dict(re.findall(r"^([\w.-]+)==(\S+)", lock.read_text(), re.MULTILINE))


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_pinned_whole_and_as_the_others_are(group: str) -> None:
    pinned = pins(group)
    assert {canonicalize_name(Requirement(wanted).name) for wanted in GROUPS[group]} <= pinned.keys()
    for name in pinned.keys() - {"colorama"}:
        for text in metadata.requires(name) or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in pinned, (name, text)
    for other in ("", *GROUPS):
        assert {name: at for name, at in pins(other).items() if pinned.get(name, at) != at} == {}


def test_the_plain_environment_has_what_all_but_a_few_files_import() -> None:
    plain = pins("dev")
    assert not plain.keys() & BEYOND.keys()
    files = [path for folder in ("src", "tests", "tools", "bench") for path in (ROOT / folder).rglob("*.py")]
    for package, who in BEYOND.items():
        imports = re.compile(rf"^\s*(?:from|import) {package}\b", re.MULTILINE)
        assert {str(path.relative_to(ROOT)) for path in files if imports.search(path.read_text())} == who
    (quick,) = re.findall(r"tests/\{([\w,]+)\}", (ROOT / "dev").read_text())
    assert not [file for who in BEYOND.values() for file in who if file.split("/")[1] in quick.split(",")]


@pytest.mark.parametrize(
    ("command", "groups"),
    [
        ("quick", "dev"),
        ("lint", "dev"),
        ("lang", "dev"),
        ("imports", "dev"),
        ("hostile places", "dev"),
        ("inventory", "dev"),
        ("site", "publish"),
        ("test", "dev browser publish"),
        ("pages", "dev browser publish"),
    ],
)
def test_a_command_installs_the_groups_that_it_takes(tmp_path: Path, command: str, groups: str) -> None:
    """As far as pip, which this Python only claims to be."""
    clone = Clone(tmp_path)
    clone.environment((clone.root / "requirements.lock").read_text())
    clone.stand_in("dpkg-query", "printf installed")
    clone.stand_in("cmake", "exit 1")
    clone.run("./dev", *command.split())
    stamps = {path.name for path in (clone.root / ".venv").glob(".requirements*")}
    assert stamps == {".requirements.lock", *(f".requirements-{group}.lock" for group in groups.split())}
