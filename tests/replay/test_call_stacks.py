import pytest

from howlate.errors import DamagedError
from howlate.replay.call_stacks import segments
from howlate.replay.execution import Execution
from howlate.replay.log import Switch
from made_execution import CALL, HALT, IRET, JUMP, PLAIN, RETURN, SYSCALL, SYSRET, execution


def stacks(found: Execution) -> list[str]:
    """The chain of calls of each segment, with its length."""
    return [f"{' > '.join(each.call.stack)} {each.after - each.first}" for each in segments(found)]


def test_calls_and_returns_are_followed() -> None:
    steps = [
        ("work", 0, PLAIN), ("work", 1, CALL), ("lock", 0, PLAIN), ("lock", 1, RETURN), ("work", 6, PLAIN),
    ]  # fmt: skip
    assert stacks(execution(steps)) == ["work 2", "work > lock 2", "work 1"]


def test_a_caller_that_the_log_did_not_see_is_known_once_the_function_has_returned() -> None:
    steps = [("lock", 0, PLAIN), ("lock", 1, RETURN), ("work", 6, PLAIN)]
    assert stacks(execution(steps)) == ["work > lock 2", "work 1"]


def test_an_interrupt_stands_on_what_it_interrupted_also_right_after_a_call() -> None:
    steps = [
        ("work", 1, CALL), ("asm_sysvec_apic_timer_interrupt", 0, CALL), ("hrtimer_interrupt", 0, RETURN),
        ("asm_sysvec_apic_timer_interrupt", 5, IRET), ("lock", 0, RETURN), ("work", 6, PLAIN),
    ]  # fmt: skip
    assert stacks(execution(steps)) == [
        "work 1",
        "work > lock > asm_sysvec_apic_timer_interrupt 1",
        "work > lock > asm_sysvec_apic_timer_interrupt > hrtimer_interrupt 1",
        "work > lock > asm_sysvec_apic_timer_interrupt 1",
        "work > lock 1",
        "work 1",
    ]


def test_a_tail_call_takes_its_callers_place() -> None:
    steps = [("work", 1, CALL), ("lock", 0, JUMP), ("do_nanosleep", 0, RETURN), ("work", 6, PLAIN)]
    assert stacks(execution(steps)) == ["work 1", "work > lock 1", "work > do_nanosleep 1", "work 1"]


def test_a_system_call_returns_to_its_program() -> None:
    steps = [
        ("main", 0, SYSCALL), ("entry_SYSCALL_64", 0, CALL), ("do_nanosleep", 0, RETURN), ("entry_SYSCALL_64",
        5, SYSRET), ("main", 2, PLAIN),
    ]  # fmt: skip
    assert stacks(execution(steps)) == [
        "main 1", "main > entry_SYSCALL_64 1", "main > entry_SYSCALL_64 > do_nanosleep 1",
        "main > entry_SYSCALL_64 1", "main 1",
    ]  # fmt: skip


def test_each_task_has_its_own_stack() -> None:
    switch_there = [("work", 1, CALL), ("__schedule", 0, CALL), ("__switch_to", 0, RETURN)]
    other = [
        ("__schedule", 5, RETURN),
        ("do_nanosleep", 6, CALL),
        ("__schedule", 0, CALL),
        ("__switch_to", 0, RETURN),
    ]
    back = [("__schedule", 5, RETURN), ("work", 6, PLAIN)]
    found = execution([*switch_there, *other, *back], switches=[Switch(2, 0xA, 0xB), Switch(6, 0xB, 0xA)])
    assert stacks(found) == [
        "work 1",
        "work > __schedule 1",
        "do_nanosleep > __schedule > __switch_to 1",
        "do_nanosleep > __schedule 1",
        "do_nanosleep 1",
        "do_nanosleep > __schedule 1",
        "work > __schedule > __switch_to 1",
        "work > __schedule 1",
        "work 1",
    ]


def test_an_instruction_that_found_no_page_takes_no_time_and_a_jump_that_led_to_none_does() -> None:
    fault = [("asm_exc_page_fault", 0, PLAIN), ("asm_exc_page_fault", 1, IRET)]
    steps = [("main", 0, PLAIN), *fault, ("main", 0, PLAIN), ("main", 1, RETURN), *fault, ("main", 9, PLAIN)]
    found = execution(steps, anchors=[(0, 1000), (8, 1007, 7)])
    assert found.times_ns.tolist() == [1000, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007]


FAULT = [("asm_exc_page_fault", 0, PLAIN), ("asm_exc_page_fault", 1, IRET)]
AWAY = [("asm_exc_page_fault", 0, CALL), ("__schedule", 0, CALL), ("__switch_to", 0, RETURN)]
"""A page that has to be waited for: another task goes on."""


@pytest.mark.parametrize("is_executed", [False, True])
def test_the_count_of_instructions_decides_whether_a_call_was_executed_that_is_not_seen_to_go_on(
    is_executed: bool,
) -> None:
    steps = [("main", 1, CALL), *AWAY, ("__schedule", 5, RETURN), *[("work", at, PLAIN) for at in range(4)]]
    switches = [Switch(3, 0xA, 0xB)]
    counted = len(steps) - (not is_executed)
    noted = [(0, 1000), (6, 1000 + counted - 3, counted - 3), (9, 1000 + counted, counted)]
    found = execution(steps, noted, switches=switches)
    assert found.twice.tolist() == [not is_executed, *[False] * 8]
    assert found.times_ns[1] == 1000 + is_executed and found.times_ns[-1] == 1000 + counted


@pytest.mark.parametrize("is_executed", [False, True])
def test_the_count_decides_too_where_the_log_ends_within_the_exception(is_executed: bool) -> None:
    steps = [("main", 0, PLAIN), ("main", 1, CALL), *[("asm_exc_page_fault", at, PLAIN) for at in range(4)]]
    noted = [(0, 1000), *((at, 999 + at + is_executed, at - 1 + is_executed) for at in (3, 6))]
    found = execution(steps, noted)
    assert found.times_ns[-1] == 1005 + is_executed
    assert stacks(found)[1] == f"main > {' > '.join(['', 'asm_exc_page_fault'][not is_executed :])} 4"


def test_a_call_that_found_no_page_for_its_stack_is_made_once() -> None:
    callee = [("lock", 0, PLAIN), ("lock", 1, RETURN), ("main", 6, PLAIN)]
    steps = [("main", 1, CALL), *FAULT, ("main", 1, CALL), *callee]
    found = execution(steps, [(0, 1000), (7, 1006, 6)])
    assert found.times_ns.tolist() == [1000, 1000, *range(1001, 1007)]
    expected = ["main 1", "main > asm_exc_page_fault 2", "main 1", "main > lock 2", "main 1"]
    assert stacks(found) == expected


def test_the_clock_jumps_where_the_cpu_halts_and_nowhere_else() -> None:
    steps = [("work", 0, PLAIN), ("work", 1, HALT), ("work", 2, PLAIN)]
    assert execution(steps, anchors=[(0, 1000), (3, 1103)]).times_ns.tolist() == [1000, 1001, 1102, 1103]
    woken = [("asm_sysvec_apic_timer_interrupt", 0, PLAIN), *steps]
    assert execution(woken, anchors=[(0, 1000), (1, 1051), (4, 1054)]).times_ns[0] == 1050
    steps[1] = ("work", 1, PLAIN)
    with pytest.raises(DamagedError, match="not explained"):
        _ = execution(steps, anchors=[(0, 1000), (3, 1103)]).times_ns


def test_each_halt_takes_the_time_until_the_clock_was_noted_after_it() -> None:
    around = [("work", 1, HALT), ("work", 2, PLAIN)]
    steps = [("work", 0, PLAIN), *around, *around]
    noted = [(0, 1000), (3, 1103), (5, 1155)]
    assert execution(steps, noted).times_ns.tolist() == [1000, 1001, 1102, 1103, 1154, 1155]
    with pytest.raises(DamagedError, match="not explained"):  # which of the two halts was the longer one?
        _ = execution(steps, [(0, 1000), (5, 1155)]).times_ns


def test_the_clock_may_be_noted_amid_an_instruction_that_reaches_a_device() -> None:
    steps = [("work", number, PLAIN) for number in range(6)]
    each = [*range(1000, 1007)]
    assert execution(steps, [(0, 1000), (2, 1001, 1), (6, 1006)]).times_ns.tolist() == each
    assert execution(steps, [(0, 1000), (2, 1001, 1), (4, 1003, 3), (6, 1006)]).times_ns.tolist() == each
    assert execution(steps, [(0, 1000), (4, 1004), (6, 1005, 5)]).times_ns.tolist() == each
    halted = [("work", 0, HALT), *steps[1:]]
    for noted in ([(0, 1000), (2, 1051, 1), (6, 1056)], [(0, 1000), (1, 1051), (6, 1056)]):
        assert execution(halted, noted).times_ns.tolist() == [1000, *range(1051, 1057)]
    then_halted = [*steps[:3], ("work", 3, HALT), *steps[4:]]
    found = execution(then_halted, [(0, 1000), (2, 1001, 1), (6, 1056)])
    assert found.times_ns.tolist() == [1000, 1001, 1002, 1003, 1054, 1055, 1056]


def test_the_log_may_begin_amid_an_instruction_that_is_not_in_it() -> None:
    steps = [("work", number, PLAIN) for number in range(6)]
    assert execution(steps, [(0, 1000), (2, 1003, 3), (6, 1007, 7)]).times_ns.tolist() == [*range(1001, 1008)]


@pytest.mark.parametrize(
    "noted",
    [
        [(0, 1000), (2, 1001, 1), (4, 1003, 3), (6, 1005, 5)],  # one was not executed
        [(0, 1000), (2, 1002), (6, 1007, 7)],  # one is lacking
        [(0, 1000), (4, 1054), (6, 1057)],  # time that nothing took
        [(0, 1000), (4, 1002, 2), (6, 1006)],  # two are not over
    ],
)
def test_instructions_that_were_not_counted_or_time_that_none_took_refuse_the_log(
    noted: list[tuple[int, ...]],
) -> None:
    steps = [("work", number, PLAIN) for number in range(6)]
    with pytest.raises(DamagedError, match="not explained"):
        _ = execution(steps, noted).times_ns


FILLS = {
    "onto the next instruction": [("__switch_to", 5 * at, CALL) for at in range(4)],
    "over an int3": [("__switch_to", 6 * at, CALL) for at in range(4)],
    "over a loop that is never entered": [("__switch_to", 12 * at, CALL) for at in range(4)],
}


@pytest.mark.parametrize("calls", FILLS.values(), ids=FILLS)
def test_calls_that_fill_the_buffer_of_return_addresses_push_no_frames(
    calls: list[tuple[str, int, bytes]],
) -> None:
    """Nothing returns from them: the function itself does."""
    steps = [
        ("work", 1, CALL), ("__switch_to", 0, PLAIN), *[(name, at + 1, code) for name, at, code in calls],
        ("__switch_to", 90, RETURN), ("work", 6, PLAIN),
    ]  # fmt: skip
    assert stacks(execution(steps)) == ["work 1", "work > __switch_to 6", "work 1"]


def test_a_function_that_calls_itself_is_in_itself() -> None:
    steps = [
        ("work", 1, CALL), ("lock", 0, PLAIN), ("lock", 1, CALL), ("lock", 0, PLAIN), ("lock", 8, RETURN),
        ("lock", 6, RETURN), ("work", 6, PLAIN),
    ]  # fmt: skip
    assert stacks(execution(steps)) == [
        "work 1", "work > lock 2", "work > lock > lock 2", "work > lock 1", "work 1",
    ]  # fmt: skip
