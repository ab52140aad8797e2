"""What the machines of a target say of themselves before anything is planned."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from howlate.errors import HowlateError, NotPossibleError
from howlate.interrupts import interrupts_held
from howlate.lab.parameters import NOT_CHECKED, not_checked
from howlate.model.capabilities import Capabilities
from howlate.model.facts import Facts
from howlate.model.run import VIRTUAL
from howlate.plan import Machines
from howlate.plan.cost import cell_cost_s
from howlate.targets import Target


@dataclass(frozen=True)
class Known:
    """What a machine said of itself."""

    facts: dict[str, Any]
    can: Capabilities
    impossible: str = ""
    """Why nothing can be measured on it; then facts are empty and what it can do is another's."""


def ask_machines(target: Target) -> tuple[dict[str, Known], dict[str, HowlateError]]:
    """Asks every machine of the target, as many at once as it allows; those that did not answer stand in both.

    One that answers is enough; where none does, the first one's error is raised.
    """
    labels = target.machines
    answers: dict[str, Known | HowlateError] = {}
    if target.parallel == 1 or len(labels) == 1:
        answers = {label: _ask(target, label) for label in labels}
    else:
        pool = ThreadPoolExecutor(min(target.parallel, len(labels)), "howlate-ask")
        asked: dict[str, Future[Known | HowlateError]] = {}
        try:
            with interrupts_held():  # one that is not known would not be waited for
                asked = {label: pool.submit(_ask, target, label) for label in labels}
            answers = {label: future.result() for label, future in asked.items()}
        except BaseException:
            target.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            # Each ends its guest and removes what the guest had. One that was cancelled never ends for wait().
            wait(future for future in asked.values() if not future.cancelled())
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    problems = {label: answer for label, answer in answers.items() if isinstance(answer, HowlateError)}
    whole = {label: answer for label, answer in answers.items() if isinstance(answer, Known)}
    if not whole:
        raise next(iter(problems.values()))
    can = next(iter(whole.values())).can
    known = {label: whole.get(label) or _silent(problems[label], can) for label in labels}
    return known, {label: p for label, p in problems.items() if not isinstance(p, NotPossibleError)}


def _ask(target: Target, machine: str) -> Known | HowlateError:
    try:
        return Known(target.facts(machine), target.capabilities(machine))
    except HowlateError as problem:
        return problem


def _silent(problem: HowlateError, can: Capabilities) -> Known:
    return Known({}, can, problem.message if isinstance(problem, NotPossibleError) else "")


def unchecked_parameters(known: Mapping[str, Known]) -> tuple[str, ...]:
    """Warnings about boot parameters of which nothing is known."""
    words = {label: Facts.from_json(its.facts).text(NOT_CHECKED) for label, its in known.items() if its.facts}
    return tuple(not_checked(label, text) for label, text in words.items() if text)


def planned_machines(target: Target, known: Mapping[str, Known], seeds: int) -> Machines:
    """What the plan needs to know of the machines."""
    return Machines(
        {label: its.can for label, its in known.items()},
        {label: its.impossible for label, its in known.items() if its.impossible},
        seeds,
        cell_cost_s if target.clock == VIRTUAL else None,
        target.stream_bytes_most,
    )


def kernel_configs(target: Target, known: Mapping[str, Known]) -> dict[str, str]:
    """The text of each machine's kernel configuration, where the target has it."""
    texts = {label: target.config(label) for label, its in known.items() if its.facts}
    return {label: text for label, text in texts.items() if text}
