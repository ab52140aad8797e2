from pathlib import Path

import pytest

from howlate.errors import DamagedError
from howlate.lab.results import Results
from lab.made_results import encode_tree

TREE = {"0/status": b"0\n", "0/stream": b"\x00" * 1000}


class Runs:
    """Counts what is really run."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> bytes:
        self.count += 1
        return encode_tree(TREE)


def test_a_result_is_measured_once(tmp_path: Path) -> None:
    run = Runs()
    assert Results(tmp_path / "r").get("key", b"job", run) == TREE
    assert Results(tmp_path / "r").get("key", b"job", run) == TREE
    assert run.count == 1


def test_another_guest_or_job_is_another_result(tmp_path: Path) -> None:
    run, results = Runs(), Results(tmp_path)
    for key, job in (("a", b"job"), ("b", b"job"), ("a", b"job2")):
        results.get(key, job, run)
    assert run.count == 3


def test_no_cache_measures_again_and_keeps_it(tmp_path: Path) -> None:
    run = Runs()
    Results(tmp_path).get("key", b"job", run)
    Results(tmp_path, fresh=True).get("key", b"job", run)
    assert run.count == 2
    Results(tmp_path).get("key", b"job", run)
    assert run.count == 2


@pytest.mark.parametrize("at", [0, 40, 64, 65, 90, -1])
def test_a_damaged_result_is_noticed_and_made_again(tmp_path: Path, at: int) -> None:
    run = Runs()
    Results(tmp_path).get("key", b"job", run)
    (file,) = tmp_path.iterdir()
    data = bytearray(file.read_bytes())
    data[at] ^= 0x20
    file.write_bytes(data)
    assert Results(tmp_path).get("key", b"job", run) == TREE
    assert run.count == 2
    Results(tmp_path).get("key", b"job", run)
    assert run.count == 2


def test_a_result_that_is_cut_is_made_again(tmp_path: Path) -> None:
    run = Runs()
    Results(tmp_path).get("key", b"job", run)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-7])
    assert Results(tmp_path).get("key", b"job", run) == TREE


def test_what_cannot_be_read_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(DamagedError):
        Results(tmp_path).get("key", b"job", lambda: b"no tree")
    assert not list(tmp_path.iterdir())


def test_a_result_that_the_cache_cannot_take_is_given_and_said(tmp_path: Path) -> None:
    """It was measured, perhaps for hours, and the run folder may have room for it."""
    (tmp_path / "file").write_text("")
    said: list[str] = []
    assert Results(tmp_path / "file" / "r", say=said.append).get("key", b"job", Runs()) == TREE
    (sentence,) = said
    assert str(tmp_path / "file") in sentence
