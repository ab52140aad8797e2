"""tools/list_sizes.py and list_messages.py: what is counted, and what is not."""

import pytest

from house_tools import tool


def test_what_a_command_writes_into_a_page_is_not_counted() -> None:
    page = "one two\n<!-- ./dev bench turns -->\nthree four\n<!-- end -->\nfive <!-- a remark --> six\n"
    assert tool("list_sizes").GENERATED.sub("", page).split() == [
        *("one", "two", "five", "<!--", "a", "remark", "-->", "six")
    ]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("assert text == 'the load was not there'", [1]),
        ("assert 'cells/none' in text and text.count('us') == 3", []),
        ("x = 'the load was not there'\nassert x\nassert f'nothing was measured in {x}' in y", [3]),
    ],
)
def test_an_assert_of_prose_is_seen(source: str, lines: list[int]) -> None:
    assert list(tool("list_sizes").prose_in(source)) == lines


def test_the_list_has_messages_remedies_helps_and_titles() -> None:
    listed = list(tool("list_messages").messages())
    kinds = {what for _, what, _ in listed}
    assert {"message", "remedy", "several", "help", "title", "--deadline"} <= kinds
    beside = {where.partition(":")[0] for where, what, _ in listed if what == "remedy" and ":" in where}
    assert len(beside) > 50  # modules whose errors are written where they arise
