import signal
import tempfile
from pathlib import Path

import pytest

import stand_in
from cli.commands import STUDY, Run, Said
from howlate import __main__ as entry


@pytest.fixture
def howlate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process, in an empty working folder, with the stand-in as its probe."""
    probe = tmp_path / "probe"
    stand_in.put(probe)
    work = tmp_path / "work"
    work.mkdir()
    (work / "mine.toml").write_text(STUDY)
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOWLATE_PROBE", str(probe))
    monkeypatch.setenv("HOWLATE_CACHE", str(tmp_path / "cache"))  # `lab clean` empties it
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # No thread of the database is in the way of what the stand-in makes up, and to open it takes 30 ms.
    monkeypatch.setattr("howlate.store.duck.close_idle", lambda: None)

    def run(*argv: str | Path, stand_in: str = "") -> Said:
        monkeypatch.setenv("STAND_IN", stand_in)
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        code = entry.main([str(word) for word in argv])
        for number, handler in before.items():
            signal.signal(number, handler)
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Said(code, out, err)

    return run
