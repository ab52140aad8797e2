"""Texts of a study of somebody else: no terminal obeys one, it stays on its line, and no page has it as markup, where
it is printed."""

import json
import re
from pathlib import Path

import pytest

from .commands import Run, Said

PLANTED = "PLANTED"
TEXT = f"t\x1b]0;x\x07\x1b[2J\x9b2J\u202egnp\u2066\x08\n{PLANTED}\r{PLANTED}\u2028{PLANTED}<b>"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
CALLS = (
    "studies show hostile.toml",
    "studies show hostile.toml --json",
    "run hostile.toml --dry-run",
    "run hostile.toml --no-wait --out r",
    "run hostile.toml --no-wait --out j --json",
    "run hostile.toml --emit-job job",
    "lab run hostile.toml --dry-run",
    "lab bisect hostile.toml",
    "lab prove hostile.toml",
    "reference audit hostile.toml",
)
OF_THE_RUN = (
    "show r",
    "show r --json",
    "show r --cells",
    "verdict r --deadline 1ms --junit out.xml --summary out.md",
    "compare r --by load",
    "history r",
    "query SELECT*FROM(cells)join(runs)using(run) r",
    "report r -o out.html",
    "doctor --run r",
    "why r",
)
STUDY = """
schema = 1
id = {id}
title = {title}
question = {question}
[[part]]
id = {part_id}
title = {part_title}
test = "cyclic"
[part.settings]
activations = 100
{setting} = {value}
[part.axes]
load = ["none", "cpu:50"]
{axis} = [{axis_value}]
"""
FIELDS = {
    "id": "mine",
    "title": "Mine",
    "question": "?",
    "part_id": "one",
    "part_title": "One",
    "setting": "policy",
    "value": "other",
    "axis": "period",
    "axis_value": "1ms",
}
"""Each is a string of TOML, of which JSON's are a part."""


def faults_of(said: Said, words: str) -> list[str]:
    wrong = OBEYED.findall(said.out + said.err)
    wrong += [line for line in (said.out + said.err).splitlines() if line.startswith(PLANTED)]
    wrong += ["fault"] if "fault in howlate" in said.err else []
    return [f"{words}: {wrong}: {said}"] if wrong else []


@pytest.mark.parametrize("place", FIELDS)
def test_a_text_of_a_study_is_inert_wherever_it_is_printed(howlate: Run, place: str) -> None:
    fields = {name: json.dumps(TEXT if name == place else text) for name, text in FIELDS.items()}
    Path("hostile.toml").write_text(STUDY.format(**fields).replace("\\/", "/"))
    faults = [fault for words in CALLS for fault in faults_of(howlate(*words.split()), words)]
    assert not faults
    printed = Path("r").exists()
    assert printed or place not in ("title", "question", "part_title")
    for words in OF_THE_RUN if printed else ():
        faults += faults_of(howlate(*words.split()), words)
    assert not faults
    files = [*Path().glob("out.*"), *Path("r").rglob("report.html"), *Path().glob("job/README.txt")]
    assert len(files) >= 4 or not printed
    for file in files:
        text = file.read_text()
        assert not OBEYED.search(text) and "gnp\\u2066\\x08<b>" not in text, file
        assert not re.search(rf"^{PLANTED}", text, re.MULTILINE), file
        assert file.suffix != ".html" or f"{PLANTED}<b>" not in text, file
