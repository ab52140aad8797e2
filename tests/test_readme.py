"""The README: what it points at is there, and what it tells a newcomer to type is known."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from howlate.cli import howlate

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TYPED = sorted(set(re.findall(r"`?\./howlate ([a-z][^`\n#|]*)", README)))
PICTURE_BYTES = 150_000


@pytest.mark.parametrize("line", TYPED)
def test_every_command_is_known_with_its_options(line: str) -> None:
    command: click.Command = howlate
    words = line.split()
    with click.Context(howlate, info_name="howlate") as context:
        while isinstance(command, click.Group) and words:
            found = command.get_command(context, words[0])
            if found is None:
                break
            command, words = found, words[1:]
        assert command is not howlate, line
        if not command.context_settings.get("ignore_unknown_options"):  # those of the probe are its own
            known = {option for parameter in command.get_params(context) for option in parameter.opts}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line


def test_every_link_and_picture_is_there_and_the_picture_is_small() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in target]
    assert len(targets) > 20
    assert [target for target in targets if not (ROOT / target).exists()] == []
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures and all((ROOT / picture).stat().st_size < PICTURE_BYTES for picture in pictures)


def test_the_sample_of_the_first_screen_adds_up() -> None:
    """It has a row for each of the study's loads, whose misses are those of the verdict, and fits its place."""
    from howlate.studies import find_study

    sample = README.partition("    FAIL ")[2].partition("\nLinux 6.1")[0]
    rows = re.findall(r"^    [FP?] (\S+) .* ([0-9,]+)$", sample, re.MULTILINE)
    assert {name for name, _ in rows} == {*find_study("check").axes["load"]}
    missed = re.search(r"deadline \S+ us: ([0-9,]+) of", sample)
    assert missed and sum(int(misses.replace(",", "")) for _, misses in rows) == int(
        missed[1].replace(",", "")
    )
    lines = sample.splitlines()
    assert len(lines) <= 23 and all(len(line) <= 84 for line in lines)
