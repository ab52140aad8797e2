"""What statements say, as values."""

from collections.abc import Mapping
from typing import Any

from howlate.words.statement import Statement


def parts(*told: object) -> dict[str, Mapping[str, Any]]:
    """The values of statements and of those inside them, by rule; of several of a rule the last."""
    found: dict[str, Mapping[str, Any]] = {}
    for each in told:
        if isinstance(each, Statement):
            found |= {each.rule: each.values} | parts(*each.values.values())
        elif isinstance(each, list | tuple):
            found |= parts(*each)
    return found


def parts_of_json(value: object) -> dict[str, Mapping[str, Any]]:
    """The same of statements as JSON has them, wherever they stand in it."""
    if isinstance(value, list):
        return {rule: values for each in value for rule, values in parts_of_json(each).items()}
    if not isinstance(value, dict):
        return {}
    own = {value["rule"]: value["values"]} if "rule" in value and "values" in value else {}
    return own | parts_of_json(list(value.values()))
