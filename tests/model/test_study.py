"""The decoder of studies: exact on what it knows, a sentence with file and place on everything else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.errors import HowlateError, UsageError
from howlate.model.decode import Table, parse_toml
from howlate.model.study import ORDERS, Order, Study, decode_study, read_study

HEAD = 'schema = 1\nid = "a"\ntitle = "t"\nquestion = "q"\ntest = "cyclic"\n'


def decode(text: str) -> Study:
    return decode_study(parse_toml(HEAD + text, "a.toml"))


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        decode(text)
    return f"{caught.value.message} | {caught.value.remedy}"


def test_numbers_become_their_spelling_on_the_command_line() -> None:
    study = decode('[settings]\nactivations = 1000\nperiod = "1ms"\ndither = true\n[axes]\nwork = [1, 2.5]\n')
    assert study.settings == {"activations": "1000", "period": "1ms", "dither": True}
    assert study.axes == {"work": ("1", "2.5")}


def test_order_and_exclude() -> None:
    study = decode(
        '[axes]\nload=["none","cpu:50"]\n[order]\nkind="random"\nseed=7\nrepetitions=3\n[[exclude]]\nload="none"\n'
    )
    assert study.order == Order("random", 7, 3)
    assert study.exclude == ({"load": ("none",)},)


def test_the_warm_up_of_an_older_study_is_read_and_ignored() -> None:
    assert decode("[scaled]\nwarm-up = 5\n") == decode("")


@pytest.mark.parametrize("lab", ["kernels = ['6.1']\ncpus = 2\n", "cpus = 2\n", "kernels = ['6.1']\n", ""])
def test_what_a_study_asks_of_the_lab_survives_run_json(lab: str) -> None:
    study = decode(f"[lab]\n{lab}")
    assert (study.kernels, study.cpus) == (("6.1",) if "6.1" in lab else (), 2 if "cpus" in lab else 0)
    assert Study.from_json(json.loads(json.dumps(study.to_json())), "run.json") == study


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[lab]\ncpus = 0\n", ["a.toml, lab", "cpus must be between 1 and ", "not 0"]),
        ('[lab]\ncpus = "2"\n', ['"cpus" must be a whole number']),
        ("[lab]\ncpu = 2\n", ['did you mean "cpus"']),
        ("[setings]\na = 1\n", ['unknown key "setings"', 'did you mean "settings"', "a.toml"]),
        ("[order]\nrepetition = 2\n", ["a.toml, order", 'did you mean "repetitions"']),
        ('[order]\nkind = "rnd"\n', ["a.toml, order", "blocked, interleaved or random"]),
        ('[order]\nseed = "7"\n', ['"seed" must be a whole number, not text']),
        ("[order]\nseed = true\n", ['"seed" must be a whole number, not true or false']),
        ("[order]\nrepetitions = 0\n", ["between 1 and 10000, not 0"]),
        ('[axes]\nload = "none"\n', ['"load" must be a list', "write load = [...]"]),
        ("[axes]\nload = []\n", ['"load" has no values']),
        ('[axes]\nload = ["none", "none"]\n', ['"load" names none twice']),
        ('[axes]\nload = [["none"]]\n', ["cannot be a list"]),
        ("[settings]\nperiod = { a = 1 }\n", ['"period" cannot be a table']),
        ('[settings]\nperiod = ""\n', ['"period" is empty']),
        ('[settings]\nload = "none"\n[axes]\nload = ["none"]\n', ["is a setting as well"]),
        (
            '[axes]\nload = ["none"]\n[[exclude]]\nlaod = "none"\n',
            ["a.toml, exclude[1]", 'did you mean "load"'],
        ),
        ('[axes]\nload = ["none"]\n[[exclude]]\n', ["an empty exclude"]),
        ("exclude = [1]\n", ['each of "exclude" must be a table']),
        ("[settings]\nperiod = 1ms\n", ["a.toml is not TOML", "line"]),
    ],
)
def test_refusals_name_file_place_and_remedy(text: str, parts: list[str]) -> None:
    said = refusal(text)
    for part in parts:
        assert part in said


def test_missing_and_foreign_heads() -> None:
    for text, part in [
        ('schema = 2\nid="a"\n', "does not know schema 2"),
        ('id = "a"\n', 'the key "schema" is missing'),
        (HEAD.replace('"a"', '"../a"'), "cannot name a folder"),
    ]:
        with pytest.raises(UsageError, match=part):
            decode_study(parse_toml(text, "a.toml"))


def test_unreadable_files_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "deep.toml").write_text("a=" + "[" * 5000)
    (tmp_path / "digits.toml").write_text("a=1" + "0" * 5000)
    os.mkfifo(tmp_path / "pipe.toml")
    with (tmp_path / "large.toml").open("wb") as large:
        large.truncate(1 << 40)
    for path, part in [
        (tmp_path / "deep.toml", "too long"),
        (tmp_path / "digits.toml", "too long"),
        (tmp_path / "pipe.toml", "not a regular file"),
        (tmp_path / "large.toml", "more than any of"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "no.toml", "does not exist"),
        (tmp_path / "latin.toml", "not UTF-8"),
        (tmp_path, "cannot be read"),
    ]:
        with pytest.raises(UsageError, match=part):
            read_study(path)


def test_whole_numbers_have_64_bits() -> None:
    table = Table({"n": 10**400}, "a.json")
    for read in (table.integer, table.real):
        with pytest.raises(UsageError, match="n"):
            read("n")


names = st.from_regex(r"[a-z][a-z-]{0,10}", fullmatch=True)
scalars = st.one_of(st.booleans(), st.text("abc:05.", min_size=1).filter(str.strip))
settings = st.dictionaries(
    names, st.one_of(scalars, st.lists(st.text("abc", min_size=1), max_size=3).map(tuple)), max_size=4
)
axes = st.dictionaries(names, st.lists(scalars, min_size=1, max_size=4, unique=True).map(tuple), max_size=3)


@given(settings, axes, st.sampled_from(ORDERS), st.integers(0, 2**62), st.integers(1, 9))
def test_a_study_survives_run_json(settings: Any, axes: Any, kind: str, seed: int, repetitions: int) -> None:
    settings = {k: v for k, v in settings.items() if k not in axes}
    study = Study("a", "t", "q", "cyclic", settings, axes, Order(kind, seed, repetitions))
    assert Study.from_json(json.loads(json.dumps(study.to_json())), "run.json") == study


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
known = st.sampled_from(["schema", "id", "title", "question", "test", "settings", "axes", "order", "exclude"])


@given(st.dictionaries(known, values), st.dictionaries(known, values))
def test_whatever_stands_there_is_a_study_or_a_sentence(one: dict[str, Any], two: dict[str, Any]) -> None:
    good = {"schema": 1, "id": "a", "title": "t", "question": "q", "test": "cyclic"}
    for value in (one, {**good, **two}):
        try:
            assert isinstance(decode_study(Table(value, "a.toml")), Study)
        except HowlateError as problem:
            assert problem.message.startswith("a.toml")


class Compared(str):
    """Counts how often one of them is compared with another."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Compared.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_an_axis_costs_as_much_as_it_has_values() -> None:
    """Each is compared with few others, so that a hundred thousand are read, and refused, at once."""
    values = [Compared(f"{100 + n}us") for n in range(5_000)]
    study = {
        "schema": 1,
        "id": "a",
        "title": "a",
        "question": "?",
        "test": "cyclic",
        "axes": {"period": values},
    }
    Compared.compared = 0
    assert len(decode_study(Table(study, "a.toml", "", UsageError)).axes["period"]) == 5_000
    assert Compared.compared < 5_000
    values[-1] = Compared("100us")
    with pytest.raises(UsageError, match="100us"):
        decode_study(Table(study, "a.toml", "", UsageError))
