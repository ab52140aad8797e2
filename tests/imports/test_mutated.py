"""Altered files: each gives a run or the documented error, whatever was altered. tools/mutate_imports.py does the
same for as long as one likes."""

import random

import pytest

from imports.foreign import BY_NAME, File
from imports.mutate import judged, mutated

TRIES = 60


@pytest.mark.parametrize("file", BY_NAME.values(), ids=lambda file: file.name)
def test_an_altered_file_gives_a_run_or_the_documented_error(file: File) -> None:
    data, chance = file.path.read_bytes(), random.Random(file.name)
    for number in range(TRIES):
        judged(file, mutated(data, chance), f"{file.name}, mutation {number}")
