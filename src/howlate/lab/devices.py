"""Devices that a guest has only if a cell needs them (docs/lab/guests.md has the table of those admitted)."""

from __future__ import annotations

CARDS = ("rtl8139", "e1000", "e1000e")
"""Network cards: a guest has two of a model on a hub of their own, and nothing else is on it."""
ADDRESS = "02:68:6c:{model:02x}:00:{number:02x}"
"""The address of a card. It is locally administered, so that no manufacturer's card has it; by the first three bytes
the load `network` knows the cards that it may flood (probe/src/loads/base/net_pair.cpp)."""
_FIRST_HUB = 1
"""The hub that makes the turns of several CPUs has number 0."""


def device_arguments(name: str) -> list[str]:
    if name not in CARDS:
        return ["-device", name]
    model = CARDS.index(name)
    return [word for number in (1, 2) for word in _card(name, model, number)]


def _card(name: str, model: int, number: int) -> list[str]:
    """One card of a pair. Its ROM would be a file of the host, which the guest never uses."""
    port = f"{name}-{number}"
    address = ADDRESS.format(model=model, number=number)
    return [
        *("-netdev", f"hubport,id={port},hubid={_FIRST_HUB + model}"),
        *("-device", f"{name},netdev={port},mac={address},romfile="),
    ]
