"""JSON Schemas of the files in a run folder, made from the models that read and write them, into docs/schemas/.

    python tools/schemas.py

Where a file stores a member otherwise than the model has it (a warning as a sentence, with its statement beside it),
the member's type is given here. Runs of older versions fit too, and members of newer ones are allowed.
"""

import json
import sys
from collections.abc import Mapping
from types import GenericAlias
from typing import Any, Literal, get_type_hints

from msgspec import NODEFAULT, Struct, defstruct, field
from msgspec.json import schema_components
from msgspec.structs import fields

from howlate.measure.execute import Failure
from howlate.model.bins import CellBins
from howlate.model.facts import Finding
from howlate.model.knowledge import Knowledge
from howlate.model.ranges import Count, Int64
from howlate.model.run import Run
from howlate.model.study import Part, Study
from howlate.model.summary import CellSummary, DeadlineSummary, JudgedColumn
from howlate.store.checksums import Checksum
from howlate.store.recorded import RecordTypes
from howlate.system.paths import ROOT

PLACE = ROOT / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA = Literal[1]


def stored(model: type[Any], *left_out: str, required: tuple[str, ...] = (), **types: Any) -> Any:
    """A model with the types that its file has of some members, without those left out."""
    hints = get_type_hints(model, include_extras=True)
    members: dict[str, Any] = {}
    for each in fields(model):
        has_default = each.default is not NODEFAULT or each.default_factory is not NODEFAULT
        members[each.name] = (
            each.name,
            hints[each.name],
            field(default_factory=object) if has_default else field(),
        )
    for name, kind in types.items():
        members[name] = (name, kind, field() if name in required else field(default_factory=object))
    kept = [member for name, member in members.items() if name not in left_out]
    return defstruct(model.__name__, kept, kw_only=True, frozen=True)


def listed(kind: Any) -> Any:
    return GenericAlias(tuple, (kind, ...))


def mapped(kind: Any) -> Any:
    return GenericAlias(dict, (str, kind))


class StoredStatement(Struct, frozen=True):
    """What a rule says: its id, the values, and the sentence in English."""

    rule: str
    values: Mapping[str, Any]
    text: str


class OfLab(Struct, frozen=True):
    """The kernels and CPUs of a study's guests."""

    kernels: tuple[str, ...] = ()
    cpus: Count = 0


class StreamEnd(Struct, frozen=True):
    """How a stream ended."""

    kind: Literal["whole", "cut", "damaged"]
    at: Count
    reason: str


WARNINGS: dict[str, Any] = {"warnings": tuple[str, ...], "statements": tuple[StoredStatement, ...]}
RULE: dict[str, Any] = {"rule": str, "values": Mapping[str, Any]}
DEADLINE = stored(DeadlineSummary, misses=Count)
JUDGED: dict[str, Any] = {"deadline": DEADLINE | None, "ladder": listed(DEADLINE)}
FINDING = stored(Finding, "statement", found=str, **RULE, required=("found",))
STUDY = stored(
    *(Study, "parts", "reference", "kernels", "cpus"),
    part=tuple[Part, ...],
    published=Mapping[str, str],
    lab=OfLab,
)
CHECKSUM = stored(Checksum, "size", "digest", bytes=Count, blake2b=str, required=("bytes", "blake2b"))
MODELS: dict[str, Any] = {
    "run.json": stored(
        Run,
        study=STUDY,
        findings=listed(FINDING),
        checksum=str,
        schema=SCHEMA,
        **WARNINGS,
        required=("study", "schema"),
    ),
    "summary.json": stored(
        CellSummary,
        schema=SCHEMA,
        by_column=mapped(stored(JudgedColumn, **JUDGED)),
        **WARNINGS,
        **JUDGED,
    ),
    "cell.json": stored(
        RecordTypes,
        schema=SCHEMA,
        end=StreamEnd,
        accounting=tuple[dict[str, Int64], ...],
        problems=tuple[str, ...],
        known=Knowledge,
        required=("schema", "header", "end", "accounting", "problems"),
    ),
    "bins.json": stored(CellBins, schema=SCHEMA, required=("schema",)),
    "checksums.json": defstruct(
        "Checksums",
        [
            ("schema", SCHEMA),
            ("algorithm", Literal["blake2b-256"]),
            (
                "files",
                mapped(CHECKSUM),
            ),
            ("run", str, field(default="")),
        ],
    ),
    "error.json": stored(
        Failure, "cell", "statement", message=str, remedy=str, measured=bool, **RULE, required=("message",)
    ),
}
"""By the file's name."""


def schema_of(file: str) -> dict[str, Any]:
    (root,), parts = schema_components([MODELS[file]], ref_template="#/$defs/{name}")
    text = json.dumps({"$schema": DIALECT, "title": file, **root, "$defs": parts}, indent=1, sort_keys=True)
    return dict(json.loads(text.replace(r"\\Z", "$")))  # the end of a text, in ECMAScript's words


def text_of(file: str) -> str:
    return json.dumps(schema_of(file), indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    PLACE.mkdir(exist_ok=True)
    for file in MODELS:
        (PLACE / file.replace(".json", ".schema.json")).write_text(text_of(file), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
