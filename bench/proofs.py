"""The lab searches windows beside memory-alloc:100 anew.

    ./dev bench proofs [--only within|deadline|near|sampling] [--releases 400]

within: 200 ms of preempt=none and of preempt=full, each searched within 5 %. The limit: 600 s together on two cores.
deadline: 200 ms of 6.1-rt, searched for a release that misses 100 us. The limit: 600 s.
near: 5 ms of 6.1-rt searched within 2 us and eps. The limit: 600 s.
Their CPU time, guests included, has no limit; beside other work the time on the clock is longer.
sampling: 20 ms of preempt=none, searched, and then released into at random instants: how many of them come within
1 % of what the search found, and the host's CPU time of both. How many it takes for one is bounded from the
landscape: a release after a probe is late by as much less as it is later, but for eps. The limit: the search takes
less CPU time than that many releases.
Exit code 0 or 1.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402

from howlate.lab.targets.lab import open_lab  # noqa: E402
from howlate.prove.flow import Prober, prove  # noqa: E402
from howlate.prove.landscape import Goal, ReleaseWindow  # noqa: E402
from howlate.prove.proof import Landscape, Proof  # noqa: E402

PARTS = (
    Part("proofs within", "time of searching 200 ms of two kernels within 5 %", ("--only", "within")),
    Part(
        "proofs deadline",
        "time of searching 200 ms of 6.1-rt for a release that misses 100 us",
        ("--only", "deadline"),
    ),
    Part("proofs near", "time of searching 5 ms of 6.1-rt within 2 us and eps", ("--only", "near")),
    Part("proofs sampling", "the search against releases at random instants", ("--only", "sampling")),
)
QUESTIONS = {
    "within": ("--window", "200ms", "--kernels", "6.1[preempt=none],6.1[preempt=full]", "--within", "5%"),
    "deadline": ("--window", "200ms", "--kernels", "6.1-rt", "--deadline", "100us"),
    "near": ("--window", "5ms", "--kernels", "6.1-rt", "--within", "2us"),
}
MOST_S = 600.0
SAMPLED, LOAD, FIRST_NS = "6.1[preempt=none]", "memory-alloc:100", 100_000_000
WINDOW = ReleaseWindow(0, 20_000_000)
NEAR, SAMPLING = 0.99, "sampling"


def asked(question: str) -> tuple[float, float, list[dict[str, Any]]]:
    """Seconds of one `howlate lab prove`, those of CPU time, and its landscapes."""
    started, started_cpu_s = time.monotonic(), cpu_s()
    command = [str(ROOT / "howlate"), "lab", "prove", "--load", LOAD]
    done = subprocess.run(
        [*command, *QUESTIONS[question], "--no-cache", "--json"], stdout=subprocess.PIPE, check=False
    )
    return time.monotonic() - started, cpu_s() - started_cpu_s, json.loads(done.stdout)["landscapes"]


def figures_of(question: str) -> list[Figure]:
    """Time, and for each kernel what was found and bounded by how many probes."""
    seconds, spent_s, landscapes = asked(question)
    figures = [
        Figure(f"{question}, all kernels", round(seconds), "s", at_most=MOST_S),
        Figure(f"{question}, CPU time", round(spent_s), "s"),
    ]
    for landscape in landscapes:
        kernel, bound_ns = landscape["kernel"], landscape["conditional_bound_ns"]
        print(f"{seconds:.0f} s (limit {MOST_S:.0f}), {spent_s:.0f} s of CPU time: {landscape['sentence']}")
        figures += [
            Figure(f"{kernel}: bounds", float(bound_ns is not None), at_least=1),
            Figure(f"{kernel}: found", landscape["found_ns"] / 1000, "us"),
            Figure(f"{kernel}: probes", landscape["probes"]),
        ]
        if bound_ns is not None:
            figures.append(Figure(f"{kernel}: bound", bound_ns / 1000, "us"))
    return figures


def cpu_s() -> float:
    """This process and its guests that have ended."""
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in times)


def near_ns(proof: Proof) -> int:
    """How many instants are at least within 1 % of what was found: of each probe so late, those behind it."""
    least_ns = NEAR * proof.latest.latency_ns
    ends = [(one.at_ns, one.at_ns + int(one.latency_ns - least_ns) - proof.eps_ns) for one in proof.probes]
    covered, up_to = 0, 0
    for first_ns, end_ns in sorted(ends):
        covered += max(0, min(end_ns, WINDOW.end_ns) - max(first_ns, up_to))
        up_to = max(up_to, end_ns)
    return covered


def sampled(releases: int) -> list[Figure]:
    """The same fork for both; it is made before either is timed."""
    bench, job = open_lab(SAMPLED).single(SAMPLED, (LOAD,))
    draws = random.Random(SAMPLED)
    with Prober(bench, lambda at_ns: job(FIRST_NS + at_ns), WINDOW, 1, fresh=True) as prober:
        prober.witnesses()
        began_s = cpu_s()
        proof = prove(Landscape(SAMPLED, LOAD, FIRST_NS), Goal(within=0.05), 0, prober)
        searched_s = cpu_s()
        instants = [draws.randrange(WINDOW.end_ns) for _ in range(releases)]
        latencies_ns = [probe.latency_ns for probe in prober.all(instants, logged=False)]
        ended_s = cpu_s()
    found_ns, search_s = proof.latest.latency_ns, searched_s - began_s
    hits = sum(latency_ns >= NEAR * found_ns for latency_ns in latencies_ns)
    each_s = (ended_s - searched_s) / releases
    expected = WINDOW.length_ns / near_ns(proof)
    return [
        Figure("found by the search", found_ns / 1000, "us"),
        Figure("bound", proof.bound_ns / 1000, "us"),
        Figure("probes of the search", len(proof.probes)),
        Figure("CPU time of the search", round(search_s, 1), "s"),
        Figure("releases at random instants", releases),
        Figure("worst of them", max(latencies_ns) / 1000, "us", at_most=proof.bound_ns / 1000),
        Figure("of them within 1 % of what was found", hits),
        Figure("CPU time of them", round(ended_s - searched_s, 1), "s"),
        Figure("random releases for one within 1 %, at most", round(expected)),
        Figure("CPU time of so many over that of the search", expected * each_s / search_s, at_least=1),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=[*QUESTIONS, SAMPLING])
    parser.add_argument("--releases", type=int, default=400)
    add_option(parser)
    options = parser.parse_args()
    questions = [options.only] if options.only else [*QUESTIONS, SAMPLING]
    figures: list[Figure] = []
    for question in questions:
        figures += sampled(options.releases) if question == SAMPLING else figures_of(question)
    for figure in figures:
        print(f"{figure.name}: {figure.value:.6g} {figure.unit}".rstrip())
    return 0 if all_kept(figures, options.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
