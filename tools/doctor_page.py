"""docs/doctor.md, made from the checks and the knobs: `python tools/doctor_page.py > docs/doctor.md`."""

import re
import string
import sys
import textwrap
from typing import Any

from howlate.doctor import checks, checks_of, knobs_of
from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings import settings
from howlate.settings._check import Check, as_root, granting
from howlate.settings.clock_source import AVAILABLE
from howlate.system.paths import ROOT

KNOBS = ROOT / "probe" / "src" / "knobs"
_HEAD = """\
# The doctor

`howlate doctor` says what on this machine will make it late, and how to change it. It reads facts
(`howlate-probe facts --json`, docs/facts.md) and changes nothing; every run stores its findings, so an old
run and a remote machine can be examined as well. `howlate doctor --restore` undoes knobs that a killed probe
left behind.

| level | meaning |
|---|---|
| late | it plausibly makes this machine late, and can be changed |
| note | it is worth knowing when you read the numbers, or of little weight |
| unknown | howlate could not find out; the finding says which fact is missing and why |
| ok | howlate examined it, and it is in order |

Findings are sorted by level and then by weight (roughly: how much lateness is at stake). A finding is a
suspicion, not a measurement: [`howlate advise`](advise.md) measures what each knob buys. Checks that depend on
the measuring CPUs, policy and priority use those of the run (without `cpus` the highest CPU that the caller may use,
which the probe chooses). `howlate doctor` without a run uses the isolated CPUs, or that same CPU if there are none.

This page is generated from the checks and the knobs (`python tools/doctor_page.py > docs/doctor.md`). N stands for a
value that a finding fills in.

## Knobs

[Knobs](knobs.md) are the settings that the probe can hold while something is measured. `howlate advise` tries the
first of the values named here that is not in force.
"""

_CAUSES = """\
## Causes

[`howlate why`](why.md) names what these checks found below a [cause](why.md#the-causes), and tries these knobs with
`--try`.
"""


class _Blanks(string.Formatter):
    """Fills templates with N for each value, and with this machine's command where rights are granted."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        here = {"grant": granting(Facts({})), "as_root": as_root(Facts({}))}
        return here.get(field_name, "N"), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        return str(value)


def _changes(check: Check) -> list[str]:
    """What a check may propose: the knobs to hold, and the remedies."""
    sys.path.append(str(ROOT / "tests"))
    from messages import SOURCES, in_file

    names = {setting.own_check.name: name for name, setting in settings().items() if setting.own_check}
    folder, name = ("settings", names[check.name]) if check.name in names else ("doctor", check.name)
    path = SOURCES / folder / f"{name}.py"
    remedies = [message.remedy for message, _ in in_file(path) if message.remedy]
    held = [_command(knob) for knob in check.holds]
    return held + list(dict.fromkeys(map(_Blanks().format, remedies)))


def _command(knob: str) -> str:
    cpus = "--cpus N " if knob.endswith("=away") else ""
    return f"`howlate probe hold {cpus}--knob {knob}`"


def _knobs() -> str:
    """The table of the knobs: what the probe's files say of them, the values to try, and the check."""
    machine, measuring = Facts({"cpu.online": "0-3", AVAILABLE: "tsc"}), Aim((3,))
    spoken = {"3": "the measuring CPUs", "tsc": "the processor's own counter"}
    rows = ["| knob | values | what it sets | tried | check |", "|---|---|---|---|---|"]
    for name, setting in settings().items():
        text = re.sub(r'"\s+"', "", (KNOBS / f"{name}.cpp").read_text(encoding="utf-8"))
        said = dict(re.findall(r'\.(summary|values) =\s+"([^"]+)"', text))
        tried = setting.tries(machine, measuring)
        values = [spoken.get(value, value) for value in tried] if isinstance(tried, tuple) else []
        named = " (only if it is named)" if setting.only_named else ""
        known = said["values"].replace(" | ", ", ")
        rows.append(
            f"| `{name}` | {known} | {said['summary']} | {', '.join(values)}{named} | `{setting.check}` |"
        )
    return "\n".join(rows) + "\n"


def _causes() -> str:
    """The table of the causes: the checks that look at each, and the knobs to try."""
    weights = {check.name: check.weight for check in checks()}
    rows = ["| cause | checks | knobs to try |", "|---|---|---|"]
    for cause in Cause:
        if looking := sorted(checks_of(cause), key=lambda name: (-weights[name], name)):
            rows.append(f"| `{cause}` | {', '.join(looking)} | {', '.join(knobs_of(cause))} |")
    return "\n".join(rows) + "\n"


def page() -> str:
    """The whole page."""
    parts = [_HEAD, _knobs(), _CAUSES, _causes()]
    for check in checks():
        parts.append(f"## {check.title} (`{check.name}`, weight {check.weight})\n")
        parts.append(textwrap.fill(f"Looks at: {check.looks_at}", 118) + "\n")
        parts.append(textwrap.fill(f"Why it matters: {check.why}", 118) + "\n")
        changes = [
            textwrap.fill(f"- {change}", 118, subsequent_indent="  ", break_on_hyphens=False)
            for change in _changes(check)
        ]
        parts.append("How to change it:\n\n" + "\n".join(changes) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
