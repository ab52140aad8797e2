"""The languages: what is said in them, what never is, and that no text is lost on the way."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from house_tools import tool
from howlate import doctor
from howlate.document.html import SCRIPT_SAYS, asset, render
from howlate.document.text import wrapped
from howlate.model.facts import Facts
from howlate.model.loaded import RunContent
from howlate.statistics.groups import VIRTUAL_TIME
from howlate.statistics.phrases import SIDE_AT
from howlate.store.files import write_json
from howlate.store.run_folder import CELL, RunFolder, write_summary
from howlate.words import language
from howlate.words.language import CatalogueError
from howlate.words.rooms import modules_of_results
from howlate.words.say import SPAN, english, say, text_of, to_json, without_spans
from howlate.words.statement import Capitalised, Caption, Listed, Statement
from made_points import made_points, virtual_run
from made_runs import FACTS, five_cells, made_run
from printed import print_cells

ROOT = Path(__file__).parents[1]
LANG = tool("lang")
OTHERS = ("de", "ja")
ENGLISH = re.compile(r"\b(the|is|are|of|were|which|that)\b")  # "was" is German, too


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    language.speak(language.SOURCE)


def howlate(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    }
    own |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", **environment}
    words = [sys.executable, "-m", "howlate", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=own, check=False)


def run_folder(folder: Path) -> Path:
    """Of made cells, with the findings of the made machine as a run stores them: in English."""
    findings = tuple(its.to_json() for its in doctor.examine(Facts.from_json(FACTS)))
    cells = [
        (replace(s, warnings=(Statement.verbatim("the measuring thread failed before its end."),)), b)
        for s, b in five_cells(2000)
    ]
    content = made_run(cells, findings=findings)
    run = RunFolder.create(folder, content.run)
    for cell in content.cells:
        part = run.start_cell(cell.summary.id)
        write_json(part / CELL, {"header": {}, "trailer": {}})
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
    assert '"xx"' in done.stderr and done.stderr.endswith(" de, en, ja.\n")
    assert howlate("--help", LANG="xx_YY.UTF-8").stdout == howlate("--help").stdout


# --- What never is ---


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("shwo",), ("check", "--secnds", "3")])
def test_help_and_errors_are_english_in_every_language(arguments: tuple[str, ...]) -> None:
    english, german = howlate(*arguments), howlate(*arguments, LANG="de_DE.UTF-8")
    assert german.returncode == english.returncode
    assert (german.stdout, german.stderr) == (english.stdout, english.stderr)


@pytest.mark.parametrize("name", OTHERS)
def test_what_the_doctor_prints_is_english_in_every_language(name: str, tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    english, spoken = (howlate("--lang", lang, "doctor", "--run", run, "--all") for lang in ("en", name))
    assert "worth knowing" in english.stdout or "makes it late" in english.stdout
    assert spoken.stdout == english.stdout


def test_json_and_what_is_stored_are_the_same_bytes_in_every_language(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    for command in (("show", run), ("compare", run, "--by", "load"), ("doctor", "--run", run), ("studies",)):
        said = {name: howlate("--lang", name, *command, "--json") for name in language.languages()}
        assert {its.returncode for its in said.values()} == {0}
        assert len({its.stdout for its in said.values()}) == 1
        json.loads(said["ja"].stdout)


FAILED = "failed before its end"


def test_a_stored_run_is_shown_and_compared_in_the_readers_language(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    english = howlate("show", run, "--all").stdout
    assert "this machine late:\nFound by `howlate doctor`" in english
    assert FAILED in english
    for name, word, heading in (
        ("de", "Aufwachlatenz", "Was diese Maschine verzögert:"),
        ("ja", "起床レイテンシ", "このマシンを遅らせる要因:"),
    ):
        shown = howlate("--lang", name, "show", run, "--all")
        assert word in shown.stdout, shown.stderr
        assert heading in shown.stdout
        assert f"measuring thread {FAILED}" in shown.stdout  # a text alone stays as it is
        assert sorted(re.findall(r"\d+\.\d", shown.stdout)) == sorted(
            re.findall(r"\d+\.\d", english)
        )  # numbers stay
        compared = howlate("--lang", name, "compare", run, "--by", "load")
        assert compared.returncode == 0 and compared.stdout != howlate("compare", run, "--by", "load").stdout


def test_english_is_spoken_where_it_is_asked_for_and_nowhere_else() -> None:
    language.speak("de")
    with language.english():
        assert language._("kernel") and language.spoken() == "en"
    assert language.spoken() == "de"


# --- Catalogues ---


def test_only_modules_of_results_mark_texts() -> None:
    """Nothing extracts the texts of others: a mark there would promise a translation that never comes."""
    sources = ROOT / "src" / "howlate"
    extracted = {Path(module.__file__) for module in modules_of_results() if module.__file__}
    marking = {
        path
        for path in sources.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == language.__name__
        if {"_", "N_", "ngettext"} & {name.name for name in node.names}
    }
    assert len(marking & extracted) > 10
    assert sorted(marking - extracted) == []


def test_no_text_to_translate_stands_within_another() -> None:
    """Python before 3.12 does not see it there, so that the catalogues would depend on who makes them."""
    found = [
        f"{path.name}:{call.lineno}"
        for path in sorted((ROOT / "src" / "howlate").rglob("*.py"))
        for text in ast.walk(ast.parse(path.read_text()))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "_"
        and call.args
        and isinstance(call.args[0], ast.Constant)
    ]
    assert found == []


def test_charts_know_no_language() -> None:
    """They give captions; the renderers write them."""
    package = ROOT / "src" / "howlate"
    for path in (*package.rglob("charts/*.py"), *package.rglob("figures/*.py"), *package.rglob("chart.py")):
        assert "words.language" not in path.read_text(encoding="utf-8"), path.name


def test_a_caption_is_written_in_the_language_of_what_it_stands_in() -> None:
    caption = Capitalised(Caption("largest"))
    language.speak("de")
    assert text_of(Listed((caption, "", Caption("max {largest}", largest="1 s")))) == "Größter, max 1 s"
    statement = SIDE_AT(side=Caption("Wake-up latency"), where="pi")
    assert say(statement) == "Aufwachlatenz (pi)" and english(statement) == "Wake-up latency (pi)"
    assert to_json(statement)["values"]["side"] == "Wake-up latency"


def messages_of(name: str) -> list[Message]:
    """All messages of a catalogue, its head left out."""
    with language.path_of(name).open("rb") as file:
        return [message for message in read_po(file, locale=name, abort_invalid=True) if message.id]


@pytest.mark.parametrize("name", OTHERS)
def test_a_translation_has_the_fields_of_its_text(name: str) -> None:
    """With their quantities. A form for one may leave the count out, as in English."""
    for message in messages_of(name):
        one, forms = LANG.fields_of(LANG.forms_of(message.id)[0]), LANG.forms_of(message.string)
        wanted = LANG.fields_of(message.id)
        assert not LANG.is_wrong(message), message.id
        assert not any(forms) or all(one <= LANG.fields_of(form) <= wanted for form in forms), message.id


@pytest.mark.parametrize("name", OTHERS)
def test_a_span_whose_ends_are_written_alike_is_one_value(name: str) -> None:
    """In English, and in the words of each language."""
    spans = 0
    for message in messages_of(name):
        text, form = (LANG.forms_of(each)[-1] for each in (message.id, message.string))
        of_text, of_form = (len(SPAN.findall(template)) for template in (text, form))
        assert of_form >= of_text, form
        spans += of_text
        one = without_spans(form, lambda _end: "x")
        assert one.count("{") == form.count("{") - of_form
        assert not of_form or not re.search(r"まで|から|\bbis\b|\breicht\b.* von \{", one), one
        assert without_spans(form, lambda end: end) == form
    assert spans > 15
    assert without_spans("from {a} to {b}", lambda _end: "x") == "of {a}"


@pytest.fixture
def translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the catalogues, and the German one's path."""
    shutil.copytree(language.FOLDER, tmp_path / "locale")
    monkeypatch.setattr(language, "FOLDER", tmp_path / "locale")
    return language.path_of("de")


ONE_TEXT = re.compile(r'msgid "(?P<text>No cell of .*)"\nmsgstr ".*"')


@pytest.mark.parametrize(
    ("entry", "code", "said"),
    [
        (r'msgid "\g<text>"\nmsgstr ""', 0, "de: {missing} of"),
        (r'msgid "\g<text>"\nmsgstr "{other}"', 1, "de: fuzzy or wrong: "),
        (r'#, fuzzy\nmsgid "\g<text>"\nmsgstr "\g<text>"', 1, "de: fuzzy or wrong: "),
        (r'msgid "\g<text>!"\nmsgstr "\g<text>"', 1, "de: not in step"),
    ],
)
def test_a_missing_translation_is_counted_and_a_fuzzy_or_wrong_one_fails(
    translated: Path, capsys: pytest.CaptureFixture[str], entry: str, code: int, said: str
) -> None:
    before = sum(map(LANG.is_missing, messages_of("de")))
    translated.write_bytes(
        ONE_TEXT.sub(entry, translated.read_text(encoding="utf-8"), count=1).encode("utf-8")
    )
    assert LANG.main(["check"]) == code
    assert said.format(missing=before + 1) in capsys.readouterr().out


def test_a_reworded_rule_keeps_its_translation_where_that_is_asked_for(translated: Path) -> None:
    whole = translated.read_bytes()
    some = [message.context for message in messages_of("de") if message.context][:40]
    reworded = re.sub(r'(msgctxt ".*"\nmsgid ")', r"\1Old: ", whole.decode(), count=len(some))
    translated.write_text(reworded, encoding="utf-8")
    assert LANG.main(["reworded"]) == 0 and translated.read_bytes() == whole
    translated.write_text(reworded, encoding="utf-8")
    assert LANG.main(["update"]) == 0
    assert all(LANG.is_missing(message) for message in messages_of("de") if message.context in some)


FRAGMENT = re.compile(r"^[\s,;:.)]|^(and|or|but|nor|so|because)\b|[\s,;(]$|\b(and|or|but|to|the|a|an)$")
"""A text that only makes sense beside another one: it begins or ends with white space, a mark of punctuation or a
conjunction."""


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_in_a_catalogue_is_a_fragment(name: str) -> None:
    texts = [text for message in messages_of(name) for text in LANG.forms_of(message.id)]
    assert [text for text in texts if FRAGMENT.search(text)] == []


def test_the_catalogues_are_short() -> None:
    """A thousand whole sentences: what a result says, and nothing else; on average less than four lines each."""
    for name in OTHERS:
        texts = len(list(messages_of(name)))
        assert texts <= 1240
        assert language.path_of(name).read_text(encoding="utf-8").count("\n") < 4 * texts, name


@pytest.mark.parametrize("name", OTHERS)
def test_gettext_finds_what_stands_in_the_catalogue(name: str) -> None:
    found = language.catalogue(language.path_of(name))
    for message in messages_of(name):
        forms = LANG.forms_of(message.string)
        if message.fuzzy or not all(forms):
            continue
        if message.pluralizable:
            one, many = LANG.forms_of(message.id)
            text = (
                found.npgettext(message.context, one, many, 1)
                if message.context
                else found.ngettext(one, many, 1)
            )
        else:
            text = (
                found.pgettext(message.context, str(message.id))
                if message.context
                else found.gettext(str(message.id))
            )
        assert text == forms[0]


def test_what_is_missing_or_fuzzy_is_english(tmp_path: Path) -> None:
    messages = {"one cell": "eine Zelle", "missing": "", "doubtful": "zweifelhaft"}
    head = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    blocks = [f'msgid "{text}"\nmsgstr "{translation}"\n' for text, translation in messages.items()]
    blocks[2] = f"#, fuzzy\n{blocks[2]}"
    path = tmp_path / "howlate.po"
    path.write_text("\n".join([head, *blocks]), encoding="utf-8")
    found = language.catalogue(path)
    assert [found.gettext(text) for text in messages] == ["eine Zelle", "missing", "doubtful"]


def test_a_damaged_catalogue_is_told(tmp_path: Path) -> None:
    path = tmp_path / "howlate.po"
    path.write_text("no catalogue\n", encoding="utf-8")
    with pytest.raises(CatalogueError) as caught:
        language.catalogue(path)
    assert caught.value.path == path


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
def test_a_page_is_written_in_the_readers_language(name: str) -> None:
    """Apart from the findings of the doctor, which are English, hardly a text of it is English."""
    _must_be_translated(made_run(five_cells(2000)), name)


@pytest.mark.parametrize(("name", "note"), [("de", "irtuelle Zeit: Befehle"), ("ja", "仮想時間: 実機")])
def test_a_page_says_in_the_readers_language_what_virtual_time_is(name: str, note: str) -> None:
    page = _must_be_translated(virtual_run(made_points()), name)
    assert note in page and english(VIRTUAL_TIME())[1:] not in page


def _must_be_translated(content: RunContent, name: str) -> str:
    """The page of a run in that language."""
    of_doctor = json.dumps(content.run.to_json(), ensure_ascii=False)
    language.speak(name)
    page, texts = render([content]), Texts()
    assert f'<html lang="{name}">' in page
    texts.feed(page)
    left = [text for text in texts.found if ENGLISH.search(text) and text.strip(": .") not in of_doctor]
    assert len(left) < len(texts.found) / 10, left
    return page


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
