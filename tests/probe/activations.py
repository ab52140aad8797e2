"""The periodic tasks whose activations are stepped through: each way to sleep and late policy of the probe, and
cyclictest."""

from msgspec import Struct

from probe.drive import probe_list, probe_path
from probe.stepping import Steps, step


class Budget(Struct, frozen=True):
    """What an activation of one way to sleep may take."""

    calls: tuple[str, ...]
    """All system calls, the one that sleeps last."""
    own: int
    """Most instructions outside the vDSO, the C library's included: a tenth more than GCC 12 and glibc 2.36 need."""


BUDGETS = {
    "clock_nanosleep": Budget(("clock_nanosleep",), 88),
    "clock_nanosleep-relative": Budget(("clock_nanosleep",), 111),
    "epoll_pwait2": Budget(("epoll_pwait2",), 130),
    "epoll_timerfd": Budget(("timerfd_settime", "epoll_pwait"), 175),
    "futex": Budget(("futex",), 122),
    "io_uring": Budget(("io_uring_enter",), 176),
    "ppoll": Budget(("ppoll",), 126),
    "setitimer": Budget(("rt_sigtimedwait",), 198),
    "timer_create": Budget(("timer_settime", "rt_sigtimedwait"), 212),
    "timerfd": Budget(("timerfd_settime", "read"), 165),
}
"""The plain probe's. The timers of a real-time core (docs/cores.md) have none: a thread that is stepped stops on
Linux's stage at each instruction, so what was counted would not be an activation on the core."""
DITHERED, SINGLE = 40, 10
"""How many more a dithered schedule may take, which draws each gap, and a single sleep, which is planned first."""
RATIO = 0.5
"""At most this share of cyclictest's instructions."""


class Task(Struct, frozen=True):
    """One way to sleep in one way of using it."""

    timer: str
    late_policy: str = "skip"
    dither: bool = False
    scheduled: bool = True
    """False: single sleeps without a schedule (the test `timer`)."""

    @property
    def plain(self) -> bool:
        """On an even schedule."""
        return self.scheduled and not self.dither

    @property
    def own_limit(self) -> int:
        """Most instructions outside the vDSO."""
        more = DITHERED if self.dither else 0 if self.scheduled else SINGLE
        return BUDGETS[self.timer].own + more

    def __str__(self) -> str:
        if not self.scheduled:
            return f"{self.timer}, single sleeps"
        return f"{self.timer}, {self.late_policy}" + (", dithered" if self.dither else "")


def tasks() -> list[Task]:
    """Each way to sleep that is available here, in each way of using it. Spinning is none: it reads the clock until
    the release has come, and a reading that is stepped takes so long that it asks the kernel why."""
    found = []
    for timer in probe_list()["timers"]:
        if not timer["available"] or timer["name"] == "spin":
            continue
        name = timer["name"]
        found += [Task(name, policy) for policy in timer["late_policies"]]
        if timer["dither"]:
            found += [Task(name, dither=True), Task(name, scheduled=False)]
    return found


def step_task(task: Task, count: int = 9) -> Steps:
    """Activations of the probe's measuring thread. What a busy machine adds (another path of a late activation) comes
    and goes, so that a loop beyond its limit is stepped through again, twice at most."""
    steps = _stepped(task, count)
    for _again in range(2):
        if steps.own > task.own_limit:
            steps = _stepped(task, count)
    return steps


def _stepped(task: Task, count: int) -> Steps:

    def command(period_ns: int) -> list[str]:
        options = [
            "--timer",
            task.timer,
            "--policy",
            "other",
            "--warm-up",
            "0s",
            "--quiet",
            "--stream",
            "/dev/null",
        ]
        if not task.scheduled:
            return [str(probe_path()), "timer", "--sleep", f"{period_ns}ns", *options]
        dither = ["--dither"] if task.dither else []
        schedule = ["--period", f"{period_ns}ns", "--late-policy", task.late_policy, *dither]
        return [str(probe_path()), "cyclic", *schedule, "--activations", "1000000", *options]

    return step(command, "measure/" if task.scheduled else "timer/", BUDGETS[task.timer].calls[-1], count)


def step_cyclictest() -> Steps:
    """Activations of cyclictest with a histogram, as the field runs it."""

    def command(period_ns: int) -> list[str]:
        options = ["--default-system", "-q", "-N", "-t", "1", "-l", "1000000", "-h", "100000"]
        return ["cyclictest", *options, "-i", str(period_ns // 1000)]

    return step(command, "cyclictest", "clock_nanosleep")
