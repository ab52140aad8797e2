"""The decoder of studies: exact on what it knows, a sentence with file and place on everything else."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.errors import HowlateError, UsageError
from howlate.model.decode import NOT_REGULAR, Table, parse_toml
from howlate.model.study import ORDERS, Order, Study, decode_study, read_study
from sentences import values_of

HEAD = 'schema = 1\nid = "a"\ntitle = "t"\nquestion = "q"\ntest = "cyclic"\n'


def decode(text: str) -> Study:
    return decode_study(parse_toml(HEAD + text, "a.toml"))


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
    ("text", "values"),
    [
        ("[lab]\ncpus = 0\n", {"file": "a.toml, lab", "key": "cpus", "given": "0"}),
        ('[lab]\ncpus = "2"\n', {"key": "cpus", "kind": "a whole number"}),
        ("[lab]\ncpu = 2\n", {"key": "cpu", "name": "cpus"}),
        ("[setings]\na = 1\n", {"file": "a.toml", "key": "setings", "name": "settings"}),
        ("[order]\nrepetition = 2\n", {"file": "a.toml, order", "name": "repetitions"}),
        ('[order]\nkind = "rnd"\n', {"file": "a.toml, order", "key": "kind", "given": '"rnd"'}),
        ('[order]\nseed = "7"\n', {"key": "seed", "given": "text"}),
        ("[order]\nseed = true\n", {"key": "seed", "given": "true or false"}),
        ("[order]\nseed = -1\n", {"key": "seed", "given": "-1"}),
        ("[order]\nrepetitions = 0\n", {"key": "repetitions", "given": "0"}),
        ('[axes]\nload = "none"\n', {"key": "load", "given": "text", "example": "[...]"}),
        ("[axes]\nload = []\n", {"key": "load", "given": "empty"}),
        ('[axes]\nload = ["none", "none"]\n', {"what": "value of load", "name": "none"}),
        ('[axes]\nload = [["none"]]\n', {"key": "load", "given": "a list"}),
        ("[settings]\nperiod = { a = 1 }\n", {"key": "period", "given": "a table"}),
        ('[settings]\nperiod = ""\n', {"key": "period", "given": "empty"}),
        ('[settings]\nload = "none"\n[axes]\nload = ["none"]\n', {"file": "a.toml, axes", "key": "load"}),
        (
            '[axes]\nload = ["none"]\n[[exclude]]\nlaod = "none"\n',
            {"file": "a.toml, exclude[1]", "key": "laod", "name": "load"},
        ),
        ('[axes]\nload = ["none"]\n[[exclude]]\n', {"file": "a.toml, exclude[1]"}),
        ("exclude = [1]\n", {"key": "exclude", "given": "one with a whole number"}),
        ("[settings]\nperiod = 1ms\n", {"file": "a.toml", "format": "TOML"}),
    ],
)
def test_refusals_name_file_place_and_remedy(text: str, values: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        decode(text)
    assert values.items() <= values_of(caught.value).items()
    assert caught.value.remedy


def test_missing_and_foreign_heads() -> None:
    heads: list[tuple[str, dict[str, object]]] = [
        ('schema = 2\nid="a"\n', {"schema": 2}),
        ('id = "a"\n', {"key": "schema"}),
        (HEAD.replace('"a"', '"../a"'), {"key": "id", "given": '"../a"'}),
    ]
    for text, values in heads:
        with pytest.raises(UsageError) as caught:
            decode_study(parse_toml(text, "a.toml"))
        assert values.items() <= values_of(caught.value).items()


def test_unreadable_files_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "deep.toml").write_text("a=" + "[" * 5000)
    (tmp_path / "digits.toml").write_text("a=1" + "0" * 5000)
    os.mkfifo(tmp_path / "pipe.toml")
    with (tmp_path / "large.toml").open("wb") as large:
        large.truncate(1 << 40)
    for path, rule, reason in [
        (tmp_path / "deep.toml", "decode.syntax", "nested"),
        (tmp_path / "digits.toml", "decode.syntax", "18 digits"),
        (tmp_path / "pipe.toml", "decode.unreadable", NOT_REGULAR),
        (tmp_path / "large.toml", "decode.unreadable", f"{1 << 20} MiB"),
        (Path("/dev/zero"), "decode.unreadable", NOT_REGULAR),
        (tmp_path / "no.toml", "decode.no-file", ""),
        (tmp_path / "latin.toml", "decode.unreadable", "UTF-8"),
        (tmp_path, "decode.unreadable", os.strerror(errno.EISDIR)),
    ]:
        with pytest.raises(UsageError) as caught:
            read_study(path)
        assert caught.value.statement.rule == rule
        assert reason in caught.value.statement.values.get("reason", "")


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
