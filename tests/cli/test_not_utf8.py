"""Names that are not UTF-8: refused before anything is measured or read, and worked with from within."""

import os
from pathlib import Path

import pytest

from hostile.harness import COMMAND_LINES, words_of
from verdict.test_command import SAMPLES, measured

from .commands import STUDY, Run, is_a_sentence

MANY = ("history", "query", "query samples")
"""They name the run, and go on without it."""
NAME = os.fsdecode(b"r\xffn")


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_a_run_below_such_a_name_is_refused_and_read_from_within(howlate: Run, command: str) -> None:
    measured(Path("run"), "200us", none=SAMPLES)
    Path("run").rename(NAME)
    refused = howlate(*[NAME if word == "run" else word for word in words_of(command)])
    assert refused.code == (4 if command in MANY else 2)
    assert "is not UTF-8" in refused.err and "fault in howlate" not in refused.err
    os.chdir(NAME)
    within = howlate(*["." if word == "run" else word for word in words_of(command)])
    assert "is not UTF-8" not in within.err and "fault in howlate" not in within.err


@pytest.mark.parametrize(
    "words", [("run", "mine.toml", "--no-wait", "--out", NAME), ("check", "--duration", "1s", "--out", NAME)]
)
def test_nothing_is_measured_into_such_a_name(howlate: Run, words: tuple[str, ...]) -> None:
    Path("mine.toml").write_text(STUDY)
    refused = howlate(*words)
    assert refused.code == 2 and is_a_sentence(refused.err)
    assert not Path(NAME).exists()


@pytest.mark.parametrize("form", ["csv", "parquet", "perfetto", "text3"])
def test_an_output_of_such_a_name_is_written_or_refused(howlate: Run, form: str) -> None:
    measured(Path("run"), "200us", none=SAMPLES)
    done = howlate("export", "run", "--format", form, "-o", f"{NAME}.out")
    assert "fault in howlate" not in done.err
    assert (done.code == 0) == any(NAME in path.name for path in Path().iterdir())
