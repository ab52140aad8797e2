"""Settings files: where they are looked for, which of them counts, and what is told of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.model.decode import parse_toml
from howlate.model.settings import PROGRAM, Setting, decode_settings, places, read_settings


def test_they_are_read_in_turn_and_the_later_counts(tmp_path: Path) -> None:
    """As in the thesis: the program's folder, the user's, the working folder."""
    texts = {
        "settings.toml": '[cyclic]\nperiod = "1ms"\npolicy = "fifo:80"\n[lab]\nseeds = 8\n',
        "user.toml": '[cyclic]\nperiod = "2ms"\n[loads.cpu]\nnice = 10\n',
        "howlate.toml": '[lab]\nseeds = 3\njobs = 1\n[targets]\ndefault = "lab"\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in ("settings.toml", "user.toml", "absent.toml", "howlate.toml")]
    found = read_settings(files)
    assert found.tests["cyclic"] == {
        "period": Setting("2ms", str(tmp_path / "user.toml")),
        "policy": Setting("fifo:80", PROGRAM),
    }
    assert found.loads["cpu"]["nice"].value == "10"
    assert (found.count("seeds"), found.count("jobs"), found.target()) == (3, 1, "lab")
    assert read_settings([]).target() == "local"


@pytest.mark.parametrize(
    ("environment", "user"),
    [
        ({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/howlate/settings.toml"),
        ({"HOME": "/h"}, "/h/.config/howlate/settings.toml"),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, "/h/.config/howlate/settings.toml"),
        ({}, None),
    ],
)
def test_the_user_s_file_is_where_xdg_has_it(environment: dict[str, str], user: str | None) -> None:
    found = [str(path) for path in places(Path("/p"), environment, Path("/w"))]
    assert found == ["/p/settings.toml", *([user] if user else []), "/w/howlate.toml"]


@pytest.mark.parametrize(
    ("text", "sentence", "remedy"),
    [
        ("[lab]\nseed = 1", 'lab: unknown key "seed"', 'did you mean "seeds"?'),
        ("[lab]\nseeds = -1", "cannot be negative", ""),
        ('[lab]\nseeds = "x"', "must be a whole number", ""),
        ('[targets]\ndefault = ""', '"default" is empty', ""),
        ('[targets]\nother = "x"', 'unknown key "other"', ""),
        ('period = "1ms"', '"period" cannot be text', ""),
        ("[loads]\ncpu = 1", '"cpu" cannot be a whole number', ""),
        ("[cyclic]\nperiod = {}", '"period" cannot be a table', ""),
        ("lab = 1", "must be a table", ""),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, sentence: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        decode_settings(parse_toml(text, "mine.toml"))
    assert caught.value.message.startswith("mine.toml") and sentence in caught.value.message
    assert remedy in caught.value.remedy
