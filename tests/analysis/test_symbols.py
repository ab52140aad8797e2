"""Which of several names of an address is shown."""

from __future__ import annotations

import pytest

from howlate.analysis.symbols import Symbols

THUNK = 0xFFFFFFFF82000000


@pytest.mark.parametrize("names", [("__pi_thunk", "thunk"), ("thunk", "__pi_thunk"), ("_stext", "thunk")])
def test_an_alias_gives_way_to_the_functions_own_name(names: tuple[str, ...]) -> None:
    kallsyms = "".join(f"{THUNK:x} T {name}\n" for name in names)
    assert Symbols.of(kallsyms, b"").names == ("thunk",)


def test_an_alias_is_shown_where_there_is_no_other_name() -> None:
    assert Symbols.of(f"{THUNK:x} T __pi_thunk\n", b"").names == ("__pi_thunk",)
