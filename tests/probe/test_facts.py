"""`howlate-probe facts` on this machine, and that the host reads all of it."""

import gzip
import json
import os
import socket
import subprocess
from pathlib import Path

from howlate.doctor import examine
from howlate.model.facts import Facts
from howlate.settings import settings
from probe.drive import probe_path
from processes import completed

PROBE = probe_path()
FIXTURES = Path(__file__).parents[1] / "fixtures" / "machines"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return completed([str(PROBE), "facts", *words])


def captured(*words: str) -> Facts:
    done = run("--json", *words)
    assert done.returncode == 0, done.stderr
    return Facts.from_json(json.loads(done.stdout))


def test_the_machine_is_as_its_own_files_say() -> None:
    facts = captured()
    assert facts.text("kernel.release") == os.uname().release
    assert facts.text("kernel.machine") == os.uname().machine
    assert set(facts.cpus("caller.cpus_allowed") or ()) == os.sched_getaffinity(0)
    assert facts.integer("sched.rt_runtime_us") == int(
        Path("/proc/sys/kernel/sched_rt_runtime_us").read_text()
    )


def test_what_is_null_has_a_reason_and_what_has_a_reason_is_null() -> None:
    facts = captured()
    assert {key for key, value in facts.values.items() if value is None} == set(facts.missing)
    assert all(facts.missing.values())


def test_the_fixtures_have_exactly_the_keys_that_the_probe_captures() -> None:
    """But for knobs that are younger than the captured machine: a setting's check says that it does not know."""
    keys, of_knobs = set(captured().values), {fact for each in settings().values() for fact in each.facts}
    assert of_knobs <= keys
    for path in FIXTURES.glob("*.json"):
        there = set(json.loads(path.read_text())["values"])
        assert keys - of_knobs <= there <= keys, path.name


def test_no_host_name_stands_in_the_facts() -> None:
    name = socket.gethostname()
    texts = [value for value in captured().values.values() if isinstance(value, str)]
    assert not [text for text in texts if len(name) > 3 and name in text.split()]


def test_the_doctor_has_an_answer_to_every_check_on_this_machine() -> None:
    findings = examine(captured())
    assert len(findings) >= 35
    assert all(finding.text for finding in findings)


def test_an_empty_tree_is_captured_as_a_whole(tmp_path: Path) -> None:
    facts = captured("--root", str(tmp_path))
    assert set(facts.values) == set(captured().values)
    assert [key for key, value in facts.values.items() if value is not None] == [
        "knobs"
    ]  # the probe's own list


def test_a_root_that_is_no_folder_is_a_usage_error(tmp_path: Path) -> None:
    done = run("--root", str(tmp_path / "none"))
    assert done.returncode == 2
    assert "is not a folder" in done.stderr


def test_a_full_disk_is_an_error_and_no_silence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(PROBE), "facts", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 4
    assert "standard output" in done.stderr


def test_what_is_absent_is_among_the_missing() -> None:
    facts = captured()
    assert facts.absent <= set(facts.missing)
    assert json.loads(run("--json").stdout)["absent"] == sorted(facts.absent)


def test_a_configuration_that_is_compressed_is_handed_over_and_read_by_the_host(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    text = b'CONFIG_HZ=1000\nCONFIG_PREEMPT_RT=y\nCONFIG_LOCALVERSION="-of-somebody"\n'
    for padding in range(3):  # of base64
        (tmp_path / "proc/config.gz").write_bytes(gzip.compress(text + b"#" * padding))
        facts = captured("--root", str(tmp_path))
        assert facts.mapping("kernel.config") == {"HZ": "1000", "PREEMPT_RT": "y"}
        assert facts.text("kernel.config_source") == "/proc/config.gz"
    assert "zcat" in run("--root", str(tmp_path)).stdout
