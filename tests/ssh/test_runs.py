"""howlate's own commands over SSH to a real sshd on loopback: what is measured there, interrupted and continued."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from howlate.errors import ExitCode
from lacks import KERNEL, MACHINE, needs_root, skip
from made_study import study_text
from processes import completed, environment, until
from ssh import server as servers
from ssh.server import Server, alone_where_shared

pytestmark = alone_where_shared()


def howlate(*words: str) -> subprocess.CompletedProcess[str]:
    return completed([sys.executable, "-m", "howlate", *words], env=environment())


def test_a_study_runs_there_and_the_doctor_looks_there(server: Server, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        study_text(
            "short", policy="other", activations="200", period="1ms", axes={"load": ["none", "cpu:20"]}
        )
    )
    run = tmp_path / "run"
    done = howlate("run", str(tmp_path / "study.toml"), "--target", server.target, "--out", str(run))
    assert done.returncode == 0, done.stderr
    assert json.loads((run / "run.json").read_text())["target"] == server.target
    assert len(list((run / "cells").glob("*/summary.json"))) == 2
    assert not server.folders()
    done = howlate("doctor", "--target", server.target, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"]
    assert not server.folders()
    done = howlate("doctor", "--target", f"ssh:127.0.0.1:{servers.free_port()}")
    assert done.returncode == ExitCode.NOT_POSSIBLE
    assert "connection refused" in done.stderr
    assert done.stderr.count("\n") == 1


@needs_root
def test_a_cell_is_explained_there(server: Server, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        study_text("short", policy="other", activations="100", period="1ms", axes={"load": ["none"]})
    )
    run = tmp_path / "run"
    words = ("--set", "explain=true", "--set", "explain-worst=3", "--set", "explain-above=1s")
    done = howlate("run", str(tmp_path / "study.toml"), *words, "--target", server.target, "--out", str(run))
    if done.returncode == ExitCode.NOT_POSSIBLE and "--explain is not possible here" in done.stderr:
        skip("the kernel's tracing", KERNEL)
    assert done.returncode == 0, done.stderr
    (cell,) = (run / "cells").iterdir()
    assert (cell / "trace_cases.parquet").exists()
    assert (cell / "trace_events.parquet").exists()
    assert not server.folders()


def test_rounds_are_measured_there_until_the_rate_is_decided(server: Server, tmp_path: Path) -> None:
    """Every release misses, so few of the many rounds that there is time for decide it. The same folder then holds
    the answer, and nothing more is measured."""
    (tmp_path / "study.toml").write_text(
        study_text("short", policy="other", activations="300", period="1ms", deadline="1ns")
    )
    words = ["run", str(tmp_path / "study.toml"), "--target", server.target, "--out", str(tmp_path / "run")]
    until_decided = ["--until-decided", "--miss-rate", "0.05", "--at-most", "120s", "--json"]
    done = howlate(*words, *until_decided)
    shown = json.loads(done.stdout)
    (row,) = shown["verdicts"]
    stolen = [told for told in row["statements"] if told["rule"] == "verdict.stolen"]
    if stolen:
        skip(f"a host that lets it run ({stolen[0]['text']})", MACHINE)
    assert (done.returncode, row["outcome"]) == (1, "FAIL")
    assert row["rate"]["lower"] > 0.05
    assert 10 > len(shown["cells"]) == len(list((tmp_path / "run" / "cells").glob("*/summary.json")))
    again = json.loads(howlate(*words, *until_decided).stdout)
    assert (again["verdicts"], len(again["cells"])) == (shown["verdicts"], len(shown["cells"]))


def test_an_interrupted_run_leaves_nothing_there_and_goes_on(server: Server, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        study_text("short", policy="other", activations="5000", period="1ms", axes={"load": ["none"]})
    )
    words = ["run", str(tmp_path / "study.toml"), "--target", server.target, "--out", str(tmp_path / "run")]
    argv = [sys.executable, "-m", "howlate", *words]
    with subprocess.Popen(argv, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert until(lambda: any((folder / "cell-1/out/0/stream").exists() for folder in server.folders()))
        process.send_signal(signal.SIGINT)
        errors = process.communicate()[1]
    assert process.returncode == ExitCode.INCONCLUSIVE, errors
    assert b"To go on: howlate run" in errors
    assert f"--target={server.target}".encode() in errors
    assert not server.folders()
    done = howlate(*words)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "run" / "cells").glob("*/summary.json"))) == 1
