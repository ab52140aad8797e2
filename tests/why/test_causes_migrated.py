"""What a late sample was made of where the task was moved to another CPU meanwhile."""

from howlate.model.cause import Cause
from made_trace import IDLE, LOAD, OWN, MadeTrace, usual


def test_a_task_that_is_moved_to_another_cpu() -> None:
    made = usual(MadeTrace().asleep()).switch(3_000, LOAD, 0x100)
    made.add(3_100, "sched_migrate_task", 0, a=OWN.pid, b=19, c=1, d=0)
    made.current = IDLE
    found = made.on(0).switch(40_000, OWN, 0).explained(41_000)
    assert found.largest.cause is Cause.MIGRATION and found.ns_of(Cause.MIGRATION) == 36_900
