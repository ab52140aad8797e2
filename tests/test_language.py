"""The languages: what is said in them, what never is, and that no text is lost on the way."""

from __future__ import annotations

import gettext
import importlib.util
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO, StringIO
from pathlib import Path
from types import ModuleType

import click
import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from rich.cells import cell_len
from rich.console import Console

from howlate import doctor, language
from howlate.catalogue import FIELD, Catalogue, entries
from howlate.cli._language import CLICKS_OWN
from howlate.model.facts import Facts
from howlate.report.findings_terminal import print_findings
from howlate.report.html import SCRIPT_SAYS, asset, render
from howlate.report.terminal import print_cells
from howlate.report.text import wrapped
from howlate.store.files import write_json
from howlate.store.run_folder import BINS, CELL, RunFolder, write_summary
from made_runs import FACTS, five_cells, made_run

ROOT = Path(__file__).parents[1]
OTHERS = ("de", "ja")
ENGLISH = re.compile(r"\b(the|is|are|of|was|were|which|that)\b")


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    language.speak(language.SOURCE)


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """tools/catalogue.py."""
    spec = importlib.util.spec_from_file_location("catalogue_tool", ROOT / "tools" / "catalogue.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["catalogue_tool"] = module
    spec.loader.exec_module(module)
    return module


def howlate(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {
        name: its
        for name, its in os.environ.items()
        if name not in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    }
    own |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", **environment}
    words = [sys.executable, "-m", "howlate", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=own, check=False)


def path_of(name: str) -> Path:
    return language.FOLDER / name / "LC_MESSAGES" / "howlate.po"


def run_folder(folder: Path) -> Path:
    """Of made cells, with the findings of the made machine as a run stores them: in English."""
    findings = tuple(its.to_json() for its in doctor.examine(Facts.from_json(FACTS)))
    cells = [
        (replace(s, warnings=("the measuring thread failed before its end.",)), b)
        for s, b in five_cells(2000)
    ]
    content = made_run(cells, findings=findings)
    run = RunFolder.create(folder, content.run)
    for cell in content.cells:
        part = run.start_cell(cell.summary.id)
        write_json(part / CELL, {"header": {}, "trailer": {}})
        write_json(part / BINS, {"schema": 1})
        write_summary(part, cell.summary)
        run.finish_cell(cell.summary.id)
    return folder


# --- Which language ---


@pytest.mark.parametrize(
    ("environment", "spoken"),
    [
        ({}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "de_AT@euro"}, "de"),
        ({"LC_ALL": "ja_JP.eucJP", "LANG": "de_DE.UTF-8"}, "ja"),
        ({"LC_ALL": "C.UTF-8", "LANGUAGE": "de"}, "en"),
        ({"LC_ALL": "C", "LANG": "de_DE"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LANGUAGE": "xx:ja:de"}, "ja"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "en:de"}, "en"),
    ],
)
def test_the_locale_chooses_as_gettext_reads_it(environment: Mapping[str, str], spoken: str) -> None:
    assert language.of_locale(environment) == spoken


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["--lang", "de", "show"], "de"),
        (["show", "--lang=ja", "x"], "ja"),
        (["show", "x"], None),
        (["probe", "cyclic", "--lang", "de"], None),
        (["--lang", "de", "probe", "--lang", "ja"], "de"),
        (["show", "--", "--lang", "de"], None),
    ],
)
def test_lang_may_stand_anywhere_but_behind_the_probe(arguments: list[str], asked: str | None) -> None:
    assert language.of_arguments(arguments) == asked


def test_an_unknown_language_is_a_usage_error_and_an_unknown_locale_is_english() -> None:
    done = howlate("--lang", "xx", "studies")
    assert done.returncode == 2
    assert done.stderr == 'howlate: the language "xx" is not spoken here. Known are: en, de, ja.\n'
    assert howlate("--help", LANG="xx_YY.UTF-8").stdout == howlate("--help").stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [("de", ("Aufruf:", "Optionen:", "Beispiel: ")), ("ja", ("使い方:", "オプション:", "例: "))],
)
@pytest.mark.parametrize("command", [(), ("run",), ("lab", "run"), ("reference", "audit")])
def test_help_is_in_the_language(command: tuple[str, ...], name: str, words: tuple[str, ...]) -> None:
    done = howlate(*command, "--help", "--lang", name)
    assert done.returncode == 0
    assert all(word in done.stdout for word in words)
    assert howlate(*command, "--help", LANG=f"{name}_XX.UTF-8").stdout == done.stdout


@pytest.mark.parametrize(
    ("arguments", "german"),
    [
        (("shwo",), 'howlate: "shwo" ist kein Befehl. War "show" gemeint?\n'),
        (
            ("check", "--secnds", "3"),
            'howlate: es gibt keine Option "--secnds". War "--seconds" gemeint? `howlate check --help` zeigt, wie.\n',
        ),
        (
            ("lab", "run", "mine.toml", "--sedes", "3"),
            'howlate: es gibt keine Option "--sedes". War "--seeds" gemeint? `howlate lab run --help` zeigt, wie.\n',
        ),
        (
            ("check", "--seconds", "3", "--long"),
            "howlate: --seconds und --long schließen einander aus. Eines von beiden angeben.\n",
        ),
    ],
)
def test_errors_have_their_remedy_and_their_code_in_every_language(
    arguments: tuple[str, ...], german: str
) -> None:
    done = howlate("--lang", "de", *arguments)
    assert done.stderr == german
    assert done.returncode == howlate(*arguments).returncode


# --- What never is ---


def test_json_and_what_is_stored_are_the_same_bytes_in_every_language(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    for command in (("show", run), ("compare", run, "--by", "load"), ("doctor", "--run", run), ("studies",)):
        said = {name: howlate("--lang", name, *command, "--json") for name in language.languages()}
        assert {its.returncode for its in said.values()} == {0}
        assert len({its.stdout for its in said.values()}) == 1
        json.loads(said["ja"].stdout)


def test_a_stored_run_is_shown_and_compared_in_the_readers_language(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    english = howlate("show", run).stdout
    assert (
        "What makes this machine late:\nFound by `howlate doctor` in the state of the machine, not in the samples."
        in english
    )
    assert "failed before its end" in english
    for name, words in (
        ("de", ("Was diese Maschine verzögert:", "scheiterte vor seinem Ende")),
        ("ja", ("このマシンを遅らせる要因:",)),
    ):
        shown = howlate("--lang", name, "show", run)
        assert all(word in shown.stdout for word in words), shown.stderr
        assert sorted(re.findall(r"\d+\.\d", shown.stdout)) == sorted(
            re.findall(r"\d+\.\d", english)
        )  # numbers stay
        compared = howlate("--lang", name, "compare", run, "--by", "load")
        assert compared.returncode == 0 and compared.stdout != howlate("compare", run, "--by", "load").stdout


def test_english_is_spoken_where_it_is_asked_for_and_nowhere_else() -> None:
    language.speak("de")
    with language.english():
        assert language._("Options") == "Options" and language.spoken() == "en"
    assert language._("Options") == "Optionen" and language.spoken() == "de"


# --- Catalogues ---


@pytest.mark.parametrize("name", OTHERS)
def test_a_translation_has_the_fields_of_its_text(name: str) -> None:
    for entry in entries(path_of(name).read_text(encoding="utf-8")):
        if entry.text:
            wanted = set(FIELD.findall(entry.plural or entry.text))
            assert all(set(FIELD.findall(form)) == wanted for form in entry.forms if form), entry.text


@pytest.mark.parametrize("name", OTHERS)
def test_a_catalogue_reads_as_the_tools_read_it(name: str) -> None:
    with path_of(name).open("rb") as file:
        compiled = BytesIO()
        write_mo(compiled, read_po(file, locale=name))
    compiled.seek(0)
    theirs, ours = gettext.GNUTranslations(compiled), Catalogue.read(name)
    for entry in entries(path_of(name).read_text(encoding="utf-8")):
        if entry.plural:
            for count in (0, 1, 2, 5):
                theirs_ = theirs.ngettext(entry.text, entry.plural, count)
                assert ours.plural(entry.text, entry.plural, count) == theirs_
        elif entry.text:
            assert ours.message(entry.text) == theirs.gettext(entry.text)


def test_what_is_missing_or_doubtful_is_english_and_counted(
    tmp_path: Path, tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    messages = {"one cell": "eine Zelle", "missing": "", "doubtful": "zweifelhaft", "{count} of {many}": ""}
    messages["{count} of {many}"] = "{count} von {many}"
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    blocks = [f'msgid "{text}"\nmsgstr "{said}"\n' for text, said in messages.items()]
    blocks[2] = f"#, fuzzy\n{blocks[2]}"
    (folder / "howlate.po").write_text("\n".join([head, *blocks]), encoding="utf-8")
    catalogue = Catalogue.read("de", tmp_path)
    assert [catalogue.message(text) for text in messages] == [
        "eine Zelle",
        "missing",
        "doubtful",
        "{count} von {many}",
    ]
    monkeypatch.setattr(tool, "LOCALE", tmp_path)
    assert tool.missing_and_doubtful("de") == (1, 1, 4)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "extract", lambda: [tool.Found(text, "x.py") for text in messages])
    assert tool.check() == 0
    assert "1 of 4 translations missing, 1 doubtful" in capsys.readouterr().out
    monkeypatch.setattr(tool, "extract", lambda: [tool.Found("another", "x.py")])
    assert tool.check() == 1
    monkeypatch.setattr(tool, "extract", lambda: [tool.Found(text, "x.py") for text in messages])
    wrong = (folder / "howlate.po").read_text(encoding="utf-8").replace("{count} von", "{anzahl} von")
    (folder / "howlate.po").write_text(wrong, encoding="utf-8")
    assert tool.check() == 1
    assert "other fields than the source" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f():\n    return _(f'{x} cells')\n", "an f-string inside"),
        ("A = _('cells')\n", "runs when the module is imported"),
        ("def f():\n    return _('{count} cells').format(cells=1)\n", "is filled with"),
    ],
)
def test_a_text_that_could_not_be_translated_is_refused(
    tmp_path: Path, tool: ModuleType, monkeypatch: pytest.MonkeyPatch, source: str, said: str
) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "made.py").write_text(source)
    monkeypatch.setattr(tool, "PACKAGE", tmp_path)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match=said):
        tool.extract()


def test_an_errors_sentence_is_found_with_its_values_by_name(
    tmp_path: Path, tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    made = 'raise UsageError(f"{path} has no {its.name!r}, and {len(path)} more", "take another")\n'
    (tmp_path / "store" / "made.py").write_text(made)
    monkeypatch.setattr(tool, "PACKAGE", tmp_path)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert [its.text for its in tool.extract()][:2] == [
        "{path} has no {name}, and {path2} more",
        "take another",
    ]


@pytest.mark.parametrize("name", OTHERS)
def test_findings_of_the_doctor_are_retold(name: str) -> None:
    catalogue = Catalogue.read(name)
    assert sum(catalogue.retold(check.why) != check.why for check in doctor.checks()) > 20
    findings = [its for its in doctor.examine(Facts.from_json(FACTS)) if its.level in ("late", "note")]
    said = [StringIO(), StringIO()]
    print_findings(Console(file=said[0], width=100), findings, levels=("late", "note"))
    language.speak(name)
    print_findings(Console(file=said[1], width=100), findings, levels=("late", "note"))
    titles = [catalogue.retold(its.title) for its in findings]
    assert findings and all(f": {title}:" in " ".join(said[1].getvalue().split()) for title in titles)
    commands = [re.findall("`[^`]*`", " ".join(its.getvalue().split())) for its in said]
    assert sorted(commands[0]) == sorted(commands[1])


def test_values_are_kept_when_a_sentence_is_retold() -> None:
    catalogue = Catalogue.read("de")
    assert catalogue.retold("the way out of C6 takes up to 133 us") == "der Weg aus C6 dauert bis zu 133 us"
    assert (
        catalogue.retold('a.toml, axes: unknown key "laod"') == 'a.toml, axes: unbekannter Schlüssel "laod"'
    )
    assert (
        catalogue.retold("a guest of KVM (guest halt polling 7 ns)")
        == "ein Gast von KVM (Halt-Polling des Gasts 7 ns)"
    )
    assert catalogue.retold("nothing that howlate ever says") == "nothing that howlate ever says"


def test_what_a_guest_left_on_its_console_is_told_line_by_line() -> None:
    """Looked through as one sentence, which no template made, eight such lines took half a minute."""
    line = "[ {0:3}.000001] [ 754{0}]  tsc: mask: 0xffffffff max_cycles: 0x{0:x}, max_idle: 440795310528 ns (1, {0})"
    console = [line.format(number) for number in range(100)]
    said = Catalogue.read("de").retold("\n".join(["the way out of C6 takes up to 133 us", *console]))
    assert said.splitlines() == ["der Weg aus C6 dauert bis zu 133 us", *console]
    data = "{}: " + ", ".join(console)
    assert Catalogue.read("de").retold(data) == data


def test_long_lines_are_not_taken_apart() -> None:
    """To look for a known piece between each two joints of a long line takes minutes."""
    catalogue = Catalogue.read("de")
    known = "there is no module, and: the guest failed; "
    assert catalogue.retold(known * 40) == known * 40
    asked = []
    catalogue._whole = lambda sentence: asked.append(sentence)  # type: ignore[method-assign]
    catalogue.retold("nobody made this, or that: none; " * 40)
    assert len(asked) == 2  # as a whole, and as what stands around "and"


def test_what_click_says_is_what_click_says() -> None:
    folder = Path(click.__file__).parent
    source = " ".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    plain = re.sub(r'"\s*\n?\s*"', "", source)
    assert [text for text in CLICKS_OWN if f'"{text}"' not in plain and f"'{text}'" not in plain] == []


# --- Pages and terminals ---


class Texts(HTMLParser):
    """What a reader sees of a page, code left out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside += tag in ("style", "script", "code")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in ("style", "script", "code")

    def handle_data(self, data: str) -> None:
        if not self._inside and data.strip():
            self.found.append(data.strip())


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_translated_is_said_on_the_page(name: str) -> None:
    findings = tuple(
        its.to_json() for its in doctor.examine(Facts.from_json(FACTS)) if its.level != "unknown"
    )
    content = made_run(five_cells(2000), findings=findings)
    language.speak(name)
    page, texts = render([content]), Texts()
    assert f'<html lang="{name}">' in page
    texts.feed(page)
    catalogue = Catalogue.read(name)
    assert [text for text in texts.found if ENGLISH.search(text) and catalogue.retold(text) != text] == []
    assert len([text for text in texts.found if ENGLISH.search(text)]) < len(texts.found) / 50


def test_the_script_has_its_words_from_the_page() -> None:
    asked = set(re.findall(r'said\("([^"]+)"', asset("page.js")))
    assert asked == set(SCRIPT_SAYS)
    assert 'id="words"' not in render([made_run(five_cells(500)[:1])])
    language.speak("ja")
    page = render([made_run(five_cells(500)[:1])])
    found = re.search(r'<script type="application/json" id="words">(.*?)</script>', page)
    assert found is not None and set(json.loads(found[1])) == set(SCRIPT_SAYS)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_japanese_tables_are_aligned_by_what_is_seen(width: int) -> None:
    language.speak("ja")
    out = StringIO()
    print_cells(Console(file=out, width=width), [summary for summary, _bins in five_cells(2000)])
    lines = out.getvalue().splitlines()
    rows = [line for line in lines if re.match(r"(none|cpu|disk|memory|hackbench)\S* .*\d$", line)]
    tables = [rows[i : i + 5] for i in range(0, len(rows), 5)]
    assert tables and all(len({cell_len(line) for line in table}) == 1 for table in tables)
    assert all(cell_len(line) <= width for line in lines)


def test_lines_are_wrapped_by_what_is_seen_and_lose_nothing() -> None:
    english = "A CPU that sleeps deeply takes this long to be there again, before the first instruction."
    assert wrapped(english, 30) == textwrap.wrap(english, 30)
    japanese = "深くスリープした CPU は、タイマ割り込みの最初の命令を実行する前に、復帰にこれだけの時間がかかります。"
    lines = wrapped(japanese, 30)
    assert all(cell_len(line) <= 32 for line in lines) and len(lines) > 3
    assert not any(line[0] in "、。" for line in lines)
    assert "".join(lines).replace(" ", "") == japanese.replace(" ", "")
