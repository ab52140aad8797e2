"""The lines of `howlate-probe plan`: as many as command lines were asked about, and none where none was."""

import pytest

from howlate.errors import TargetError
from howlate.model.answer import answers_of


@pytest.mark.parametrize(
    ("output", "count"), [(b"", 0), (b"{}\n", 1), (b"{}", 1), (b'{"warnings": ["a\xe2\x80\xa8b"]}\n{}\n', 2)]
)
def test_each_line_is_an_answer(output: bytes, count: int) -> None:
    assert len(answers_of(output, count, "here")) == count


@pytest.mark.parametrize(("output", "count"), [(b"", 1), (b"{}\n", 0), (b"{}\n{}\n", 1)])
def test_another_number_of_lines_is_refused(output: bytes, count: int) -> None:
    with pytest.raises(TargetError, match="howlate-probe plan"):
        answers_of(output, count, "here")
