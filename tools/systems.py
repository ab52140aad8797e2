"""Both commands of the README on each of its systems, made bare: tools/systems.py [SUITE ...] [--mirror=URL ...].

Each system takes about an hour of two CPUs (tools/fresh.sh). What came of it goes into the table of docs/install.md;
the row of a system that was not tried this time stays as it is, with its commit. A system whose archive cannot be
reached is said.
Archives are looked for at the mirrors, then at the addresses of this machine's apt.
The exit code is 1 if a command failed on a system.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "install.md"
LOGS = ROOT / "build" / "systems"
SYSTEMS = {
    "bookworm": "Debian 12",
    "trixie": "Debian 13",
    "jammy": "Ubuntu 22.04",
    "noble": "Ubuntu 24.04",
    "resolute": "Ubuntu 26.04",
}
"""The suites of the README's systems."""
BEGIN, END = "<!-- made by ./dev systems -->", "<!-- end -->"
HEAD = (
    "| system | GCC, Python, QEMU, OpenSSH | `./howlate check` | `./dev test`: passed, failed, skipped | cost | at |",
    "|---|---|---|---|---|---|",
)
SKIPPED = "Skipped: "
NOT_POSSIBLE = 3
USAGE = 2


class Tried(Struct, frozen=True):
    """The two commands on a system: the lines of fresh.sh's record, and the outcomes of tools/suite.py."""

    values: Mapping[str, str]
    counts: Mapping[str, int]
    skips: Mapping[str, int]

    @property
    def passed(self) -> bool:
        return self.values.get("check.code") == "0" == self.values.get("test.code")

    def _cost(self, command: str) -> str:
        """Minutes on the clock and of CPU time, megabytes fetched and on disk."""
        value = self.values.__getitem__
        wall_min, cpu_min = (int(value(f"{command}.{unit}")) / 60 for unit in ("wall_s", "cpu_s"))
        fetched, disk = value(f"{command}.fetched_mb"), value(f"{command}.disk_mb")
        return f"{wall_min:.0f} min ({cpu_min:.0f} min of CPU time), {fetched} MB fetched, {disk} MB on disk"

    def row(self, system: str) -> str:
        code = self.values["check.code"]
        versions = ", ".join(self.values.get(name) or "none" for name in ("gcc", "python", "qemu", "openssh"))
        check = f"{'passed' if code == '0' else f'**exit code {code}**'}, {self._cost('check')}"
        tests = ", ".join(str(self.counts.get(outcome, 0)) for outcome in ("passed", "failed", "skipped"))
        failed = "" if self.values["test.code"] == "0" else f" **exit code {self.values['test.code']}**"
        cells = (system, versions, check, tests + failed, self._cost("test"), self.values["commit"])
        return f"| {' | '.join(cells)} |"


def read_record(record: Path) -> Tried:
    values = dict(line.split("=", 1) for line in record.read_text().splitlines())
    outcomes = record.with_name(f"{record.name}.outcomes.json")
    found = json.loads(outcomes.read_text()) if outcomes.exists() else {"counts": {}, "skips": {}}
    return Tried(values, found["counts"], found["skips"])


def try_system(suite: str, mirrors: Sequence[str]) -> Tried | None:
    """Nothing where the suite's archive cannot be reached, at these addresses or those of this machine's apt."""
    LOGS.mkdir(parents=True, exist_ok=True)
    record = LOGS / suite
    for old in (record, record.with_name(f"{suite}.outcomes.json")):
        old.unlink(missing_ok=True)
    argv: list[str | Path] = [ROOT / "tools" / "fresh.sh", "both", "--suite", suite, "--record", record]
    argv += [f"--mirror={mirror}" for mirror in mirrors]
    with (LOGS / f"{suite}.log").open("wb") as log:
        code = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode
    if not record.exists() and code == NOT_POSSIBLE:
        return None
    return read_record(record)


def rows_of(page: str) -> dict[str, str]:
    """The lines of the table that is there, and below it the reasons of skips, by system."""
    made = page.partition(BEGIN)[2].partition(END)[0]
    lines = [line for line in made.splitlines() if line.startswith("| ") and line != HEAD[0]]
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def skips_of(page: str) -> dict[str, str]:
    made = page.partition(BEGIN)[2].partition(END)[0]
    lines = [line for line in made.splitlines() if line.startswith(f"- {SKIPPED}")]
    return {line.rpartition(" (")[0]: line for line in lines}


def with_rows(page: str, tried: Mapping[str, Tried | None]) -> str:
    """The page with these systems' rows made anew."""
    rows, skips = rows_of(page), skips_of(page)
    for suite, found in tried.items():
        system = SYSTEMS[suite]
        rows[system] = (
            found.row(system) if found else f"| {system} | its archive could not be reached | | | | |"
        )
        for reason, count in (found.skips if found else {}).items():
            line = f"- {SKIPPED}{reason}"
            skips[line] = f"{line} ({count})"
    before, _, rest = page.partition(BEGIN)
    ordered = [rows[system] for system in SYSTEMS.values() if system in rows]
    made = "\n".join([BEGIN, "", *HEAD, *ordered, "", *sorted(skips.values()), "", END])
    return before + made + rest.partition(END)[2]


def main(arguments: Sequence[str]) -> int:
    mirrors = [word.removeprefix("--mirror=") for word in arguments if word.startswith("--mirror=")]
    suites = [word for word in arguments if not word.startswith("--mirror=")]
    if unknown := [suite for suite in suites if suite not in SYSTEMS]:
        print(f"howlate: the suite '{unknown[0]}' is not one of {', '.join(SYSTEMS)}", file=sys.stderr)
        return USAGE
    all_passed = True
    for suite in suites or SYSTEMS:
        print(f"howlate: {SYSTEMS[suite]}: the output is in {LOGS / suite}.log", file=sys.stderr)
        found = try_system(suite, mirrors)
        all_passed = all_passed and (found is None or found.passed)
        PAGE.write_text(with_rows(PAGE.read_text(), {suite: found}))
    return int(not all_passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
