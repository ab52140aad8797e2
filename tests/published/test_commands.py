"""`howlate reference`: the published figures listed, shown with their marks, and audited."""

import json
import re
from typing import Any

import pytest
from msgspec import Struct

from howlate import __main__ as entry
from howlate.errors import ExitCode
from howlate.published.load import find_reference, references

STUDIES = ["rts7751-2007", "sh7780-2008", "toshiba-2010", "toshiba-mem-2010", "tut-2017"]


class Said(Struct, frozen=True):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def call(*argv: str, columns: int = 100) -> Said:
        monkeypatch.setenv("COLUMNS", str(columns))
        code = entry.main(["reference", *argv])
        return Said(code, *capfd.readouterr())

    return call


def test_list_counts_the_values_of_each_mark(run: Any) -> None:
    rows = run("list", "--json").json["references"]
    assert [row["study"] for row in rows] == STUDIES == list(references())
    for row in rows:
        assert row["values"] == row["text"] + row["arithmetic"] + row["ambiguous"] > 0
    lines = run("list").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == STUDIES
    assert run().out == run("list").out


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("study", STUDIES)
def test_every_printed_figure_is_shown_whole(run: Any, study: str, columns: int) -> None:
    """Where a terminal of 80 columns has no room for a column of theirs, that is said; a wide one has all."""
    said = run("show", study, columns=columns)
    assert said.code == ExitCode.DONE and max(map(len, said.out.splitlines())) <= columns
    pieces = re.split(r"^(\S+): .*$", said.out, flags=re.MULTILINE)
    shown = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    for table in find_reference(study).tables:
        words = set(shown[table.id].split())
        left_out = " ".join(shown[table.id].partition("no room for: ")[2].split())
        assert not left_out or columns == 80
        headings = {column.name: " ".join(column.heading.split()) for column in table.columns}
        assert not left_out or any(heading not in left_out for heading in headings.values())
        for row in table.rows:
            for name, figure in row.values.items():
                if figure.number is not None and not (left_out and headings[name] in left_out):
                    assert words & {
                        f"{about}{figure.printed}{mark}" for about in ("", "~") for mark in ("", "*", "?")
                    }


def test_a_table_shows_marks_and_what_they_mean(run: Any) -> None:
    out = run("show", "toshiba-2010", "high-500us").out
    row = next(line for line in out.splitlines() if line.startswith("2.6.26preemptive (user mode)"))
    assert row.split()[3:] == ["9.399", "27988.258", "10.322?", "165?"]
    plain = " ".join(out.split())
    for part in (
        "標準偏差 is 10.322 or 0.322",
        "? ambiguous",
        "slide 17",
        "2.6.27Xenomai (kernel mode)",
    ):
        assert part in plain


def test_what_the_documents_text_lost_is_said(run: Any) -> None:
    for table in ("graph-1", "graph-2", "graph-3"):
        assert "the whole graph" in run("show", "rts7751-2007", table).out


def test_show_gives_all_of_it_as_json(run: Any) -> None:
    whole = run("show", "toshiba-mem-2010", "--json").json
    assert [t["id"] for t in whole["tables"]] == [t.id for t in find_reference("toshiba-mem-2010").tables]
    table = run("show", "toshiba-mem-2010", "memory-alloc-1000us", "--json").json["tables"][0]
    row = next(r for r in table["rows"] if r["label"] == "2.6.31.12 · 50%")
    assert row["values"]["max"] == {"value": 715.078, "printed": "715.078", "mark": "text"}
    assert table["reprints"][0]["differs"] == [{"row": row["label"], "column": "max", "printed": "715078"}]


def test_an_audit_that_finds_is_no_failure(run: Any) -> None:
    said = run("audit")
    assert said.code == ExitCode.DONE
    headings = re.findall(r"^(\S+-20\d\d): (.*)$", said.out, re.MULTILINE)
    assert headings == [
        ("rts7751-2007", "no contradiction"),
        ("sh7780-2008", "no contradiction"),
        ("toshiba-2010", "11 contradictions"),
        ("toshiba-mem-2010", "10 contradictions"),
        ("tut-2017", "no contradiction"),
    ]
    (one,) = run("audit", "toshiba-mem-2010", "--json").json["audits"]
    assert [f["rule"] for f in one["findings"]].count("deviation-too-small") == 9


def test_the_tables_of_one_listing_are_shown_together(run: Any) -> None:
    out = run("show", "tut-2017", "listing-2").out
    names = re.findall(r"^(listing-\d-\S+): ", out, re.MULTILINE)
    parts = ("preemption", "passes", "clock", "switch", "timer-absolute", "timer-relative")
    assert names == [f"listing-2-{part}" for part in parts]


def test_unknown_names_are_refused_with_the_nearest(run: Any) -> None:
    for argv, remedy in (
        (("show", "toshiba-2011"), 'id you mean "toshiba-2010"?'),
        (("audit", "tut-2018"), 'id you mean "tut-2017"?'),
        (("show", "tut-2017", "listing-9"), "id you mean "),
    ):
        said = run(*argv)
        assert said.code == ExitCode.USAGE and remedy in said.err and not said.out
