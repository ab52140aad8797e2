"""Settings files: where they are looked for, which of them counts, and what is told of a mistake."""

import os
import tracemalloc
from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.model.decode import parse_toml
from howlate.plan.defaults import set_by_files
from howlate.plan.settings import PROGRAM, Setting, decode_settings, over, places, read_settings
from lacks import needs_root
from sentences import values_of


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
    ("text", "values"),
    [
        ("[lab]\nseed = 1", {"file": "mine.toml, lab", "key": "seed", "name": "seeds"}),
        ("[lab]\nseeds = -1", {"key": "seeds", "given": "-1"}),
        ('[lab]\nseeds = "x"', {"key": "seeds", "given": "text"}),
        ('[targets]\ndefault = ""', {"key": "default", "given": "empty"}),
        ('[targets]\nother = "x"', {"key": "other", "names": ("default",)}),
        ('period = "1ms"', {"key": "period", "kind": "a table", "given": "text"}),
        ("[loads]\ncpu = 1", {"file": "mine.toml, loads", "key": "cpu", "given": "a whole number"}),
        ("[cyclic]\nperiod = {}", {"file": "mine.toml, cyclic", "key": "period", "given": "a table"}),
        ("lab = 1", {"file": "mine.toml", "key": "lab", "given": "a whole number"}),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, values: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        decode_settings(parse_toml(text, "mine.toml"))
    told = values_of(caught.value)
    assert values.items() <= told.items() and told["file"].startswith("mine.toml")
    assert caught.value.remedy


NOBODY = 65534


@needs_root
def test_a_file_of_another_user_is_not_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But that of whoever called sudo, and root's own."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    file = tmp_path / "howlate.toml"
    file.write_text("[lab]\nseeds = 3\n")
    files = [tmp_path / "settings.toml", file]
    assert read_settings(files).count("seeds") == 3
    os.chown(file, NOBODY, -1)
    with pytest.raises(UsageError) as caught:
        read_settings(files)
    assert caught.value.statement.rule == "settings.anothers" and str(file) in caught.value.message
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    assert read_settings(files).count("seeds") == 3


@needs_root
def test_a_link_of_another_user_and_a_file_of_everybody_are_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    own = tmp_path / "own.toml"
    own.write_text("[lab]\nseeds = 3\n")
    link = tmp_path / "howlate.toml"
    link.symlink_to(own)
    files = [tmp_path / "settings.toml", link]
    assert read_settings(files).count("seeds") == 3
    os.chown(link, NOBODY, -1, follow_symlinks=False)
    with pytest.raises(UsageError) as caught:
        read_settings(files)
    assert caught.value.statement.rule == "settings.anothers"
    os.chown(link, 0, -1, follow_symlinks=False)
    own.chmod(0o666)
    with pytest.raises(UsageError) as caught:
        read_settings(files)
    assert caught.value.statement.rule == "settings.anothers"


@pytest.mark.parametrize("key", ["a." * 20_000 + "a", '"a" . ' * 20_000 + "b", "[" + "a." * 20_000 + "a]\nb"])
def test_a_key_of_many_parts_is_refused_before_it_takes_memory(key: str) -> None:
    tracemalloc.start()
    with pytest.raises(UsageError) as caught:
        parse_toml(f"{key} = 1\n", "mine.toml")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.statement.rule == "decode.syntax" and most < 1 << 20
    assert parse_toml(f"x = '{'y' * 1_000_000}'\nv = '1.2.3'\n", "mine.toml").text("v") == "1.2.3"


def test_what_a_file_sets_is_told_with_its_name() -> None:
    """Not what the program's own does."""
    own = decode_settings(parse_toml("[lab]\nseeds = 8\n", PROGRAM))
    text = '[cyclic]\nperiod = "1ms"\n[loads.disk]\ndirectory = "/etc"\n[targets]\ndefault = "lab"\n'
    (told,) = set_by_files(over(own, decode_settings(parse_toml(text, "howlate.toml"))))
    assert told.rule == "plan.set-by-file"
    assert told.values["file"] == "howlate.toml"
    assert sorted(told.values["names"]) == ["cyclic.period", "loads.disk.directory", "targets.default"]
