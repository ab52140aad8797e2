"""The members of cell.json that are read from its header and trailer by their names, with the types that they have
(docs/stream.md). Others are shown as they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from howlate.model.ranges import Count, Int64, Real


class _ThreadInForce(Struct, frozen=True):
    cpu: Int64 | None = None
    policy: str | None = None
    timer_slack_ns: Int64 | None = None


class _InForce(Struct, frozen=True):
    threads: tuple[_ThreadInForce, ...] | None = None
    knobs: tuple[dict[str, Any], ...] | None = None


class _Header(Struct, frozen=True):
    test: str | None = None
    boot_id: str | None = None
    t0_ns: Int64 | None = None
    parameters: dict[str, Any] | None = None
    in_force: _InForce | None = None
    tables: tuple[dict[str, Any], ...] | None = None


class _Account(Struct, frozen=True):
    table: Int64 | None = None
    latency_ns_max: Int64 | None = None


class _Trailer(Struct, frozen=True):
    duration_ns: Real | None = None
    steal_ns: Count | None = None
    accounting: tuple[_Account, ...] | None = None
    frequency_khz: tuple[dict[str, Any], ...] | None = None


class RecordTypes(Struct, frozen=True):
    """cell.json as far as its members are used; decoded only to refuse what is not of these types."""

    header: _Header | None = None
    trailer: _Trailer | None = None


def has_trace(record: Mapping[str, Any]) -> bool:
    """Whether the probe recorded what delays its tasks. `record`: cell.json."""
    header = record.get("header")
    in_force = header.get("in_force") if isinstance(header, dict) else None
    return isinstance(in_force, dict) and isinstance(in_force.get("trace"), dict)
