"""network: where its packets go, and what it needs for that."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lacks import AS_ROOT, KERNEL, needs_root, skip
from probe.loads_drive import NOBODY, ROOT, running
from processes import children_of, completed, until

pytestmark = pytest.mark.beside


def network_names() -> set[str]:
    return {card.name for card in Path("/sys/class/net").iterdir()}


def network_namespaces() -> set[str]:
    """The network namespaces that any process is in."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.add(str((folder / "ns/net").readlink()))
            except OSError:
                continue
    return found


def test_the_network_load_changes_nothing_outside_and_vanishes(probe: Path) -> None:
    cards, here = network_names(), str(Path("/proc/self/ns/net").readlink())
    with running("network:500") as load:
        first = load.report()
        if first is None:
            _, err = load.process.communicate()
            assert load.process.returncode == 3 and err.count("\n") == 1  # it says why not
            skip(err, AS_ROOT if not ROOT else KERNEL)
        (worker,) = children_of(load.process.pid)
        inside = str(Path(f"/proc/{worker}/ns/net").readlink())
        assert network_names() == cards
        assert load.report() is not None
        told = load.stop()
    results = told["results"]
    assert results["path"] in ("veth", "loopback")
    assert (inside != here) == (results["path"] == "veth")
    assert results["path"] == "veth" or any("loopback" in warning for warning in told["warnings"])
    assert results["sent"] == results["received"] + results["lost"] + results["on_the_way"]
    assert (
        results["received"] > 0
        and 0 < results["rtt_ns_min"] <= results["rtt_ns_mean"] <= results["rtt_ns_max"]
    )
    if results["path"] == "veth":
        assert until(lambda: inside not in network_namespaces())
    assert network_names() == cards


def test_a_flood_sends_more_than_a_rate(probe: Path) -> None:
    sent = {}
    for target in ("100", "flood"):
        with running(f"network:{target}", "--path=loopback") as load:
            if load.report() is None:
                skip(load.process.communicate()[1], AS_ROOT if not ROOT else KERNEL)
            assert load.report() is not None
            told = load.stop()
            assert told["results"]["path"] == "loopback"
            sent[target] = told["units"] / told["duration_ns"]
    assert sent["flood"] > 2 * sent["100"]


def test_the_network_load_falls_back_to_loopback_and_says_so(probe: Path, everybodys: Path) -> None:
    """An ordinary user in a user namespace of its own, in which no further network namespace may be made."""
    binary = everybodys / "howlate-probe"
    shutil.copy2(probe, binary)
    before = [*(NOBODY if ROOT else []), "unshare", "--user", "--map-root-user", "--net", "sh", "-c"]
    setting = "ip link set lo up && echo 0 >/proc/sys/user/max_net_namespaces"
    if subprocess.run([*before, setting], capture_output=True).returncode != 0:
        skip("user namespaces", KERNEL)
    words = ["load", "network:100", "--duration", "1s", "--json"]
    done = completed([*before, f'{setting} && exec "$0" "$@"', str(binary), *words], timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["results"]["path"] == "loopback" and told["results"]["received"] > 0
    (warning,) = told["warnings"]
    assert "over loopback" in warning and "max_net_namespaces" in warning
    assert warning in done.stderr and done.stderr.count("\n") == 1
    refused = completed(
        [*before, f'{setting} && exec "$0" "$@"', str(binary), *words, "--path=veth"], timeout=60
    )
    assert refused.returncode == 3 and refused.stdout == ""
    assert "max_net_namespaces" in refused.stderr and refused.stderr.count("\n") == 1


@needs_root
def test_the_network_load_works_without_rights_or_says_why_not(probe: Path, everybodys: Path) -> None:
    binary = everybodys / "howlate-probe"
    shutil.copy2(probe, binary)
    done = completed([*NOBODY, str(binary), "load", "network:100", "--duration", "1s", "--json"], timeout=60)
    if done.returncode == 0:
        told = json.loads(done.stdout)
        assert told["results"]["path"] in ("veth", "loopback") and told["results"]["received"] > 0
    else:
        assert done.returncode == 3
        assert "ICMP" in done.stderr and done.stderr.count("\n") == 1
