"""docs/ci.md: the jobs of the page, run as their commands say, fail on a kernel that breaks the deadline and pass on
one that keeps it."""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml  # type: ignore[import-untyped]
from msgspec import Struct

from howlate.system.paths import ROOT
from lab.guests import RT, STANDARD, warm_cache

PAGE = ROOT / "docs" / "ci.md"
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
"""As both services start it."""
QUICK = {"SEEDS": "2", "SCALE": "0.1"}
"""What the page calls the length of the job."""
INSTALLS = re.compile("apt-get|pipx")
NO_MISSES = re.compile(r"\b0 of 4[0-9]{2} releases missed")


def file_of(name: str) -> str:
    """A file that the page shows: an indented block that begins with its name in a comment."""
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(rf"^    # {re.escape(name)}\n((?:    .*\n|\n(?=    ))*)", text, re.MULTILINE)
    assert block is not None, name
    return textwrap.dedent(block[1])


class Step(Struct, frozen=True):
    """Lines that one shell runs."""

    script: str
    always: bool = False
    """Also after a step that failed."""


class Job(Struct, frozen=True):
    """A service's job, as far as a shell can run it."""

    variables: Mapping[str, str]
    steps: tuple[Step, ...]
    kept: tuple[str, ...]
    """The files that the job uploads."""


def gitlab() -> Job:
    job: dict[str, Any] = yaml.safe_load(file_of(".gitlab-ci.yml"))["deadline"]
    usual = ("export PATH=", "if test -d .howlate; then cp -r ")
    assert all(INSTALLS.search(line) or line.startswith(usual) for line in job["before_script"])
    kept = (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"])
    return Job(job["variables"], (Step("\n".join(job["script"])),), kept)


def github() -> Job:
    job: dict[str, Any] = yaml.safe_load(file_of(".github/workflows/deadline.yml"))["jobs"]["deadline"]
    steps = [step for step in job["steps"] if "run" in step and not INSTALLS.search(step["run"])]
    (upload,) = (step for step in job["steps"] if "upload-artifact" in step.get("uses", ""))
    return Job(
        {name: str(value) for name, value in job["env"].items()},
        tuple(Step(step["run"], "!cancelled()" in step.get("if", "")) for step in steps),
        tuple(upload["with"]["path"].split()),
    )


def run(job: Job, folder: Path, variables: Mapping[str, str]) -> int:
    """The exit code of the first step that fails; 0 where none does."""
    code = 0
    for step in job.steps:
        if code and not step.always:
            continue
        environment = {**os.environ, **job.variables, **QUICK, **variables}
        done = subprocess.run([*SHELL, "-c", step.script], cwd=folder, env=environment, timeout=1200)
        code = code or done.returncode
    return code


@pytest.fixture
def with_howlate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the lines of the page that install leave: `howlate` on PATH."""
    command = tmp_path / "bin" / "howlate"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m howlate "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


@pytest.mark.long
@pytest.mark.usefixtures("with_howlate")
@pytest.mark.parametrize(
    ("kernel", "code"), [pytest.param(STANDARD, 1, id="breaks"), pytest.param(RT, 0, id="keeps")]
)
def test_the_jobs_fail_on_a_kernel_that_breaks_the_deadline_alone(
    tmp_path: Path, kernel: str, code: int
) -> None:
    """Of both services; the second finds the results of the first in the cache, and says the same."""
    cache = warm_cache(tmp_path / "cache", kernel)
    verdicts = []
    for name, job in (("gitlab", gitlab()), ("github", github())):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "deadline.toml").write_text(file_of("deadline.toml"))
        assert Path(job.variables["HOWLATE_CACHE"]).is_absolute()
        page_of_job = folder / "step-summary"
        variables = {"HOWLATE_CACHE": str(cache), "GITHUB_STEP_SUMMARY": str(page_of_job)}
        assert run(job, folder, {"KERNEL": kernel, **variables}) == code
        assert all((folder / kept).exists() for kept in job.kept)
        summary = (folder / "verdict.md").read_text(encoding="utf-8")
        assert summary.startswith(f"## {'FAIL' if code else 'PASS'}: ")
        assert "exact" in summary and "other seeds" in summary
        if name == "github":
            assert page_of_job.read_text(encoding="utf-8") == summary
        verdicts.append([*cases(folder / "verdict.xml")])
    (none, loaded), again = verdicts
    assert again == [none, loaded]
    names = [f"{kernel} · {load}" for load in ("none", "memory-alloc:100")]
    assert (none[:2], loaded[:2]) == ((names[0], ""), (names[1], "FAIL" if code else ""))
    assert bool(NO_MISSES.search(loaded[2])) is (code == 0)


def cases(junit: Path) -> Iterator[tuple[str, str, str]]:
    """Of each case the name, the type of its failure ("" for a pass) and the text."""
    suite = ElementTree.parse(junit).getroot()
    failures = suite.findall("testcase/failure")
    assert (suite.get("failures"), suite.get("errors")) == (str(len(failures)), "0")
    for case in suite:
        (body,) = case
        yield case.get("name", ""), body.get("type", ""), body.text or ""


def test_both_jobs_run_the_same_commands() -> None:
    """GitHub's has one more, which shows the summary."""
    lines = [[line for step in job().steps for line in step.script.splitlines()] for job in (gitlab, github)]
    assert lines[1][: len(lines[0])] == lines[0]
    assert [step.script for step in github().steps if step.always] == [
        'cat verdict.md >> "$GITHUB_STEP_SUMMARY"'
    ]
    assert set(QUICK) <= set(gitlab().variables)
