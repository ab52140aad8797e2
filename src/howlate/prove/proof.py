"""What a searched landscape states (docs/lab/prove.md): the latest release that was found in one window of one course
of one guest, a bound that holds if its premises do, and in the same sentence what that does not cover. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from howlate.model.cause import Lateness
from howlate.model.decode import members
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search, divided, unlike, wait_together
from howlate.replay.premises import SAMPLED, ComparedPair, Witness, of_order, witness_to_json
from howlate.replay.release_path import ReleasePath
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, message


class Eps(Struct, frozen=True):
    """By how much a release can start later than one that is due after it and waits for the same, from the logs of
    what both executed: its parts, in ns.

        S(t) - S(t2) = own path of t - that of t2
                     + interruptions of t from t2 on - those of t2
                     + what held t for longer than t2
                     + what a tick between them moves

    for t < t2, both waiting at t2. Each of them is bounded by the largest that the probes of a landscape show."""

    own_ns: int = 0
    """Between the longest own path of a release and the shortest."""
    interruptions_ns: int = 0
    """Of the interruptions of any release, each as different as those of its name were: the release between two
    probes that waits with the later one may have had others."""
    held_ns: int = 0
    """What a release made the holder do more than a later one."""
    ticks_ns: int = 0
    """How much a tick between two releases moves what comes before them."""

    @property
    def total_ns(self) -> int:
        return self.own_ns + self.interruptions_ns + self.held_ns + self.ticks_ns


def eps_of(parts: Iterable[Sequence[Probed]], ticks_ns: int = 0) -> Eps:
    """Of the logged probes of a landscape: of each of its forks, ascending."""
    logged = [[(probe, probe.path) for probe in part if probe.path is not None] for part in parts]
    paths = [path for part in logged for _, path in part]
    if not paths:
        return Eps(ticks_ns=ticks_ns)
    own_ns = [path.own_ns for path in paths]
    differences = _differences(paths)
    pairs = [
        (one, later)
        for part in logged
        for one, later in pairwise(part)
        if wait_together(one[0], later[0]) and not unlike(one[0], later[0])
    ]
    return Eps(
        max(own_ns) - min(own_ns),
        max(sum(differences.get(name, 0) * count for name, count in path.after(0).items()) for path in paths),
        max((_held_longer_ns(*one, *later) for one, later in pairs), default=0),
        ticks_ns,
    )


def _differences(paths: Iterable[ReleasePath]) -> dict[str, int]:
    """How different interruptions of one name were; those during which the release came are not whole."""
    each: dict[str, list[int]] = {}
    for path in paths:
        for one in path.interruptions:
            if one.from_ns > 0:
                each.setdefault(one.name, []).append(one.ns)
    return {name: max(ns) - min(ns) for name, ns in each.items()}


def _held_longer_ns(one: Probed, path: ReleasePath, later: Probed, later_path: ReleasePath) -> int:
    """What the own paths and interruptions do not explain of the first one's later start; 0 if it is earlier."""
    own_ns = path.own_ns - later_path.own_ns
    interruptions_ns = path.interrupted_ns(later.at_ns - one.at_ns) - later_path.interrupted_ns(0)
    return max(0, one.start_ns - later.start_ns - own_ns - interruptions_ns)


SENTENCE = message(
    "proof.sentence",
    "{kernel}, {load}, one release between {first_ns:exact} and {end_ns:exact}: the latest found is {found_ns:exact} "
    "late, at {at_ns:exact}; {outcome}.",
)
BOUND = message(
    "proof.bound",
    "bound {bound_ns:exact}, if these premises hold, which were sampled, not watched{accepted}: {premises:list} "
    "({terms})",
)
NO_MISS = message("proof.no-miss", "no release was found that misses {deadline_ns:exact}; {bound}")
MISSED = message("proof.miss", "{deadline_ns:exact} is missed ({probes:count} probes)")
OPEN = message(
    "proof.uncovered",
    "{share:percent} of the instants could be later than {aim_ns:exact}, even if the sampled premises hold ({terms})",
)
BROKEN = message(
    "proof.premise-broken",
    "no claim: {above:count} of {compared:count} releases that the search did not choose exceed their bound, so a "
    "premise does not hold",
)
WITHHELD = message("proof.no-bound", "no bound, because {reasons:items}")
TERMS = message(
    "proof.basis",
    "eps {eps_ns:exact} from {logged:count} logged probes; {probes:count} probes; guests compared in pairs, "
    "equal until the release: {pairs:count}; {checked}",
)
CHECKED = message("proof.checked", "{checks:count} check instants, none above")
CHECKED_SHARE = message(
    "proof.checked-share",
    "{checks:count} check instants, none above: with 95 % confidence less than {share:at-most} of all instants are",
)
SCOPE = message(
    "proof.covered",
    "Each row covers one phase of the load against the tick, and a single release with none before it. In a window "
    "longer than 40 ms the measuring task also wakes up 5 ms before each 40 ms of it. Other phases, loads and "
    "hardware are not covered. The maximum of a run is of other phases, because each activation shifts the load.",
)


ACCEPTS = "--accept-sampled-premises"
"""Whoever gives this option answers for what no probe watches."""


class ProofRuling(Enum):
    CONDITIONAL = "conditional"
    """Searched to the end. The bound holds if the premises do that were only sampled, so it is not claimed."""
    WITHIN = "within"
    """The same, and the caller accepts these premises; so with MET."""
    MET = "kept"
    MISSED = "missed"
    OPEN = "open"
    BROKEN = "broken"
    WITHHELD = "withheld"


def shown_eps_ns(search: Search) -> int:
    """The eps that the probes show: what their logs derive, and how far their starts were out of order."""
    return max(_eps_parts(search).total_ns, search.excess_ns())


def _eps_parts(search: Search) -> Eps:
    return eps_of((probes for _, probes in search.parts()), search.ticks_ns)


def above_bound(search: Search, checks: Iterable[Probed]) -> list[Probed]:
    """Releases that were later than the search bounds them."""
    return [check for check in checks if check.latency_ns > search.limit_ns(check.at_ns)]


def objections_of(witnesses: Iterable[Witness], parameters: Sequence[str]) -> list[Statement]:
    """Why the witnesses let no bound be claimed of a kernel with these parameters, each once."""
    said: dict[tuple[object, ...], Statement] = {}
    for witness in witnesses:
        for one in witness.objections(parameters):
            said.setdefault((one.rule, one.values.get("name"), one.values.get("policy")), one)
    return [*said.values()]


class Landscape(Struct, frozen=True):
    """Whose landscape it is. `first_ns`: the window's origin after the cell's start."""

    kernel: str
    load: str
    first_ns: int
    parameters: tuple[str, ...] = ()
    """The kernel's."""


class Proof(Struct, frozen=True):
    """A searched landscape, with its worst case."""

    of: Landscape
    window: ReleaseWindow
    goal: Goal
    latest: Probed
    bound_ns: float
    aim_ns: int
    eps_ns: int
    eps_parts: Eps
    excess_ns: int
    ticks_met: int
    """At how many ticks releases were asked that meet one; 0 where none was found in the window."""
    probes: tuple[Probed, ...]
    checks: int
    beside: int
    """How many releases that the search did not choose were compared with its bounds: check instants, and probes that
    were stored before."""
    above: tuple[Probed, ...]
    """Those of them that were later."""
    open_ns: int
    """How many instants have a bound above the aim."""
    tiles: tuple[ReleaseWindow, ...]
    """The parts of the window, each with a fork of its own."""
    witnesses: tuple[Witness, ...]
    """What the guest said of each."""
    pairs: tuple[ComparedPair, ...] = ()
    """Guests that waited for different releases, compared."""
    why: Lateness | None = None
    """Where the time of the found release went."""
    accepted: bool = False
    """Whether the caller answers for the premises that were only sampled."""

    @classmethod
    def of_search(
        cls,
        of: Landscape,
        search: Search,
        checks: Sequence[Probed],
        witnesses: Sequence[Witness] = (),
        pairs: Sequence[ComparedPair] = (),
    ) -> Proof:
        """From a search that is over, and releases at instants that it did not choose."""
        searched = {probe.at_ns for probe in search.probes}
        asked = search.beside | {probe.at_ns: probe for probe in checks}
        beside = [probe for at_ns, probe in sorted(asked.items()) if at_ns not in searched]
        found = max(
            (probe for probe in [*search.probes, *beside] if search.window.holds(probe.at_ns)),
            key=lambda probe: (probe.latency_ns, -probe.at_ns),
        )
        open_ns = 0 if search.refuted else sum(stretch.length_ns for stretch in search.open_stretches())
        return cls(
            of=of,
            window=search.window,
            goal=search.goal,
            latest=found,
            bound_ns=max(search.bound_ns, found.latency_ns),
            aim_ns=search.aim_ns,
            eps_ns=search.eps_ns,
            eps_parts=_eps_parts(search),
            excess_ns=search.excess_ns(),
            ticks_met=search.ticks_met,
            probes=tuple(search.probes),
            checks=len(checks),
            beside=len(beside),
            above=tuple(above_bound(search, beside)),
            open_ns=open_ns,
            tiles=search.tiles or (search.window,),
            witnesses=tuple(witnesses),
            pairs=tuple(pairs),
        )

    @property
    def share_above_at_most(self) -> float | None:
        """With 95 % confidence a smaller share of the window's instants is above its bound (3 / n, the rule of
        three); None where so few check instants say nothing, or one of them was above."""
        return 3 / self.checks if self.checks > 3 and not self.above else None

    @property
    def is_bounded(self) -> bool:
        return self.ruling in (ProofRuling.CONDITIONAL, ProofRuling.WITHIN, ProofRuling.MET)

    @property
    def conditional_bound_ns(self) -> float | None:
        return self.bound_ns if self.is_bounded and math.isfinite(self.bound_ns) else None

    @property
    def holder(self) -> str:
        """The function that kept the CPU for longest from the found release; "" where that is not known."""
        at_found = next((probe.path for probe in self.probes if probe == self.latest), None)
        return at_found.holder if at_found is not None else ""

    @property
    def logged(self) -> int:
        return sum(probe.path is not None for probe in self.probes)

    @property
    def waiting_neighbours(self) -> int:
        """How many neighbouring probes waited at the same time, so that what interrupted them could be compared."""
        of_forks = (part for _, part in divided(self.tiles, self.probes))
        return sum(wait_together(*pair) for part in of_forks for pair in pairwise(part))

    @property
    def objections(self) -> list[Statement]:
        """Why no bound may be claimed, each once."""
        unequal = [one for pair in self.pairs for one in pair.objections(self.of.first_ns)]
        witnessed = objections_of(self.witnesses, self.of.parameters)
        return [*witnessed, *unequal[:1], *of_order(self.excess_ns)]

    @property
    def ruling(self) -> ProofRuling:
        """A counter-example needs no premise."""
        if self.goal.deadline_ns and self.latest.latency_ns > self.goal.deadline_ns:
            return ProofRuling.MISSED
        if self.above:
            return ProofRuling.BROKEN
        if self.objections:
            return ProofRuling.WITHHELD
        if self.open_ns:
            return ProofRuling.OPEN
        if not self.accepted:
            return ProofRuling.CONDITIONAL
        return ProofRuling.MET if self.goal.deadline_ns else ProofRuling.WITHIN

    def sentence(self) -> Statement:
        """The claim, with everything that it rests on."""
        return SENTENCE(
            kernel=self.of.kernel,
            load=self.of.load,
            first_ns=self.of.first_ns + self.window.first_ns,
            end_ns=self.of.first_ns + self.window.end_ns,
            found_ns=self.latest.latency_ns,
            at_ns=self.of.first_ns + self.latest.at_ns,
            outcome=self.outcome(),
        )

    def outcome(self) -> Statement:
        match self.ruling:
            case ProofRuling.MISSED:
                return MISSED(deadline_ns=self.goal.deadline_ns, probes=len(self.probes))
            case ProofRuling.OPEN:
                share = self.open_ns / self.window.length_ns
                return OPEN(share=share, aim_ns=self.aim_ns, terms=self._terms())
            case ProofRuling.BROKEN:
                return BROKEN(above=len(self.above), compared=self.beside)
            case ProofRuling.WITHHELD:
                return WITHHELD(reasons=tuple(self.objections))
        bound = BOUND(
            bound_ns=self.bound_ns,
            accepted=f" ({ACCEPTS})" if self.accepted else "",
            premises=SAMPLED,
            terms=self._terms(),
        )
        return NO_MISS(deadline_ns=self.goal.deadline_ns, bound=bound) if self.goal.deadline_ns else bound

    def _terms(self) -> Statement:
        share = self.share_above_at_most
        return TERMS(
            eps_ns=self.eps_ns,
            logged=self.logged,
            probes=len(self.probes),
            pairs=len(self.pairs),
            checked=CHECKED_SHARE(checks=self.checks, share=share) if share else CHECKED(checks=self.checks),
        )

    def to_json(self) -> dict[str, Any]:
        """For `--json`; `bound_ns` is present only where it is claimed."""
        return {
            **members(self.of, "kernel", "load"),
            "window_ns": [self.of.first_ns + self.window.first_ns, self.of.first_ns + self.window.end_ns],
            "ruling": self.ruling.value,
            "found_ns": self.latest.latency_ns,
            "found_at_ns": self.of.first_ns + self.latest.at_ns,
            "bound_ns": self.conditional_bound_ns if self.is_bounded and self.accepted else None,
            "conditional_bound_ns": self.conditional_bound_ns,
            "sampled_premises": list(map(english, SAMPLED)),
            "premises_accepted_by": ACCEPTS if self.accepted else None,
            "eps_ns": self.eps_ns,
            "eps_parts_ns": asdict(self.eps_parts),
            **members(self, "logged", "excess_ns", "ticks_met"),
            "probes": len(self.probes),
            **members(self, "waiting_neighbours", "checks"),
            "compared_beside": self.beside,
            "beside_above": len(self.above),
            "share_above_at_most": self.share_above_at_most,
            "uncovered_ns": self.open_ns,
            "objections": [english(one) for one in self.objections],
            "witnesses": list(map(witness_to_json, self.witnesses)),
            "pairs": [
                {
                    "first_ns": self.of.first_ns + pair.first_ns,
                    "later_ns": self.of.first_ns + pair.later_ns,
                    "before_ns": pair.before_ns,
                    "unexplained": list(pair.unexplained),
                }
                for pair in self.pairs
            ],
            "forks": len(self.tiles),
            "deadline_ns": self.goal.deadline_ns or None,
            "within": self.goal.within or None,
            "within_ns": self.goal.within_ns or None,
            "sentence": english(self.sentence()),
            "statement": to_json(self.sentence()),
            "landscape": [
                [self.of.first_ns + probe.at_ns, probe.latency_ns, probe.path.holder if probe.path else None]
                for probe in self.probes
            ],
        }


CLAIM = message(
    "proof.claim-of-phase",
    "Only for this phase of the load against the tick, not for other phases, loads or hardware, and for {release}: "
    "{claim}",
)
RELEASE = message("proof.release", "a single release")
ARMED = message("proof.release-armed", "a single release that is armed at least {ahead_ns:exact} ahead")


def claim_of(proof: Proof) -> Statement:
    """The sentence of a searched landscape, inside what it is about."""
    ahead_ns = least_ahead_ns(proof)
    release = RELEASE() if ahead_ns is None else ARMED(ahead_ns=ahead_ns)
    return CLAIM(release=release, claim=proof.sentence())


def least_ahead_ns(proof: Proof) -> int | None:
    """How long before its release a timer was armed at least; None where that was not measured everywhere."""
    measured = [witness.ahead_ns for witness in proof.witnesses]
    known = [ahead_ns for ahead_ns in measured if ahead_ns is not None]
    return min(known) if known and len(known) == len(measured) else None


def claim_to_json(proof: Proof) -> dict[str, Any]:
    """A searched landscape for `--json`, with that sentence."""
    claim = claim_of(proof)
    said = {"sentence": english(claim), "statement": to_json(claim)}
    return {**proof.to_json(), "armed_ahead_ns": least_ahead_ns(proof), **said}
