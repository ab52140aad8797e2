"""Modules that react to a release, or look ahead to it: what `lab prove` says beside them. Each breaks one of the
premises that are sampled, in a fifth of a microsecond of its window, which probes and check instants miss."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.test_every_option import called
from howlate.lab.archive.apt import AptArchive
from howlate.lab.targets.lab import open_lab
from howlate.system.paths import probe_path
from howlate.targets import LabOptions
from lab.guests import KERNELS, LIMITS, RT, warm_cache

LOAD = "memory-alloc:100"
FIRST_NS = 133_570_000
PERIOD_NS, OFFSET_NS = 5_000_000, 1_333_333
"""Both modules' timers expire so long after each multiple."""
REACTING = Path(__file__).parent / "reacting"
ACCEPTS = "--accept-sampled-premises"


def band_ns(module: str, behind_ns: int) -> int:
    """How long after the start of the cell a module reacts to a release first, if that is so long after the module's
    timer, and a millisecond behind FIRST_NS at least."""
    lab = open_lab(RT, LabOptions(modules=(REACTING / module,)), AptArchive(KERNELS / "apt"))
    bench, job = lab.single(RT, (LOAD,))
    with bench.forked(job(FIRST_NS), LIMITS) as fork:
        planned_ns = fork.words.planned_ns
    after_ns = planned_ns + 1_000_000 - OFFSET_NS - behind_ns
    instant_ns = -(-after_ns // PERIOD_NS) * PERIOD_NS + OFFSET_NS + behind_ns
    return FIRST_NS + instant_ns - planned_ns


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "behind_ns", "before_ns", "length_ns", "late_ns"),
    [("trap", -1_100, 97_000, 200_000, 300_000), ("ahead", 300_100, 18_000, 100_000, 40_000)],
)
def test_no_bound_is_claimed_beside_a_module_that_breaks_a_premise_unseen(
    module: str,
    behind_ns: int,
    before_ns: int,
    length_ns: int,
    late_ns: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The window has the band in it, and a closer look finds what is there. The same command again has the same
    bytes."""
    monkeypatch.setenv("HOWLATE_CACHE", str(warm_cache(tmp_path / "cache", RT)))
    monkeypatch.setenv("HOWLATE_PROBE", str(probe_path()))
    at_ns = band_ns(module, behind_ns)

    def proved(from_ns: int, window_ns: int, *more: str) -> tuple[int, str, dict[str, Any]]:
        asked = f"lab prove --load {LOAD} --kernels {RT} --module {REACTING / module} --json --within 3us"
        code = called(" ".join([asked, f"--begin {from_ns}ns --window {window_ns}ns", *more]))
        text = capfd.readouterr().out
        (landscape,) = json.loads(text)["landscapes"]
        with capfd.disabled():
            print(module, code, landscape["sentence"])
        return code, text, landscape

    code, text, wide = proved(at_ns - before_ns, length_ns)
    assert code == 5 and wide["bound_ns"] is None and wide["premises_accepted_by"] is None
    assert proved(at_ns - before_ns, length_ns)[:2] == (code, text)

    code, _, accepted = proved(at_ns - before_ns, length_ns, ACCEPTS)
    if wide["ruling"] == "conditional":
        assert all(premise in wide["sentence"] for premise in wide["sampled_premises"])
        assert code == 0 and ACCEPTS in accepted["sentence"] and accepted["premises_accepted_by"] == ACCEPTS
        assert accepted["bound_ns"] == wide["conditional_bound_ns"]
    else:
        assert code == 5 and accepted["bound_ns"] is None

    code, _, close = proved(at_ns - 300, 600)
    assert code == 5 and close["bound_ns"] is None
    assert close["found_ns"] > late_ns
    deadline = f"lab prove --load {LOAD} --kernels {RT} --module {REACTING / module} --begin {at_ns - 300}ns"
    assert called(f"{deadline} --window 600ns --deadline {late_ns}ns {ACCEPTS}") == 1
