"""A kernel's name reads back as it was written; what cannot be is refused with the spelling that was meant."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.errors import UsageError
from howlate.lab.kernels.label import Label, parse_labels, split_own, split_parameters

TWO = re.compile(",[a-z][^,]*=")
"""Two parameters with a comma between them."""
NUMBER = st.integers(0, 999).map(str)
WORD = st.text("abcxyz019._-=,:/", min_size=1, max_size=12).filter(
    lambda word: word != "--" and not TWO.search(word)
)


@st.composite
def labels(draw: st.DrawFn) -> Label:
    series = f"{draw(NUMBER)}.{draw(NUMBER)}"
    rest = draw(st.sampled_from(["", ".192-2", ".5-1~bpo12+1", "-1", ".12+deb13-1"]))
    return Label(
        series,
        draw(st.booleans()),
        draw(st.sampled_from(["amd64", "arm64"])),
        f"{series}{rest}" if rest else "",
        tuple(draw(st.lists(WORD, max_size=3))),
    )


@given(labels())
def test_what_is_written_reads_back(label: Label) -> None:
    assert Label.parse(str(label)) == label


@given(st.lists(labels(), min_size=1, max_size=5, unique=True))
def test_a_list_reads_back_though_parameters_hold_commas(several: list[Label]) -> None:
    assert parse_labels(",".join(map(str, several))) == tuple(several)


@given(st.text(max_size=30))
def test_any_text_is_a_label_or_a_sentence(text: str) -> None:
    try:
        label = Label.parse(text)
    except UsageError as error:
        assert error.message and error.remedy
    else:
        assert Label.parse(str(label)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("6.1", Label("6.1")),
        ("6.1@amd64", Label("6.1")),
        ("6.12-rt@arm64", Label("6.12", True, "arm64")),
        ("6.1[preempt=none]", Label("6.1", parameters=("preempt=none",))),
        ("6.1[ preempt=full   isolcpus=1,2 ]", Label("6.1", parameters=("preempt=full", "isolcpus=1,2"))),
        ("6.1=6.1.192-2", Label("6.1", version="6.1.192-2")),
        (
            "7.2-rt@arm64=7.2.9-1~bpo13+1[quiet]",
            Label("7.2", True, "arm64", "7.2.9-1~bpo13+1", ("quiet",)),
        ),
    ],
)
def test_the_forms_of_a_label(text: str, label: Label) -> None:
    assert Label.parse(text) == label


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("6.1-RT", 'did you mean "6.1-rt"?'),
        ("6.1@arm64-rt", "amd64 or arm64"),
        ("6.1@riscv64", "amd64 or arm64"),
        ("6.1.192", "a version is pinned as in 6.1=6.1.192-2"),
        ("linux-image-6.1-rt-arm64", 'did you mean "6.1-rt@arm64"?'),
        ("six", "a kernel is written"),
        ("", "a kernel is written"),
        ("6.1[]", "in the brackets"),
        ("6.1[preempt=none", 'the bracket is not closed: did you mean "6.1[preempt=none]"?'),
        ("6.1[x", "the bracket is not closed"),
        ("6.1[", "the bracket is not closed"),
        ("6.1-rtx", 'did you mean "6.1-rt"?'),
        ('6.1[a="b c"]', "write it as in"),
        ("6.1-rt[nohz=off,threadirqs]", "[nohz=off threadirqs]"),
        ("6.1-rt[threadirqs,nohz=off]", "[threadirqs nohz=off]"),
        ("6.1[isolcpus=1,nohz_full=1]", "[isolcpus=1 nohz_full=1]"),
        ("6.1=6.12.3-1", "`howlate lab kernels --all`"),
        ("6.1=6.10-1", "`howlate lab kernels --all`"),
        ("6.1=", "pin a version"),
        ("06.1", "did you mean"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(text: str, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        Label.parse(text)
    assert part in caught.value.remedy


@pytest.mark.parametrize(
    "word",
    ["isolcpus=nohz,domain,1-3", "mitigations=auto,nosmt", "console=ttyS0,115200n8", "slub_debug=FZ,dentry"],
)
def test_a_value_may_hold_commas(word: str) -> None:
    assert Label.parse(f"6.1[{word}]").parameters == (word,)


def test_a_kernel_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_labels("6.1,6.1@amd64")
    assert len(parse_labels("6.1,6.1-rt,6.1[preempt=none]")) == 3


def test_a_file_of_the_users_own_is_a_label_by_its_name() -> None:
    label = Label.of_file("bzImage-mine", "amd64", ("preempt=full",))
    assert str(label) == "bzImage-mine[preempt=full]"
    assert split_parameters("some/bzImage-mine[preempt=full x]") == (
        "some/bzImage-mine",
        ("preempt=full", "x"),
    )
    assert split_parameters("some/bzImage") == ("some/bzImage", ())


def test_a_kernel_of_the_users_own_may_have_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert split_own("old=a/bzImage[preempt=none]") == ("old", Path("a/bzImage"), ("preempt=none",))
    assert split_own("a/bzImage[preempt=none]") == ("", Path("a/bzImage"), ("preempt=none",))
    assert split_own("in/a=b/bzImage") == ("", Path("in/a=b/bzImage"), ())
    Path("old=bzImage").touch()
    assert split_own("old=bzImage") == ("", Path("old=bzImage"), ())
    for text in ("=bzImage", "old="):
        with pytest.raises(UsageError, match="is not the name"):
            split_own(text)


@pytest.mark.parametrize("name", ["6.1", "6.1-rt", "a kernel", "", "a,b", "a[b]"])
def test_a_file_whose_name_would_be_misread_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not the name"):
        Label.of_file(name, "amd64")
