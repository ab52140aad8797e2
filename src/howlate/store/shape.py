"""What stands in a cell's samples.parquet: which columns are measured, which say when and which row it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from howlate.model.columns import FLAGS, INDICES, RESPONSE, TIMES, measured
from howlate.store.audit import WARM_UP

SQL_TYPE = {"i64": "BIGINT", "i32": "INTEGER", "u8": "UTINYINT"}
_TYPE = {sql: kind for kind, sql in SQL_TYPE.items()}


@dataclass(frozen=True)
class Shape:
    """The columns by what they are for; None where there is none of that kind."""

    columns: tuple[str, ...]
    measured: tuple[str, ...]
    """In the stream's order."""
    time: str | None
    index: str | None

    @classmethod
    def of(cls, described: Iterable[tuple[str, str]]) -> Shape:
        """From (name, SQL type) of each column."""
        pairs = [(name, _TYPE.get(sql, "")) for name, sql in described]
        names = tuple(name for name, _ in pairs)

        def one(known: tuple[str, ...]) -> str | None:
            return next((name for name in known if name in names), None)

        return cls(names, measured(pairs), one(TIMES), one(INDICES))

    @property
    def has_response(self) -> bool:
        return RESPONSE in self.measured

    @property
    def counted(self) -> str:
        """The SQL condition that leaves warm-up out."""
        return f"{FLAGS} & {WARM_UP} = 0" if FLAGS in self.columns else "true"
