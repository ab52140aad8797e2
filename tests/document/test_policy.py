"""Without the right to a real-time policy, that is the first thing that is said, everywhere."""

import json

from msgspec.structs import replace

from howlate.doctor import examine
from howlate.document import html
from howlate.model.facts import Facts
from howlate.model.loaded import RunContent
from howlate.model.plan import Cell, Plan
from howlate.model.run import WITHOUT_RIGHT, Run, policy_without_right
from howlate.plan.aim import aim_of
from howlate.studies import find_study, studies
from howlate.words.language import SOURCE, speak
from howlate.words.say import english
from howlate.words.statement import Statement
from made_cells import made_cell
from made_runs import made_run

LACKING = WITHOUT_RIGHT(policy="fifo:80", reason="SCHED_FIFO 80 is refused")
LATER = Statement.verbatim("gone on later")


def of_a_plain_user() -> RunContent:
    cells = [made_cell("none", 1, labels={"policy": "other"})[:2]]
    content = made_run(cells)
    return replace(content, run=replace(content.run, study=find_study("check"), warnings=(LATER, LACKING)))


def test_the_bar_names_the_policy_in_force_and_the_title_is_the_answer_in_any_language() -> None:
    for language in (SOURCE, "de"):
        speak(language)
        try:
            page = html.render([of_a_plain_user()])
        finally:
            speak(SOURCE)
        assert "SCHED_OTHER" in page[page.index("<header") : page.index("</header>")]
        title = page[page.index("<title>") : page.index("</title>")]
        assert title.startswith("<title>MEASURED max 35.1 µs") and title.endswith("howlate")
    assert studies()["check"].is_file()


def test_the_missing_right_is_the_first_note() -> None:
    page = html.render([of_a_plain_user()])
    notes = page[page.index('class="cautions"') :]
    assert notes.index("<li>measured under SCHED_OTHER") < notes.index("gone on later")
    assert notes.index("<li>") == notes.index("<li>measured under SCHED_OTHER")


def test_the_doctor_looks_with_the_policy_that_was_wanted() -> None:
    """The plan has the policy that stands in; with the wanted one the missing right comes first."""
    facts = Facts({"caller.cap_sys_nice": False, "caller.limit_rtprio": 0, "cpu.online": "0-1"}, {})
    plan = Plan((Cell("c", "cyclic", {"policy": "other"}, {}, 1, 1.0),))
    wanted = policy_without_right(LACKING)
    assert wanted == "fifo:80" and policy_without_right(LATER) == ""
    assert examine(facts, aim_of(plan, {}, wanted))[0].check == "limit_rtprio"
    assert all(f.check != "limit_rtprio" or f.level == "ok" for f in examine(facts, aim_of(plan, {})))


def test_the_missing_right_is_known_of_a_run_that_stored_texts_alone() -> None:
    """As howlate stored warnings before they were statements."""
    run = of_a_plain_user().run
    stored = {**run.to_json(), "warnings": [english(warning) for warning in run.warnings]}
    del stored["statements"]
    assert Run.from_text(json.dumps(stored)).warnings == run.warnings
    assert Run.from_text(run.to_text()).warnings == run.warnings
