"""Which of several names of an address is shown."""

import numpy as np
import pytest

from howlate.replay.symbols import NO_NAME, Symbols

THUNK = 0xFFFFFFFF82000000


@pytest.mark.parametrize("names", [("__pi_thunk", "thunk"), ("thunk", "__pi_thunk"), ("_stext", "thunk")])
def test_an_alias_gives_way_to_the_functions_own_name(names: tuple[str, ...]) -> None:
    kallsyms = "".join(f"{THUNK:x} T {name}\n" for name in names)
    assert Symbols.of(kallsyms, b"").names == ("thunk", NO_NAME)


def test_an_alias_is_shown_where_there_is_no_other_name() -> None:
    assert Symbols.of(f"{THUNK:x} T __pi_thunk\n", b"").names == ("__pi_thunk", NO_NAME)


def test_a_kernel_that_tells_no_symbols_has_none() -> None:
    assert Symbols.of("", b"").names == ()


def test_code_far_behind_the_last_function_of_a_module_is_not_its() -> None:
    """As BPF programs are, between modules and behind the last one."""
    module, later, last = 0xFFFFFFFFC0123F80, 0xFFFFFFFFC0124010, 0xFFFFFFFFC0200000
    symbols = Symbols.of(f"{module:x} t exit [a]\n{later:x} t late [a]\n{last:x} t gso [b]\n", b"")
    inside = [module + 0x80, later + 0x1000, last + 0x100]
    beyond = [later + 0x3000, last - 1, last + 0x2000, last + 0x100000]
    named = [symbols.name(int(at)) for at in symbols.indices(np.array(inside + beyond, np.uint64))]
    assert named == ["exit [a]", "late [a]", "gso [b]", *["[no name]"] * 4]
