"""The steps between two kernels: of the archive, of parameters, of builds."""

from pathlib import Path

import pytest

from howlate.errors import TargetError, UsageError
from howlate.lab.archive.packages import Archive
from howlate.prove.steps import build, of_labels, of_revisions


def no_archive() -> Archive:
    raise AssertionError


def test_parameters_take_their_last_value_one_after_the_other() -> None:
    steps = of_labels("6.1[preempt=full quiet]", "6.1[preempt=none threadirqs nohz=off]", no_archive)
    assert [(step.name, step.change) for step in steps] == [
        ("6.1[preempt=full quiet]", ""),
        ("6.1[preempt=none quiet]", "preempt=full -> preempt=none"),
        ("6.1[preempt=none]", "without quiet"),
        ("6.1[preempt=none threadirqs]", "threadirqs"),
        ("6.1[preempt=none threadirqs nohz=off]", "nohz=off"),
    ]


@pytest.mark.parametrize(
    ("good", "bad"), [("6.1", "6.1"), ("6.1", "6.1-rt"), ("6.1[quiet]", "6.12"), ("6.1", "6.12@arm64")]
)
def test_kernels_that_differ_in_two_ways_or_in_none_are_refused(good: str, bad: str) -> None:
    with pytest.raises(UsageError):
        of_labels(good, bad, no_archive)


def test_revisions_are_the_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "revisions"
    path.write_text("# good first\nabc one\n\ndef two\n")
    assert [(step.name, step.change) for step in of_revisions(path)] == [
        ("abc one", ""),
        ("def two", "def two"),
    ]
    path.write_text("abc\n")
    with pytest.raises(UsageError, match="1 revision"):
        of_revisions(path)
    with pytest.raises(UsageError):
        of_revisions(tmp_path / "absent")


def test_a_build_leaves_its_kernel_or_says_that_it_cannot_be_tested(tmp_path: Path) -> None:
    kernel = build('echo "$HOWLATE_REVISION" > "$HOWLATE_KERNEL"', "abc with words", tmp_path)
    assert kernel is not None and kernel.read_text() == "abc\n"
    assert build("exit 125", "abc", tmp_path) is None
    with pytest.raises(TargetError, match="exit code 2"):
        build("exit 2", "abc", tmp_path)
    with pytest.raises(TargetError, match="no kernel at"):
        build("true", "abc", tmp_path)


def test_revisions_that_differ_in_their_slashes_have_kernels_of_their_own(tmp_path: Path) -> None:
    command = 'printf %s "$HOWLATE_REVISION" > "$HOWLATE_KERNEL"'
    names = ("a/b", "a-b", "a_b", "v6.1", "..")
    kernels = [build(command, name, tmp_path) for name in names]
    assert [kernel.read_text() for kernel in kernels if kernel] == list(names)
    assert kernels[3] == tmp_path / "v6.1"
