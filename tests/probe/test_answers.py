"""Each test declares which of its columns answer "how late", and its page says the same."""

import re
from pathlib import Path

import pytest

from howlate.store.stream import StreamReader
from probe.drive import probe_list, run

DOCS = Path(__file__).parents[2] / "docs" / "tests"
WITHOUT = {"clock", "switch", "unmeasured"}
"""Tests that measure a cost or a duration, and no latency."""
QUESTIONS = {
    "syscall": ["user_ns", "syscall_ns"],
    "inversion": ["inherit_ns", "plain_ns"],
    "throttling": ["gap_ns"],
    "tasks": [],
    "slice": ["away_ns"],
    "shares": [],
    "sleeper": ["timer_ns", "pipe_ns"],
}
pytestmark = pytest.mark.beside


def declared(test: str) -> list[str]:
    (found,) = [each for each in probe_list()["tests"] if each["name"] == test]
    return [column["name"] for column in found["columns"] if column["answers"]]


def of_page(test: str) -> list[str]:
    """The columns that the page names in its paragraph about deadlines."""
    text = (DOCS / f"{test}.md").read_text(encoding="utf-8")
    told = re.findall(r"\*\*Judged\*\* (?:are|is) (.*?)\.(?:\s|$)", text, re.DOTALL)
    return [name for each in told for name in re.findall(r"`([a-z0-9_]+_ns)`", each)]


@pytest.mark.parametrize("test", [each["name"] for each in probe_list()["tests"]])
def test_the_probes_list_and_the_page_declare_the_same(test: str) -> None:
    columns = declared(test)
    assert (not columns) == (test in WITHOUT)
    if test == "scheduler":  # its list shows the columns of one question
        assert of_page(test) == [name for names in QUESTIONS.values() for name in names]
        assert columns == QUESTIONS["syscall"]
    else:
        assert of_page(test) == columns


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (["cyclic", "--activations", "3", "--policy", "other"], ["latency_ns", "response_ns"]),
        (["timer", "--points", "3", "--policy", "other"], ["delay_ns"]),
        (["clock", "--points", "3", "--policy", "other"], []),
    ],
)
def test_the_stream_says_it_of_each_of_its_tables(
    probe: Path, tmp_path: Path, words: list[str], columns: list[str]
) -> None:
    stream = tmp_path / "stream"
    done = run(*words, "--stream", stream)
    assert done.returncode == 0, done.stderr
    with StreamReader.open(stream) as reader:
        tables = [table for table in reader.header.raw["tables"] if table["name"] == "samples"]
    assert tables
    for table in tables:
        assert [column["name"] for column in table["columns"] if column["answers"]] == columns
