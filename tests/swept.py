"""Which of many combinations are tested in the quick suite."""

from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any

import pytest


def crossed(*axes: Sequence[Hashable]) -> list[Any]:
    """Of all combinations the fewest that have each value of each axis; the others are a sweep."""
    quick = {tuple(axis[n % len(axis)] for axis in axes) for n in range(max(map(len, axes)) * all(axes))}
    return [pytest.param(*each, marks=() if each in quick else pytest.mark.sweep) for each in product(*axes)]
