"""The audit names every published figure that contradicts itself, and no other."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from howlate.model.decode import parse_toml
from howlate.published.audit import Audit, audit
from howlate.published.load import REFERENCE, decode_reference, find_reference, read_reference, references
from howlate.published.shown import counts_of
from howlate.system.paths import ROOT

DEVIATION = "deviation-too-small"


def audits() -> dict[str, Audit]:
    return {name: audit(read_reference(path)) for name, path in references().items()}


def test_the_rows_of_impossible_deviations_are_the_twenty() -> None:
    found = {
        name: {(f.table, f.row) for f in one.findings if f.rule == DEVIATION}
        for name, one in audits().items()
    }
    std, pre, rt = "2.6.26lenny", "2.6.26preemptive", "2.6.26.8RT"
    assert found["toshiba-2010"] == {
        *(("high-1000us", kernel) for kernel in (std, pre)),
        *(("high-500us", kernel) for kernel in (std, pre)),
        *(("high-300us", kernel) for kernel in (std, pre, rt)),
        *(("high-100us", kernel) for kernel in (std, pre, rt)),
        ("half-300us", pre),
    }
    vanilla, patched = "2.6.31.12", "2.6.31.12-RT"
    assert found["toshiba-mem-2010"] == {
        ("cpu-300us", f"{patched} · 100%"),
        *(("cpu-1000us", f"{kernel} · 0%") for kernel in (vanilla, patched)),
        *(
            ("memory-alloc-500us", f"{kernel} · {share}%")
            for kernel in (vanilla, patched)
            for share in (50, 100)
        ),
        *(("memory-access-300us", f"{kernel} · 100%") for kernel in (vanilla, patched)),
    }
    assert [len(found[name]) for name in ("toshiba-2010", "toshiba-mem-2010")] == [11, 9]
    assert not (found["tut-2017"] or found["sh7780-2008"] or found["rts7751-2007"])


def test_the_slip_between_two_slides_is_named_with_the_print_that_cannot_be() -> None:
    (slip,) = [f for one in audits().values() for f in one.findings if f.rule != DEVIATION]
    assert (slip.study, slip.rule, slip.place) == ("toshiba-mem-2010", "slip", "slide 25")
    assert (slip.table, slip.row, slip.column) == ("memory-alloc-1000us", "2.6.31.12 · 50%", "max")
    assert "715078 here" in slip.says and "715.078 on slide 24" in slip.says


def test_what_passes_was_looked_at() -> None:
    checked = {name: one.checked for name, one in audits().items()}
    assert checked["toshiba-2010"][DEVIATION] == 36 == checked["toshiba-2010"]["overruns"]
    assert checked["toshiba-mem-2010"][DEVIATION] == 54 == checked["toshiba-mem-2010"]["period-exceeded"]
    # seven columns of six listings and the SMI's: all of them with minimum and maximum
    assert checked["tut-2017"][DEVIATION] == 43 == checked["tut-2017"]["deviation-too-large"]
    assert checked["tut-2017"]["counts"] == 6 and checked["tut-2017"]["slip"] == 16
    assert checked["rts7751-2007"]["order"] == 12


def test_a_finding_tells_the_numbers() -> None:
    finding = next(f for f in audit(find_reference("toshiba-mem-2010")).findings if f.table == "cpu-300us")
    numbers = re.findall(r"[0-9][0-9.,]*[0-9]", finding.says)
    assert numbers == ["12.87", "44.624", "28282.187", "100,000", "89.2955"]


def changed(study: str, was: str, becomes: str) -> Audit:
    """The audit of a reference file with one figure misprinted."""
    text = (REFERENCE / f"{study}.toml").read_text(encoding="utf-8")
    assert len(re.findall(re.escape(was), text)) == 1
    return audit(decode_reference(parse_toml(text.replace(was, becomes), study, Decimal)))


@pytest.mark.parametrize(
    ("study", "was", "becomes", "rule", "table"),
    [
        ("tut-2017", "value = 1392.04,", "value = 139.20,", DEVIATION, "listing-2-preemption"),
        ("tut-2017", "value = 100553.00,", "value = 825.00,", "order", "listing-2-preemption"),
        ("tut-2017", "value = 18550.48,", "value = 185504.80,", "deviation-too-large", "listing-6-preemption"),
        ("tut-2017", "values.Min = { value = 559,", "values.Min = { value = 595,", "slip", "words-switch"),
        ("toshiba-2010", 'value = 93, mark = "a', 'value = 9, mark = "a', "overruns", "high-300us"),
        ("toshiba-mem-2010", "value = 404.506,", "value = 204.506,", "period-exceeded", "memory-access-300us"),
        ("toshiba-mem-2010", "value = 12.108,", "value = 2.108,", "deviation-below-counts", "memory-alloc-300us"),
        ("rts7751-2007", "value = 34.89,", "value = 348.9,", "order", "results"),
    ],
)  # fmt: skip
def test_a_misprint_would_be_found(study: str, was: str, becomes: str, rule: str, table: str) -> None:
    before = {(f.rule, f.table, f.row) for f in audit(find_reference(study)).findings}
    after = {(f.rule, f.table, f.row) for f in changed(study, was, becomes).findings}
    assert (rule, table) in {(rule, table) for rule, table, _ in after - before}


def test_an_ambiguous_row_is_accused_only_where_each_reading_is_impossible() -> None:
    row = ("high-500us", "2.6.26preemptive")
    (says,) = [f.says for f in audit(find_reference("toshiba-2010")).findings if (f.table, f.row) == row]
    assert "each reading" in says
    possible = changed("toshiba-2010", "candidates = [10.322, 0.322]", "candidates = [10.322, 510.322]")
    assert row not in {(f.table, f.row) for f in possible.findings}


def test_references_are_named_by_their_study(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_bytes((REFERENCE / "rts7751-2007.toml").read_bytes())
    with pytest.raises(Exception, match='"study" must be "other"') as caught:
        read_reference(path)
    assert "rts7751-2007" in str(caught.value)


def test_the_page_counts_what_is_there() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([a-z0-9-]+)` \|[^|]*\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE
    )
    counts = {name: counts_of(read_reference(path)) for name, path in references().items()}
    wanted = ("tables", "values", "arithmetic", "ambiguous")
    assert {name: tuple(map(int, numbers)) for name, *numbers in rows} == {
        name: tuple(its[what] for what in wanted) for name, its in counts.items()
    }
