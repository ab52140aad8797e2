"""Study and reference are written apart: each table of a reference is of cells that its study plans."""

from typing import Any

import pytest

from fakes import make_plan
from howlate.model.capabilities import Capabilities
from howlate.plan.changes import with_shared
from howlate.published.load import find_reference, references
from howlate.published.reference import PREEMPTIONS, PublishedTable, Reference
from howlate.studies import find_study, studies
from howlate.system.paths import probe_path
from howlate.targets.local import LocalTarget

MEASURED = [name for name in references() if name in studies()]


@pytest.fixture(scope="module")
def can() -> Capabilities:
    return LocalTarget(probe_path()).capabilities()


def cells_of(reference: Reference, can: Capabilities) -> list[dict[str, Any]]:
    study = find_study(reference.study)
    assert study.reference == reference.study
    return [cell.to_json() for cell in make_plan(with_shared(study, can.takes), can).cells]


def unmet(table: PublishedTable, cells: list[dict[str, Any]]) -> list[str]:
    """Of a table that says nothing of why not: values of its `where`, and rows, that no cell has. A row may ask for a
    timer that only the probe of a real-time core has."""
    if table.why:
        return []
    models = ("", *PREEMPTIONS)
    covered = [(cell, model) for cell in cells for model in models if table.covers(cell, model)]
    cores = {name: {row.match[name] for row in table.rows if name in row.match} for name in table.settings}
    asked = [{}, *({name: value} for name, wanted in cores.items() for values in wanted for value in values)]
    rows = {
        row.label
        for cell, model in covered
        for other in asked
        for row in table.rows_for({**cell, "labels": {**cell["labels"], **other}}, model)
    }
    missing = [row.label for row in table.rows if row.measurable and row.label not in rows]
    return [*([] if covered else ["where"]), *missing]


def test_a_study_names_figures_that_are_there() -> None:
    named = {name for name in studies() if find_study(name).reference}
    assert named == set(MEASURED) and len(named) >= 4


@pytest.mark.parametrize("name", MEASURED)
def test_every_table_is_of_cells_of_its_study_or_says_why_not(name: str, can: Capabilities) -> None:
    reference = find_reference(name)
    cells = cells_of(reference, can)
    assert {table.id: missing for table in reference.tables if (missing := unmet(table, cells))} == {}


@pytest.mark.parametrize("name", MEASURED)
def test_every_field_is_of_a_column_of_the_test_that_measures_it(name: str, can: Capabilities) -> None:
    """Columns of samples by what the probe says of the test; accounting, outcomes and loads are not told there."""
    reference = find_reference(name)
    cells = cells_of(reference, can)
    known = {test.name: {column.name for column in test.columns} for test in can.tests}
    for table in reference.tables:
        tests = {cell["test"] for cell in cells for model in ("", *PREEMPTIONS) if table.covers(cell, model)}
        for row in table.rows if not table.why else ():
            for column in table.columns:
                field = column.field_of(row).split(".")
                if field[0] == "columns":
                    assert any(field[1] in known[test] for test in tests), (table.id, column.field_of(row))
