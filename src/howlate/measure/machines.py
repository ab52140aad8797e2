"""Facts and capabilities that the machines of a target report before anything is planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from howlate.errors import HowlateError, NotPossibleError
from howlate.model.capabilities import Capabilities
from howlate.model.facts import Facts
from howlate.plan.matrix import Machines
from howlate.system.interrupts import interrupts_held, result_of, wait_for
from howlate.targets import Target
from howlate.words.statement import Statement, message

if TYPE_CHECKING:
    from concurrent.futures import Future

IN_FORCE_UNKNOWN = message(
    "lab.in-force-unknown",
    "{label}: whether {parameters:all} is in force is not known: the kernel reports neither that it knows it nor "
    "that it does not (a parameter of a module counts only where the module is built in)",
)
NOT_CHECKED = "lab.parameters_not_checked"
"""The fact of a machine that has boot parameters of which its kernel says nothing, as words."""


class KnownMachine(Struct, frozen=True):
    facts: dict[str, Any]
    can: Capabilities
    impossible: str = ""
    """Why nothing can be measured on this machine; its facts are then empty, and its capabilities are another
    machine's."""


def ask_machines(target: Target) -> tuple[dict[str, KnownMachine], dict[str, HowlateError]]:
    """Ask every machine of the target, as many at once as it allows. Machines that did not answer are in both
    results.

    One answer is enough. If no machine answers, raise the first one's error.
    """
    labels = target.machines
    answers: dict[str, KnownMachine | HowlateError] = {}
    if target.parallel == 1 or len(labels) == 1:
        answers = {label: _ask(target, label) for label in labels}
    else:
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(min(target.parallel, len(labels)), "howlate-ask")
        asked: dict[str, Future[KnownMachine | HowlateError]] = {}
        try:
            with interrupts_held():  # wait_for() would not cover a future that is not recorded
                asked = {label: pool.submit(_ask, target, label) for label in labels}
            answers = {label: result_of(future) for label, future in asked.items()}
        except BaseException:
            target.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            # Each future ends its guest and removes the guest's files.
            wait_for(future for future in asked.values() if not future.cancelled())
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    problems = {label: answer for label, answer in answers.items() if isinstance(answer, HowlateError)}
    whole = {label: answer for label, answer in answers.items() if isinstance(answer, KnownMachine)}
    if not whole:
        raise next(iter(problems.values()))
    can = next(iter(whole.values())).can
    known = {label: whole.get(label) or _silent(problems[label], can) for label in labels}
    return known, {label: p for label, p in problems.items() if not isinstance(p, NotPossibleError)}


def _ask(target: Target, machine: str) -> KnownMachine | HowlateError:
    try:
        return KnownMachine(target.facts(machine), target.capabilities(machine))
    except HowlateError as problem:
        return problem


def _silent(problem: HowlateError, can: Capabilities) -> KnownMachine:
    return KnownMachine({}, can, problem.message if isinstance(problem, NotPossibleError) else "")


def unchecked_parameters(known: Mapping[str, KnownMachine]) -> tuple[Statement, ...]:
    words = {
        label: Facts.from_json(machine.facts).text(NOT_CHECKED)
        for label, machine in known.items()
        if machine.facts
    }
    return tuple(
        IN_FORCE_UNKNOWN(label=label, parameters=text.split()) for label, text in words.items() if text
    )


def planned_machines(target: Target, known: Mapping[str, KnownMachine], seeds: int) -> Machines:
    return Machines(
        {label: machine.can for label, machine in known.items()},
        {label: machine.impossible for label, machine in known.items() if machine.impossible},
        seeds,
        target.stream_bytes_most,
    )


def kernel_configs(target: Target, known: Mapping[str, KnownMachine]) -> dict[str, str]:
    """The text of each machine's kernel configuration, if the target has it."""
    texts = {label: target.config(label) for label, machine in known.items() if machine.facts}
    return {label: text for label, text in texts.items() if text}
