"""What is said to do about a cause fits the cause, and the machine."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.doctor import checks
from howlate.document.first_screen.on_screen import ScreenAdvice
from howlate.model.cause import NEVER_PREEMPTED, Cause, CausePart, Why
from howlate.model.facts import Finding
from howlate.model.trace import TracedTask
from howlate.settings import settings
from howlate.settings._check import Check
from howlate.settings._setting import MachineSetting
from howlate.why.cause_words import IDLE_LOOP, IDLE_POLL, IRQ_LATE_ON_RT, PREEMPTION_OFF, REMEDIES
from howlate.why.explained_cells import ExplainedCell, cause_sums, weighty_causes
from howlate.why.late_cases import TO_DO, causes_section, causes_sheet
from howlate.why.late_json import causes_json
from howlate.why.on_screen import advice, advised, kinds
from howlate.why.remedies import Remedy, label_to_boot, remedies_of, remedy_of
from howlate.words.language import speak
from howlate.words.say import english, text_of
from howlate.words.statement import Statement
from made_trace import IDLE, METAL, OWN, MadeTrace
from printed import statements_in


def idle_cell(ns: int, *, state: int | None = 2, has_idle_states: bool | None = True) -> ExplainedCell:
    """With one sample that was late because its CPU was idle."""
    made = MadeTrace().asleep(to=IDLE).add(-90_000, "cpu_idle", a=2, b=1)
    if state is None:
        made.add(-10, "cpu_idle", a=-1, b=1)
    made.timer(ns, ns + 400, ns + 900).add(ns + 1_000, "cpu_idle", a=-1, b=1).switch(ns + 2_000, OWN, 0)
    case = made.explained(ns + 2_500, METAL)
    return ExplainedCell("cell", "cell", {}, (case,), 100, has_idle_states=has_idle_states)


@pytest.mark.parametrize(("ns", "is_weighty"), [(5_000, False), (60_000, True)])
def test_leaving_idle_is_worth_a_remedy_where_it_took_long(ns: int, is_weighty: bool) -> None:
    causes = [each.cause for each in weighty_causes(cause_sums([idle_cell(ns)]))]
    assert (Cause.IDLE in causes) is is_weighty


@pytest.mark.parametrize(
    ("state", "has_idle_states", "rule", "knobs"),
    [
        (2, True, "remedy.idle", ["c_states", "cpu_dma_latency"]),
        (2, None, "remedy.idle", ["c_states", "cpu_dma_latency"]),
        (2, False, "remedy.idle-poll", []),
        (None, True, "remedy.idle-poll", []),
        (None, False, "remedy.idle-poll", []),
    ],
)
def test_the_remedy_of_leaving_idle_fits_the_state_and_the_kernel(
    state: int | None, has_idle_states: bool | None, rule: str, knobs: list[str]
) -> None:
    cell = idle_cell(60_000, state=state, has_idle_states=has_idle_states)
    idle = next(cause for cause in causes_json(cause_sums([cell]), ()) if cause["cause"] == "idle")
    assert (idle["remedy"]["rule"], idle["knobs"]) == (rule, knobs)


def test_one_sample_in_the_idle_loop_does_not_decide_for_all_that_left_an_idle_state() -> None:
    cells = [*(idle_cell(60_000) for _each in range(19)), idle_cell(61_000, state=None)]
    sums = cause_sums(cells)
    assert [(each.name, each.cases) for each in sums if each.cause is Cause.IDLE] == [
        ("", 19),
        ("idle loop", 1),
    ]
    assert [(remedy.text.id, remedy.knobs) for _cause, remedy in remedies_of(sums)] == [
        ("remedy.idle", ("c_states", "cpu_dma_latency")),
        ("remedy.idle-poll", ()),
    ]
    advised = [text for text in statements_in(causes_section(cells, ())[0]) if text.rule == TO_DO.id]
    assert [text.values["what"] for text in advised] == [REMEDIES[Cause.IDLE](), IDLE_POLL()]
    names = [cell.text for cell in causes_sheet(sums).columns[0].cells]
    assert text_of(IDLE_LOOP) in map(text_of, names)


@pytest.mark.parametrize(
    ("cause", "name", "has", "lacks"),
    [
        (
            Cause.HIGHER_TASK,
            "rtapp",
            {"competing_tasks"},
            {"nmi_watchdog", "stat_interval", "kernel_threads"},
        ),
        (Cause.HIGHER_TASK, "migration/1", {"nmi_watchdog"}, {"competing_tasks", "workqueues"}),
        (
            Cause.HIGHER_TASK,
            "kworker/1:0",
            {"workqueues", "stat_interval"},
            {"competing_tasks", "nmi_watchdog"},
        ),
        (Cause.HIGHER_TASK, "ksoftirqd/1", {"kernel_threads"}, {"competing_tasks", "nmi_watchdog"}),
        (Cause.IRQ, "local_timer", {"isolation"}, {"irq_affinity", "irqbalance", "threadirqs"}),
        (Cause.IRQ, "virtio0", {"irq_affinity", "irqbalance", "threadirqs"}, set()),
        (Cause.SOFTIRQ, "TIMER", {"timer_migration"}, {"irq_affinity"}),
        (Cause.SOFTIRQ, "NET_RX", {"irq_affinity"}, {"timer_migration"}),
    ],
)
def test_a_remedy_is_about_the_task_or_interrupt_that_it_was(
    cause: Cause, name: str, has: set[str], lacks: set[str]
) -> None:
    part = (
        CausePart(cause, 0, 1, task=TracedTask(7, name))
        if cause is Cause.HIGHER_TASK
        else CausePart(cause, 0, 1, name)
    )
    found = remedy_of(part, has_idle_states=None)
    assert found is not None
    assert has <= found.checks
    assert not lacks & found.checks
    settings_of = {each.name: each.check for each in settings().values()}
    assert not lacks & {settings_of[knob] for knob in found.knobs}


def test_what_a_check_is_about_is_among_its_causes() -> None:
    every: list[Check | MachineSetting] = [*checks(), *settings().values()]
    assert any(each.about for each in every)
    for each in every:
        assert set(each.about) <= set(each.causes), each.name


def test_a_gap_leads_to_no_knob_of_idle_states_where_there_are_none() -> None:
    gap = CausePart(Cause.GAP, 0, 1)
    known, unknown = remedy_of(gap, has_idle_states=False), remedy_of(gap, has_idle_states=None)
    assert known is not None and unknown is not None and known.text is unknown.text
    assert (known.knobs, unknown.knobs) == ((), ("c_states", "cpu_dma_latency"))
    assert remedy_of(CausePart(Cause.RETURN, 0, 1), has_idle_states=None) is None


def test_where_events_leave_two_causes_open_the_remedy_does_too() -> None:
    remedy = remedy_of(CausePart(Cause.IRQ_LATE_OR_GAP, 0, 1), has_idle_states=None)
    assert remedy is not None and remedy.text is REMEDIES[Cause.IRQ_LATE_OR_GAP]


@pytest.mark.parametrize("cause", REMEDIES)
def test_no_remedy_names_the_kernel_that_runs(cause: Cause) -> None:
    remedy = remedy_of(CausePart(cause, 0, 1, state=1), has_idle_states=True, preemption="rt")
    told = "" if remedy is None else english(remedy.text())
    assert not re.search(r"preempt=full|use a kernel of PREEMPT_RT", told)


def test_the_weightiest_cause_has_something_to_try() -> None:
    """Of every cause that has a remedy, but for what was not found out."""
    for cause in REMEDIES.keys() - {Cause.UNKNOWN}:
        late = replace(idle_cell(60_000).cases[0], parts=(CausePart(cause, 0, 60_000, state=1),))
        said = advice(cause_sums([ExplainedCell("cell", "cell", {}, (late,), 100)]), (), 60_000)
        assert [each.share for each in said] == [1.0], cause


IMPERATIVES = {"boot", "give", "isolate", "keep", "let", "lock", "move", "pin", "raise", "switch", "use"}
EVERY = {rule.id: rule for rule in (*REMEDIES.values(), IDLE_POLL, IRQ_LATE_ON_RT, PREEMPTION_OFF)}


@pytest.mark.parametrize("rule", EVERY)
def test_what_the_first_screen_says_to_try_is_advice(rule: str) -> None:
    said = advised(Remedy(EVERY[rule]), ())
    assert said.partition(" ")[0] in IMPERATIVES | {""}, said
    assert not re.search(r"\b(its|it|them|yours)$|\. ", said), said


def test_most_causes_have_advice_and_in_any_language_one_sentence_of_it() -> None:
    own = {rule: advised(Remedy(EVERY[rule]), ()) for rule in EVERY}
    assert sum(map(bool, own.values())) == len(own) - 1 and not own["remedy.unknown"]
    try:
        for language in ("de", "ja"):
            speak(language)
            for rule, text in EVERY.items():
                said = advised(Remedy(text), ())
                assert bool(said) == bool(own[rule]) and "。" not in said and ". " not in said, said
    finally:
        speak("en")


@pytest.mark.parametrize(
    ("model", "is_told"), [("", True), ("none", True), ("voluntary", True), ("full", False), ("rt", False)]
)
def test_nobody_is_told_to_boot_what_runs(model: str, *, is_told: bool) -> None:
    late = replace(idle_cell(60_000).cases[0], parts=(CausePart(Cause.NOT_PREEMPTIBLE, 0, 60_000),))
    cell = ExplainedCell("cell", "cell", {}, (late,), 100, preemption=model)
    sums = cause_sums([cell])
    assert bool(remedies_of(sums)) is is_told
    assert ("preempt=full" in str(advice(sums, (), 60_000))) is is_told
    assert ("preempt=full" in str(kinds(sums, 60_000)[0].advice)) is is_told


MODE, MODEL = (
    Finding(check, "late", "", Statement(check, {}), "", change, machines=machines)
    for check, change, machines in (
        (
            "preempt_dynamic",
            "boot it with `preempt=full` in brackets behind its label, as in `9`",
            ("6.1[a=b]",),
        ),
        ("preemption", "compare it with its RT kernel, as in `9`", ("6.1", "6.1[a=b]")),
    )
)


@given(
    st.lists(st.tuples(st.sampled_from([None, *Why]), st.integers(0, 999), st.integers(1, 999)), min_size=1)
)
def test_a_remedy_saves_at_most_what_it_can_take_away(known: list[tuple[Why | None, int, int]]) -> None:
    """Of parts with one reason as events have it, and with several as a replay has it."""
    late = idle_cell(60_000).cases[0]
    parts = [
        CausePart(
            Cause.NOT_PREEMPTIBLE,
            0,
            held + ns,
            why=why,
            reasons=((Why.INTERRUPTS_OFF, held),) if held else (),
        )
        for why, held, ns in known
    ]
    labels = {"kernel": "6.1[a=b]"}
    cell = ExplainedCell("cell", "cell", labels, tuple(replace(late, parts=(part,)) for part in parts), 100)
    whole_ns = sum(part.ns for part in parts)
    held_ns = sum(held or (ns if why in NEVER_PREEMPTED else 0) for why, held, ns in known)
    shares = {"boot 6.1[a=b preempt=full]": whole_ns - held_ns, "boot 6.1-rt": held_ns}
    sums = cause_sums([cell])
    said = advice(sums, (MODE, MODEL), whole_ns)
    told = {each.text: (each.share, each.kernel, each.buys) for each in said}
    assert told == {
        text: (ns / whole_ns, text.removeprefix("boot "), "") for text, ns in shares.items() if ns
    }
    (reason,), (cause,) = kinds(sums, whole_ns, (MODE, MODEL)), causes_json(sums, (MODE, MODEL))
    assert reason.advice is not None and reason.advice == max(said, key=lambda each: each.share)
    assert cause["saves_ns"] in shares.values()


def test_of_a_cause_that_may_be_another_nothing_is_promised() -> None:
    for cause in REMEDIES.keys() - {Cause.UNKNOWN}:
        late = replace(idle_cell(60_000).cases[0], parts=(CausePart(cause, 0, 60_000, state=1),))
        (said,) = advice(cause_sums([ExplainedCell("cell", "cell", {}, (late,), 100)]), (), 60_000)
        assert bool(said.buys) is (cause is Cause.IRQ_LATE_OR_GAP)


@pytest.mark.parametrize("order", [1, -1])
def test_nothing_is_promised_where_such_a_cause_has_the_same_remedy(order: int) -> None:
    def advised_of(*causes: Cause) -> ScreenAdvice:
        parts = [(CausePart(cause, 0, 60_000, state=1),) for cause in causes]
        cases = tuple(replace(idle_cell(60_000).cases[0], parts=each) for each in parts)
        return advice(cause_sums([ExplainedCell("cell", "cell", {}, cases, 100)]), (), 60_000 * len(cases))[0]

    text = advised_of(Cause.IRQ_LATE_OR_GAP).text
    alike = [cause for cause in REMEDIES.keys() - {Cause.UNKNOWN} if advised_of(cause).text == text]
    assert len(alike) > 1
    said = advised_of(*sorted(alike)[::order])
    assert said.buys and said.share == 1


@pytest.mark.parametrize(
    ("kernel", "mode", "model"),
    [
        ("6.1", "6.1[preempt=full]", "6.1-rt"),
        ("6.1@arm64[preempt=none b=1]", "6.1@arm64[b=1 preempt=full]", "6.1-rt@arm64"),
        ("6.1-rt", "6.1-rt[preempt=full]", ""),
        ("mine", "mine[preempt=full]", ""),
        ("", "", ""),
    ],
)
def test_the_label_to_boot_is_of_the_kernel_with_the_cause(kernel: str, mode: str, model: str) -> None:
    assert [label_to_boot(each.change, kernel) for each in (MODE, MODEL)] == [mode, model]


def test_the_command_of_a_cause_reaches_its_own_worst_sample() -> None:
    parts = [(Cause.IRQ, 900), (Cause.SOFTIRQ, 700), (Cause.NMI, 500)]
    case = idle_cell(60_000).cases[0]
    cases = tuple(replace(case, parts=(CausePart(cause, 0, ns),)) for cause, ns in parts)
    sums = cause_sums([ExplainedCell("cell", "cell", {}, cases, 100)])
    assert [reason.look("runs/a") for reason in kinds(sums, 2_100)] == [
        f"howlate why --all runs/a cell --worst {rank}" for rank in (1, 2, 3)
    ]
    assert {reason.look("") for reason in kinds(sums, 2_100)} == {""}


def test_no_time_is_promised_to_two_remedies() -> None:
    """Each share is of the samples that the remedy is for: the idle states have one, and the idle loop another."""
    cells = [*(idle_cell(60_000) for _each in range(3)), idle_cell(60_000, state=None)]
    sums = cause_sums(cells)
    whole_ns = sum(each.total_ns for each in sums)
    idle = [each.total_ns / whole_ns for each in sums if each.cause is Cause.IDLE]
    assert sorted(each.share for each in advice(sums, (), whole_ns)) == pytest.approx(sorted(idle))
    assert len(idle) == 2 and sum(idle) <= 1
