"""The doctor's screen, over captured machines: at most 20 lines, what makes late first, no remedy cut."""

import json
import re
from itertools import takewhile
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.doctor import examine
from howlate.document.findings import briefly
from howlate.document.first_screen.findings import LINES, findings_screen
from howlate.model.facts import Facts, Finding
from screens import fits

EVERY = "howlate doctor --all"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "machines"
MACHINES = sorted(path.stem for path in FIXTURES.glob("*.json"))


def of(name: str) -> tuple[Finding, ...]:
    return examine(Facts.from_json(json.loads((FIXTURES / f"{name}.json").read_text())))


def shown(findings: tuple[Finding, ...], width: int = 80) -> list[str]:
    commands = [c for finding in findings for c in re.findall("`([^`]+)`", briefly(finding.change))]
    lines = findings_screen(findings, EVERY, width)
    texts = ["".join(text for text, _ in line) for line in lines]
    own = [line for line in texts if any(len(c) > width - 6 and c in line for c in commands)]
    fits([line for line, text in zip(lines, texts, strict=True) if text not in own], width, LINES)
    rows = sum(max(1, -(-len(line) // width)) for line in texts)
    assert rows <= LINES, "\n".join(texts)
    return texts


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_has_one_screen_with_the_weightiest_first(name: str, width: int) -> None:
    findings = of(name)
    wanted = [finding for finding in findings if finding.level in ("late", "note")]
    lines = shown(findings, width)
    late = sum(finding.level == "late" for finding in findings)
    assert lines[0].startswith(f"{late} thing" if late else "Nothing was found")
    titles = [line[2:] for line in lines if re.match(r"  \S", line)]
    for title, finding in zip(titles, wanted[: len(titles)], strict=True):
        assert title.startswith(finding.title) or len(finding.title) > width - 3
    left = [int(found[1]) for line in lines if (found := re.match(r"(\d+) more, and why", line))]
    assert left == ([len(wanted) - len(titles)] if len(titles) < len(wanted) else [])
    assert any(EVERY in line for line in lines)


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("name", MACHINES)
def test_each_finding_has_its_remedy_whole(name: str, width: int) -> None:
    findings = of(name)
    lines = shown(findings, width)
    for finding in findings:
        at = next((i for i, line in enumerate(lines) if line.startswith(f"  {finding.title}"[:18])), None)
        if at is not None and finding.level in ("late", "note"):
            remedy = briefly(finding.change).replace("`", "")
            below = " ".join(line[4:] for line in takewhile(lambda line: line[:4] == "    ", lines[at + 1 :]))
            assert remedy in lines[at] or below == remedy


def test_a_machine_without_findings_says_so() -> None:
    quiet = tuple(replace(finding, level="ok") for finding in of("rt-box-tuned"))
    first, empty, last = shown(quiet)
    assert "Nothing" in first and not empty and last.endswith(EVERY)


def test_a_guests_finding_names_its_kernels() -> None:
    first, *_ = of("guest-6.18-dynamic")
    lines = shown((replace(first, machines=("6.1", "6.1-rt")),))
    assert lines[1].startswith(f"  {first.title} (6.1")
