"""The lists of an archive: their paragraphs, and Debian's order of versions."""

import itertools
import subprocess

from hypothesis import given
from hypothesis import strategies as st

from howlate.lab.archive.packages import PackageVersion, fields
from lacks import needs_program


def test_a_paragraph_is_read_with_its_folded_lines() -> None:
    assert fields("A: 1\nSHA256:\n x 1 a\n y 2 b\nB: c: d\n") == {
        "A": "1",
        "SHA256": "x 1 a\ny 2 b",
        "B": "c: d",
    }


ORDERED = [
    "1~~", "1~~a", "1~", "1", "1-1~bpo", "1-1", "1+deb13", "1.0", "1.2", "1.10", "1.a", "2.0-1", "2.0-1+b1", "1:0",
]  # fmt: skip


def test_versions_are_in_debians_order() -> None:
    assert sorted(ORDERED[1::2] + ORDERED[::2], key=PackageVersion) == ORDERED
    assert PackageVersion("1.0") == PackageVersion("1.00")


@needs_program("dpkg", "dpkg")
def test_versions_are_in_dpkgs_order() -> None:
    real = [
        "6.1.192-2",
        "6.1.177-1~deb11u1",
        "6.12.9-1",
        "6.12.90+deb13.1-2",
        "7.2.9-1~bpo13+1",
        "6.12~rc1-1~exp1",
    ]
    for one, other in itertools.combinations([*ORDERED, *real], 2):
        less = subprocess.run(["dpkg", "--compare-versions", one, "lt", other], check=False).returncode == 0
        assert (PackageVersion(one) < PackageVersion(other)) == less, (one, other)
        assert (PackageVersion(one) >= PackageVersion(other)) != less, (one, other)


VERSIONS = st.from_regex(r"[0-9][0-9a-b.+~]{0,6}(-[0-9a-b.+~]{1,4})?", fullmatch=True)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_the_order_of_versions_is_an_order(a: str, b: str, c: str) -> None:
    one, two, three = PackageVersion(a), PackageVersion(b), PackageVersion(c)
    assert (one < two) + (two < one) + (one == two) == 1
    assert not (one < two and two < three) or one < three
