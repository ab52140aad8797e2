"""What a summary needs of a cell's header and trailer."""

from typing import Any

from howlate.errors import DamagedError
from howlate.model.decode import Table
from howlate.statistics.load_reached import NOT_LOADED
from howlate.store.cell_record import CellFile
from howlate.words.statement import VERBATIM


def cell_with(trailer: dict[str, Any]) -> CellFile:
    return CellFile(*(Table(values, "cell.json", "", DamagedError) for values in ({}, {}, trailer)))


def told(trailer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(warning.rule, warning.text) for warning in cell_with(trailer).probe_warnings()]


def test_the_probes_warnings_come_with_their_rules() -> None:
    texts = ["3 rows about the machine could not be kept", "not loaded: the load cpu:50 achieved nothing"]
    rules = ["probe.machine-rows-lost", NOT_LOADED.id]
    assert told({"warnings": texts, "warning_rules": rules}) == [
        (rule, f"{text}.") for rule, text in zip(rules, texts, strict=True)
    ]


def test_of_an_older_probe_the_rule_of_a_load_that_was_not_there_alone_is_known() -> None:
    texts = ["hot", "not loaded: the load cpu:50 achieved nothing"]
    assert [rule for rule, _ in told({"warnings": texts})] == [VERBATIM, NOT_LOADED.id]
    assert told({}) == []
