"""What a command says before it measures, and of what cannot be measured or was measured already."""

import json
import re
import tempfile
from pathlib import Path

import pytest

import stand_in
from howlate import __main__ as entry
from howlate.measure import quiet
from made_study import study_text


def study_with(timer: str) -> str:
    return study_text(activations=100, timer=timer, axes={"load": ["none", "cpu:50"]})


class Howlate:
    """Runs a command in this process, with the stand-in as its probe."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *argv: str) -> tuple[int, str, str]:
        code = entry.main(list(argv))
        out, err = self._capfd.readouterr()
        return code, out, err


@pytest.fixture
def howlate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Howlate:
    probe = tmp_path / "probe"
    stand_in.put(probe)
    (tmp_path / "mine.toml").write_text(study_with("clock_nanosleep"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOWLATE_PROBE", str(probe))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return Howlate(capfd)


class BusyMachine:
    """Others always use a whole CPU; time passes only while it is slept."""

    tick_s = 0.01
    now_s = 0.0

    def look(self, tasks: bool) -> quiet.Look:
        BusyMachine.now_s += 0.4
        return quiet.Look(self.now_s, self.now_s * 2, 0.0, {(4711, "sh"): self.now_s} if tasks else {})

    def sleep(self, seconds: float) -> None:
        BusyMachine.now_s += seconds


def test_a_machine_that_stays_busy_is_measured_and_the_run_says_so(
    howlate: Howlate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOWLATE_QUIET_S", "3")
    monkeypatch.setattr(quiet, "ThisMachine", BusyMachine)
    code, _, err = howlate("run", "mine.toml", "--out", "r")
    assert code == 0
    assert "sh[4711] 100 %" in err
    warning = json.loads(Path("r/run.json").read_text())["statements"][-1]
    assert (warning["rule"], warning["values"]["limit_s"]) == ("quiet.not-quiet", 3)
    assert warning["values"]["busy"].startswith("200 %")
    assert warning["text"].partition(":")[0] in " ".join(howlate("show", "--all", "r")[1].split())


@pytest.mark.parametrize("option", [("--no-wait",), ("--set", "duration=1s", "--no-wait")])
def test_the_waiting_can_be_left_out(
    howlate: Howlate, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOWLATE_QUIET_S", "3")
    monkeypatch.setattr(quiet, "ThisMachine", BusyMachine)
    code, _out, err = howlate("run", "mine.toml", "--out", "r", *option)
    assert code == 0
    assert "waiting" not in err
    assert json.loads(Path("r/run.json").read_text())["warnings"] == []


def test_a_run_that_stands_already_says_that_nothing_was_measured(howlate: Howlate) -> None:
    assert howlate("run", "mine.toml", "--out", "r")[0] == 0
    code, out, err = howlate("run", "mine.toml", "--out", "r")
    assert code == 0
    assert "all 2 cells" in err
    assert "none" in out


def test_another_plan_is_refused_with_what_differs(howlate: Howlate) -> None:
    assert howlate("run", "mine.toml", "--out", "r")[0] == 0
    code, _out, err = howlate("run", "mine.toml", "--set", "activations=200", "--out", "r")
    assert code == 2
    assert "holds another plan (study mine): activations 100, now 200" in err
    code, _out, err = howlate("run", "mine.toml", "--set", "order.repetitions=3", "--out", "r")
    assert code == 2
    assert re.search(r"holds another plan.*\b1 .*, now 3", err)


def test_where_nothing_is_possible_nothing_is_written(
    howlate: Howlate, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fakes import LIST

    timers = {timer["name"]: timer for timer in LIST["timers"]}
    impossible = next((name for name, timer in timers.items() if not timer.get("available", True)), None)
    assert impossible is not None
    Path("mine.toml").write_text(study_with(impossible))
    code, out, err = howlate("run", "mine.toml", "--out", "r")
    assert code == 3
    assert "not possible here" in err
    assert out == ""
    assert not Path("r").exists()
    assert howlate("run", "mine.toml", "--json")[0] == 3
    assert not Path("runs").exists()


@pytest.mark.parametrize("name", ["/etc/passwd", "/dev/null", "."])
def test_what_is_no_run_folder_is_wrong_usage(howlate: Howlate, name: str) -> None:
    code, _out, err = howlate("show", name)
    assert code == 2
    assert "run.json" in err


def test_a_run_folder_that_lost_its_run_json_is_damaged(howlate: Howlate) -> None:
    Path("r/cells").mkdir(parents=True)
    assert howlate("show", "r")[0] == 4


def test_nobody_is_told_to_edit_a_measured_run(howlate: Howlate) -> None:
    assert howlate("run", "mine.toml", "--out", "r")[0] == 0
    Path("r/run.json").write_text("{}")
    code, _out, err = howlate("show", "r")
    assert code == 4
    assert 'the key "schema" is missing' in err
    assert "Add" not in err
    assert "Restore it from a copy" in err


def test_a_program_that_is_no_probe_is_named_with_a_remedy(
    howlate: Howlate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOWLATE_PROBE", "/bin/true")
    code, _out, err = howlate("run", "mine.toml", "--out", "r")
    assert code == 4
    assert "is not JSON" in err
    assert "Unset HOWLATE_PROBE (/bin/true)" in err
