"""Ranges of the numbers that files from outside may hold. What a type here does not allow, `decode.decoded` refuses
with its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

_MOST = 2**63 - 1
Int64 = Annotated[int, Meta(ge=-(2**63), le=_MOST)]
"""What a column of samples holds."""
Count = Annotated[int, Meta(ge=0, le=_MOST)]
Real = Annotated[float, Meta(ge=-1e30, le=1e30)]
"""Also its square is finite."""
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
ShareKey = Annotated[str, Meta(pattern=r"^0\.(?=0*[1-9])[0-9]{1,15}\Z")]
"""The name of a quantile in JSON."""
CpuKey = Annotated[str, Meta(pattern=r"^(-1|[0-9]{1,9})\Z")]
"""The number of a CPU as a name in JSON; -1 where a thread was not pinned."""


def must_be_countable(counts: Iterable[int]) -> None:
    """ValueError where they are more together than one of them may be: sums are made in columns of 64 bits."""
    if sum(counts) > _MOST:
        raise ValueError("their sum is more than one of them may be")
