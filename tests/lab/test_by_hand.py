"""A job that another machine ran: a guest, whose kernel, CPUs and facts are not this machine's."""

import json
import sys
from pathlib import Path

from howlate.store.run_folder import RunFolder
from lab.guests import LIMITS, RT, bench
from made_study import study_text
from processes import completed

STUDY = study_text("tiny", activations=100, record="memory", axes={"timer": ["clock_nanosleep", "setitimer"]})


def howlate(folder: Path, *words: str) -> str:
    argv = [sys.executable, "-m", "howlate", *words]
    done = completed(argv, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_job_of_a_guest_becomes_the_guests_run(tmp_path: Path, booted: Path) -> None:
    """The machine is known by the job's own first line, and nothing of this machine is in the run."""
    (tmp_path / "tiny.toml").write_text(STUDY)
    howlate(tmp_path, "run", "tiny.toml", "--emit-job", "j")
    job = tmp_path / "j"
    words = [json.loads(line) for line in (job / "cells.job").read_text().splitlines()]
    for number, line in enumerate(
        bench(tmp_path / "cache", RT, snapshots=booted).run(words, LIMITS, lambda _: None)
    ):
        place = job / "results" / str(number)
        place.mkdir(parents=True)
        files = {"status": line.status.encode(), "stdout": line.stdout, "stderr": line.stderr, **line.files}
        for name, data in files.items():
            (place / name).write_bytes(data)
    assert howlate(tmp_path, "import", "j", "--out", "r").split()[-1] == "r"
    folder = RunFolder.open(tmp_path / "r")
    run, summaries = folder.read_run(), folder.summaries()
    release = run.facts["values"]["kernel.release"]
    assert "-rt-" in release and run.facts["values"]["cpu.online"] == "0"
    assert [s.labels["kernel"] for s in summaries] == [release] * 2
    assert [s.labels["timer"] for s in summaries] == ["clock_nanosleep", "setitimer"]
    assert all(s.accounting.recorded == 100 and s.labels["policy"] == "fifo:80" for s in summaries)
    assert any(f["check"] == "preemption" and f["level"] == "ok" for f in run.findings)
