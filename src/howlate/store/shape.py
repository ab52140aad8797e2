"""The columns of a cell's samples.parquet: which are measured, which give the time, and which number the row."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from howlate.model.columns import FLAGS, INDICES, RELEASE, SAMPLES, TIMES, WARM_UP, measured

SQL_TYPE = {"i64": "BIGINT", "i32": "INTEGER", "u8": "UTINYINT"}
BIGINT = "::BIGINT"
_TYPE = {sql: kind for kind, sql in SQL_TYPE.items()}


class Shape(Struct, frozen=True):
    """The columns by their purpose; None if there is none of that kind."""

    columns: tuple[str, ...]
    measured: tuple[str, ...]
    """In the stream's order."""
    time: str | None
    index: str | None
    flagged: bool = True
    """False where every flag of every row is known to be 0: nothing is of the warm-up."""

    @classmethod
    def of(cls, described: Iterable[tuple[str, str]]) -> Shape:
        """From (name, SQL type) of each column."""
        pairs = [(name, _TYPE.get(sql, "")) for name, sql in described]
        names = tuple(name for name, _ in pairs)

        def one(known: tuple[str, ...]) -> str | None:
            return next((name for name in known if name in names), None)

        return cls(names, measured(pairs), one(TIMES), one(INDICES))

    @property
    def always(self) -> tuple[str, ...]:
        """The columns that every activation has."""
        own = ("thread", "cpu", FLAGS, *TIMES, *INDICES)
        return tuple(name for name in self.columns if name in own) if RELEASE in self.columns else ()

    @property
    def number(self) -> str:
        """How many samples rows stand for, as SQL: each for one, or, of a histogram, for as many as it says."""
        return f"sum({SAMPLES}){BIGINT}" if SAMPLES in self.columns else "count(*)"

    @property
    def counted(self) -> str:
        """The SQL condition that excludes warm-up."""
        return f"{FLAGS} & {WARM_UP} = 0" if self.flagged and FLAGS in self.columns else "true"
