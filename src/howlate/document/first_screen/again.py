"""The command that measures rows again, here and with the events that name their causes."""

from __future__ import annotations

from collections.abc import Collection

from howlate.document.first_screen.rows import screen_rows, totalled
from howlate.document.report_input import ReportInput
from howlate.figures.strip import plain
from howlate.model.run import BY_HAND
from howlate.model.study import spell
from howlate.words.language import called
from howlate.words.printable import shell_line
from howlate.words.quantities import given_text

SSH = "ssh:"


def again(material: ReportInput, points: Collection[str] = (), *more: str) -> str:
    """`howlate check` with the deadline, period, policy and loads as far as the run says them, and the CPUs and the
    length that the user gave; "" for a test that it does not make. `points`: those of the rows, else the worst.
    `more`: other options."""
    content = material.runs[0]
    if content.run.virtual:
        return ""
    found = screen_rows(material.runs, labels=material.labels)
    rows = [row for row in found.rows if row.group.point in points] or totalled(found.rows)[:1]
    worst = rows[0].cells[0]
    planned = {cell.id: cell for cell in content.run.plan.cells}.get(worst.id)
    is_like_check = worst.judged and not worst.waits_for_gaps
    if planned is None or not (planned.test == "cyclic" or (content.run.target == BY_HAND and is_like_check)):
        return ""
    asked = {name: str(planned.parameters.get(name) or "") for name in ("period", "policy")}
    asked = {name: value or worst.labels.get(name, "") for name, value in asked.items()}
    loads = dict.fromkeys(row.labels.get("load", "") for row in rows)
    asked |= {"load": ",".join(filter(None, loads))}
    given = {"cpus": "cpus", "duration": "cell-duration"}
    asked |= {option: spell(planned.parameters[n]) for n, option in given.items() if n in content.run.changes}
    if found.deadline_ns:
        asked |= {"deadline": plain(given_text(found.deadline_ns)).replace(" ", "")}
    if content.run.target.startswith(SSH):
        asked |= {"target": content.run.target}
    words = [word for name, value in asked.items() if value for word in (f"--{name}", value)]
    return f"{called()} {shell_line(['check', *words, *more])}"
