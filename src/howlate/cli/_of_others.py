"""What options of cyclictest and of `rtla timerlat` are here: the line that does the same.

Only looked at for an option that `check` and `top` do not have. {time} is the value in microseconds with its unit,
{value} the value as given, {cpus} the CPUs of its threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from howlate.words.language import called
from howlate.words.printable import shell_line

COMMANDS = ("check", "top")
PROGRAMS = dict.fromkeys(("cyclictest", "rtla", "timerlat", "jitterdebugger", "latency"), "check")
PROGRAMS |= {"hist": "show --histogram", "histogram": "show --histogram", "hwlatdetect": "probe hardware-gap"}
"""The programs themselves, where a command is expected."""
CYCLICTEST, RTLA = "cyclictest's", "rtla's"


@dataclass(frozen=True)
class Word:
    """An option of another program."""

    program: str
    names: str
    meaning: str
    line: str
    """Options of the called command, or with "howlate" before it a command of its own."""
    example: str = ""
    """A value for the line where none was given."""
    numbers: range = range(10**12)
    """Those that it can mean."""


LIMIT = ("limit that ends it", "--threshold {time}", "200")
PERIOD = ("period", "--period {time}", "1000")
IDLE_LIMIT = ("limit on the wake-up from idle states", "--set knob=cpu_dma_latency={value}", "0")
OWN_CPUS = ("list of CPUs for its own work, which keeps off the measuring CPUs here", "--cpus 1")
CPUS = ("list of CPUs", "--cpus {value}", "all")
QUIET = ("wish for a summary alone", "--brief")
NANOSECONDS = ("wish for nanoseconds", "--json")
FEWER = ("wish for fewer lines", "--brief")

WORDS = (
    Word(CYCLICTEST, "-a --affinity", *CPUS),
    Word(CYCLICTEST, "-A --aligned", "offset between the threads", "--set stagger={time}", "0"),
    Word(CYCLICTEST, "-b --breaktrace", *LIMIT),
    Word(CYCLICTEST, "-c --clock", "clock; it is always the monotonic one here", ""),
    Word(CYCLICTEST, "--default-system", "wish to leave the machine as it is, as always here", ""),
    Word(
        CYCLICTEST,
        "-d --distance",
        "distance between the threads' periods, which are one period here",
        "--set stagger={time}",
        "500",
    ),
    Word(CYCLICTEST, "-F --fifo", "pipe for live figures", "howlate probe cyclic --progress --duration 10s"),
    Word(CYCLICTEST, "-h --histogram", "histogram up to a limit, which needs none here", "--histogram"),
    Word(CYCLICTEST, "-H --histofall", "histogram of all threads", "--histogram"),
    Word(
        CYCLICTEST,
        "--histfile",
        "file with the histogram",
        "howlate export --format gnuplot -o {value}",
        "histogram.gp",
    ),
    Word(CYCLICTEST, "-i --interval", *PERIOD),
    Word(CYCLICTEST, "--json", "file with the results", "--json"),
    Word(CYCLICTEST, "--laptop", "wish to allow idle states, as always here", ""),
    Word(CYCLICTEST, "--latency", *IDLE_LIMIT),
    Word(CYCLICTEST, "-l --loops", "number of wake-ups", "--set activations={value}", "100000"),
    Word(CYCLICTEST, "--mainaffinity", *OWN_CPUS),
    Word(CYCLICTEST, "-m --mlockall", "lock on memory, as always here", ""),
    Word(CYCLICTEST, "-M --refresh_on_max", *FEWER),
    Word(CYCLICTEST, "-N --nsecs", *NANOSECONDS),
    Word(CYCLICTEST, "-o --oscope", *FEWER),
    Word(CYCLICTEST, "-p --priority --prio", "priority", "--priority {value}", "80", range(1, 100)),
    Word(
        CYCLICTEST, "--priospread", "row of falling priorities", "--cpus 0,1 --set 'priorities=[\"80,79\"]'"
    ),
    Word(CYCLICTEST, "-q --quiet", *QUIET),
    Word(CYCLICTEST, "-r --relative", "relative timer", "--set timer=clock_nanosleep-relative"),
    Word(CYCLICTEST, "-R --resolution", "check of the clock", "howlate probe clock --duration 2s"),
    Word(CYCLICTEST, "--secaligned", "start on a full second", "--set first={time}", "100000"),
    Word(CYCLICTEST, "-s --system", "interval timer", "--set timer=setitimer"),
    Word(CYCLICTEST, "-S --smp", "thread on each CPU", "--cpus all"),
    Word(
        CYCLICTEST,
        "--spike --spike-nodes",
        "list of late samples, whose worst the run keeps",
        "howlate why",
    ),
    Word(CYCLICTEST, "--smi", "count of SMIs", "howlate probe hardware-gap --duration 10s"),
    Word(CYCLICTEST, "-t --threads", "number of threads", "--cpus {cpus}", "all"),
    Word(
        CYCLICTEST,
        "--tracemark",
        "mark in the kernel's trace",
        "--threshold 200us --set break-trace=true",
    ),
    Word(CYCLICTEST, "-u --unbuffered", "wish for every line at once, as always here", ""),
    Word(
        CYCLICTEST,
        "-v --verbose",
        "wish for every sample, which the run keeps",
        "howlate export --format csv -o -",
    ),
    Word(CYCLICTEST, "--dbg_cyclictest", "search for its own faults", ""),
    Word(CYCLICTEST, "-x --posix_timers", "POSIX timer", "--set timer=timer_create"),
    Word(RTLA, "-a --auto", *LIMIT),
    Word(RTLA, "--aa-only", "limit that ends it", "--threshold {time} --brief", "200"),
    Word(RTLA, "-b --bucket-size", "width of a bar", "howlate report --axis latency=0:1000us,linear"),
    Word(RTLA, "--bpf-action", "program at the limit", "--threshold 200us"),
    Word(RTLA, "-c", *CPUS),
    Word(RTLA, "-C --cgroup", "cgroup, which is the shell's here", ""),
    Word(RTLA, "-d", "time to measure", "--duration {value}", "60", range(1, 10**6)),
    Word(RTLA, "-D --debug", "search for its own faults", ""),
    Word(RTLA, "--deepest-idle-state", "limit on idle states", "--set knob=c_states=0"),
    Word(RTLA, "--dma-latency", *IDLE_LIMIT),
    Word(RTLA, "--dump-tasks --dump-task", "list of tasks at the limit", "howlate why"),
    Word(RTLA, "-e --event", "list of the kernel's events", "--set explain-events=all"),
    Word(RTLA, "-E --entries", "number of bars", "howlate report --axis latency=0:1000us,linear"),
    Word(RTLA, "--filter --trigger", "filter of the kernel's events", "--set explain-events=few"),
    Word(RTLA, "-H --house-keeping", *OWN_CPUS),
    Word(RTLA, "-i --irq", "limit on the timer's interrupt", "--threshold {time}", "200"),
    Word(
        RTLA,
        "-k --kernel-threads",
        "wake-up of kernel threads",
        "howlate probe irq --source timerlat --duration 10s",
    ),
    Word(RTLA, "-n --nano", *NANOSECONDS),
    Word(RTLA, "--no-aa", "wish for no causes", "--set explain=false"),
    Word(
        RTLA,
        "--no-header --no-index --no-irq --no-summary --no-thread --with-zeros",
        "form of a table",
        "--json",
    ),
    Word(RTLA, "--on-threshold", "action at the limit", "--threshold 200us --set break-trace=true"),
    Word(RTLA, "--on-end", "action at the end, for which the exit code stands here", "--brief"),
    Word(RTLA, "-p", *PERIOD),
    Word(RTLA, "-P", "policy and priority", "--policy {policy}", "f:95"),
    Word(RTLA, "-q --quiet", *QUIET),
    Word(RTLA, "-s --stack --stack-format", "stack at the timer's interrupt", "--set explain-stacks=true"),
    Word(RTLA, "-t --trace", "file with the kernel's trace", "--threshold 200us --set break-trace=true"),
    Word(RTLA, "-T --thread", *LIMIT),
    Word(RTLA, "--trace-buffer-size", "size of the trace buffer", "--set explain-buffer={value}KiB", "4096"),
    Word(RTLA, "-u --user-threads -U --user-load", "wake-up of user threads, as always here", ""),
)


def program(name: str) -> str:
    """The hint for somebody who names another program; "" if that is none."""
    return f"Write `{called()} {PROGRAMS[name]}`" if name in PROGRAMS else ""


def answer(command: str, options: Sequence[str], words: Sequence[str]) -> None:
    """UsageError for another program's options, all in one. `options`: those that the command has."""
    if command not in COMMANDS:
        return
    from howlate.errors import REMEDIED, UsageError

    answered = []
    for option, value in _given(options, words):
        meant = [word for word in WORDS if option in word.names.split() and _can_mean(word, value)]
        if meant:
            answered.append((option, value, meant))
    if not answered:
        return
    meanings = (
        f"{option} is " + " or ".join(f"{word.program} {word.meaning}" for word in meant)
        for option, _, meant in answered
    )
    lines = dict.fromkeys(
        _call(command, [(word, value) for word, (_, value, _) in zip(choice, answered, strict=True)])
        for choice in _choices([meant for _, _, meant in answered])
    )
    raise UsageError(REMEDIED(problem="; ".join(meanings), remedy=f"write {' or '.join(lines)}"))


def _choices(meant: Sequence[Sequence[Word]]) -> Iterator[Sequence[Word]]:
    """A meaning for each option: of one program where one has all, else each option's own."""
    programs = [
        each for each in (CYCLICTEST, RTLA) if all(any(w.program == each for w in ws) for ws in meant)
    ]
    if len(meant) == 1:
        yield from ([word] for word in meant[0])
        return
    for each in programs or [""]:
        yield [next((word for word in words if word.program == each), words[0]) for words in meant]


def _call(command: str, asked: Sequence[tuple[Word, str]]) -> str:
    """The one line that has all their options, and the commands of their own after it."""
    lines = list(dict.fromkeys(_line(word, value) for word, value in asked))
    own = [line for line in lines if not line.startswith("howlate ")]
    calls = [" ".join(filter(None, (command, *own)))] if own else []
    calls += [line.removeprefix("howlate ") for line in lines if line.startswith("howlate ")]
    return " and ".join(f"`{called()} {call}`" for call in calls)


def _given(options: Sequence[str], words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options that the command lacks, and those that it has as a flag and others with a number: each with what
    may be its value."""
    for word, after in zip(words, (*words[1:], ""), strict=False):
        if word == "--":
            return
        if not re.match("-+[A-Za-z]", word):
            continue
        long = word.startswith("--")
        option, _, attached = word.partition("=") if long else (word[:2], "", word[2:])
        value = attached or ("" if after.startswith("-") else after)
        is_flag_here = option in ("-h", "--histogram", "--json", "--brief") and (
            attached or after.isdecimal()
        )
        if option not in options or is_flag_here:
            yield option, value


def _can_mean(word: Word, value: str) -> bool:
    if "{time}" in word.line:
        return bool(re.fullmatch(r"(\d+(\.\d+)?(ns|us|ms|s)?)?", value))
    if word.line == "--cpus {value}" and not re.fullmatch(r"(all|[\d,-]*)", value):
        return False
    return not value.isdecimal() or int(value) in word.numbers


def _line(word: Word, given: str) -> str:
    """The options with the value that was given, else with one that stands for it."""
    value = given or word.example
    number = value.removesuffix("us")
    kind, _, level = value.partition(":")
    if kind == "d":  # RUNTIME:PERIOD there, and a deadline between them here
        level = ":".join((level, level.rpartition(":")[2]))
    words = {
        "value": shell_line([value]) if value else "",
        "time": f"{number}us" if number.isdecimal() else value,
        "cpus": f"0-{int(value) - 1}"
        if value.isdecimal() and int(value) > 1
        else "0"
        if value == "1"
        else "all",
        "policy": f"{_POLICIES.get(kind, kind)}:{level}" if kind != "o" else "other",
    }
    return word.line.format(**words)


_POLICIES = {"f": "fifo", "r": "rr", "d": "deadline"}
