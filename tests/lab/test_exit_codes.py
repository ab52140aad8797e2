"""The table of docs/commands.md, "Exit codes": the situations that take guests of the lab."""

import subprocess
from pathlib import Path

import pytest

from cli.test_exit_codes import CODES, GUESTS
from howlate.system.paths import ROOT, probe_path
from lab.guests import RT, STANDARD, warm_cache
from made_study import study_text

STUDY = study_text(policy="fifo:80", period="1ms", dither=True, activations=40, load="memory-alloc:100")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "situation"), [(name, situation) for name, calls in GUESTS.items() for situation in calls]
)
def test_each_situation_has_its_code(
    name: str, situation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text(STUDY)
    monkeypatch.setenv("HOWLATE_CACHE", str(warm_cache(tmp_path / "cache", STANDARD, RT)))
    monkeypatch.setenv("HOWLATE_PROBE", str(probe_path()))
    codes = [
        subprocess.run([ROOT / "howlate", "--no-install", *words.split(" ")], cwd=tmp_path).returncode
        for words in GUESTS[name][situation].split(" && ")
    ]
    assert codes[-1] == CODES[situation]
