"""tools/lint_habits.py: what it marks, what it does not, and that it sees every text of howlate."""

import ast
import tomllib

import pytest

from house_tools import tool
from howlate.system.paths import ROOT

lint = tool("lint_habits")
EXAMPLES = tomllib.loads((ROOT / "tests/fixtures/habits/examples.toml").read_text(encoding="utf-8"))


def examples(kind: str, column: str) -> list[str]:
    return [text for row in EXAMPLES[kind] for text in row[column]]


def test_the_examples_are_fifty_rows_and_a_few() -> None:
    rows = [row["row"] for kind in ("texts", "names") for row in EXAMPLES[kind]]
    assert len(rows) == len(set(rows)) == 51


@pytest.mark.parametrize("text", examples("texts", "now"))
def test_a_text_with_a_habit_is_marked(text: str) -> None:
    assert list(lint.in_text(text))


@pytest.mark.parametrize("text", examples("texts", "better"))
def test_a_better_text_is_not_marked(text: str) -> None:
    assert list(lint.in_text(text)) == []


@pytest.mark.parametrize("name", examples("names", "now"))
def test_a_name_with_a_habit_is_marked(name: str) -> None:
    assert lint.is_marked_name(name)


@pytest.mark.parametrize("name", examples("names", "better"))
def test_a_better_name_is_not_marked(name: str) -> None:
    assert not lint.is_marked_name(name)


def test_every_text_that_howlate_lists_is_examined() -> None:
    """Those of `./dev messages`: messages, remedies, help, titles. What is composed of pieces is marked in these."""
    examined = {
        " ".join(text.split())
        for path in lint.files(["src"])
        for _, text in lint.texts_of_python(ast.parse(path.read_text(encoding="utf-8")))
    }
    listed = {" ".join(text.split()) for _, _, text in tool("list_messages").messages()}
    assert len(listed & examined) > 1500
    composed = {text for text in listed - examined if " " in text}
    marked = {words for text in composed for _, words, _ in lint.in_text(text)}
    assert {words for words in marked if not any(words in text for text in examined)} == set()


SOURCE = '''"""Of the task."""
KEPT = 1
class Told:
    found: int
    def found(self) -> None:
        """The found
        amid."""
        found = _told("so many")
'''


def test_a_mark_names_the_line() -> None:
    marks = lint.marks_of_python(ROOT / "src/howlate/example.py", SOURCE)
    assert sorted((mark.line, mark.text) for mark in marks) == [
        *(
            (1, "Of the task."),
            (2, "KEPT"),
            (3, "Told"),
            (4, "found"),
            (5, "found"),
            (7, "amid"),
            (8, "so many"),
        ),
    ]


def test_code_and_what_commands_write_is_left_out_of_a_page() -> None:
    page = "amid\n`amid` [x](amid.md)\n\n    amid\n\n<!-- ./dev x -->\namid\n<!-- end -->\nso\nmany\n"
    marks = list(lint.marks_of_page(ROOT / "docs/example.md", page))
    assert [(mark.line, mark.text) for mark in marks] == [(1, "amid"), (9, "so many")]


def test_types_of_the_probe_are_examined() -> None:
    source = "class Bell;\nclass Bell {\n  enum class Kind { a };\n  struct TimerKind {};\n};\n"
    marks = list(lint.marks_of_cpp(ROOT / "probe/src/example.hpp", source))
    assert [(mark.line, mark.text) for mark in marks] == [(2, "Bell"), (3, "Kind")]
