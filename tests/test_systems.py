"""The table of the systems in docs/install.md, and what the README says that it runs on."""

import json
import re
import sys
from pathlib import Path

from house_tools import tool
from howlate.system.paths import ROOT
from processes import completed

RECORD = {
    **{f"{command}.{unit}": "120" for command in ("check", "test") for unit in ("wall_s", "cpu_s")},
    **{f"{command}.{unit}": "70" for command in ("check", "test") for unit in ("fetched_mb", "disk_mb")},
    "commit": "0123abcd",
    "gcc": "14.2.0",
    "python": "3.13.5",
    "qemu": "10.0.2",
    "openssh": "10.0p1",
}
EMPTY = "before\n<!-- made by ./dev systems -->\n<!-- end -->\nafter\n"


def record(folder: Path, check: int, test: int, counts: dict[str, int], skips: dict[str, int]) -> Path:
    file = folder / "trixie"
    values = {**RECORD, "check.code": str(check), "test.code": str(test)}
    file.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    (folder / "trixie.outcomes.json").write_text(json.dumps({"counts": counts, "skips": skips}))
    return file


def test_a_system_that_was_not_tried_again_keeps_its_row(tmp_path: Path) -> None:
    systems = tool("systems")
    counts = {"passed": 5, "failed": 0, "skipped": 2}
    tried = systems.read_record(record(tmp_path, 0, 0, counts, {"lacks a UIO device: another machine": 2}))
    assert tried.passed
    first = systems.with_rows(EMPTY, {"trixie": tried})
    again = systems.with_rows(first, {"jammy": None})
    (row,) = (line for line in first.splitlines() if line.startswith("| Debian 13 "))
    assert "14.2.0, 3.13.5, 10.0.2, 10.0p1" in row and "| 5, 0, 2 |" in row and row.endswith("| 0123abcd |")
    assert row in again and "| Ubuntu 22.04 | its archive could" in again
    assert "- Skipped: lacks a UIO device: another" in again
    assert again.startswith("before\n") and again.endswith("after\n")
    assert systems.with_rows(again, {"jammy": None}) == again


def test_a_command_that_failed_is_in_the_table(tmp_path: Path) -> None:
    systems = tool("systems")
    tried = systems.read_record(record(tmp_path, 0, 1, {"passed": 1, "failed": 3, "skipped": 0}, {}))
    assert not tried.passed
    assert "| 1, 3, 0 **exit code 1** |" in systems.with_rows(EMPTY, {"trixie": tried})


def test_the_cpu_time_of_a_command_that_has_ended_is_counted() -> None:
    """Also where it is asked for in a command substitution, which is a process of its own."""
    script = """
eval "$(sed -n '/^cpu_s() {/,/^}/p' tools/fresh.sh)"
before=$(cpu_s)
"$1" -c 'import time; exec("while time.process_time() < 2.5: pass")'
echo $(($(cpu_s) - before))
"""
    done = completed(["bash", "-c", script, "bash", sys.executable], cwd=ROOT, check=True)
    assert int(done.stdout) in (2, 3)


def test_the_readme_names_the_systems_whose_rows_passed() -> None:
    """Both commands ended with 0 there."""
    systems = tool("systems")
    page = systems.PAGE.read_text()
    passed = {
        system
        for system, row in systems.rows_of(page).items()
        if "**" not in row and "could not be reached" not in row
    }
    (line,) = re.findall(r"It runs on \[(.*?)\]", (ROOT / "README.md").read_text())
    named = set()
    for name, versions in re.findall(r"(Debian|Ubuntu) ((?:[\d.]+(?:, | and )?)+)", line):
        named |= {f"{name} {version}" for version in re.findall(r"\d+(?:\.\d+)?", versions)}
    assert named == passed
