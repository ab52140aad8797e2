"""The command that measures the worst row again, here and with the events that name its causes."""

from __future__ import annotations

from howlate.document.first_screen.rows import screen_rows, totalled
from howlate.document.report_input import ReportInput
from howlate.figures.strip import plain
from howlate.model.run import BY_HAND
from howlate.words.language import called
from howlate.words.printable import shell_line
from howlate.words.quantities import given_text

SSH = "ssh:"


def again(material: ReportInput) -> str:
    """`howlate check` with the deadline, period, policy and load as far as the run says them; "" for a test that it
    does not make."""
    content = material.runs[0]
    if content.run.virtual:
        return ""
    found = screen_rows(material.runs, labels=material.labels)
    worst = totalled(found.rows)[0].cells[0]
    planned = {cell.id: cell for cell in content.run.plan.cells}.get(worst.id)
    is_like_check = worst.judged and not worst.waits_for_gaps
    if planned is None or not (planned.test == "cyclic" or (content.run.target == BY_HAND and is_like_check)):
        return ""
    asked = {name: str(planned.parameters.get(name) or "") for name in ("period", "policy")}
    asked = {name: value or worst.labels.get(name, "") for name, value in asked.items()}
    asked |= {"load": worst.labels.get("load", "")}
    if found.deadline_ns:
        asked |= {"deadline": plain(given_text(found.deadline_ns)).replace(" ", "")}
    if content.run.target.startswith(SSH):
        asked |= {"target": content.run.target}
    words = [word for name, value in asked.items() if value for word in (f"--{name}", value)]
    return f"{called()} {shell_line(['check', *words])}"
