"""Which tests run when: the marks that tests/conftest.py gives and checks."""

import sys
from pathlib import Path

import pytest

from made_suite import suite
from processes import completed

SWEPT = """import pytest
@pytest.mark.parametrize("n", [{}pytest.param(2, marks=pytest.mark.sweep)])
def test_it(n): pass
"""
IN_ALONE = "import pytest\n@pytest.mark.beside\ndef test_pure(): pass\ndef test_real(): pass\n"


def collected(folder: Path, marks: str) -> tuple[int, str]:
    """What pytest would run of a suite."""
    argv = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marks, "tests"]
    done = completed(argv, cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("quick", ["1, ", ""])
def test_a_sweep_without_a_quick_variant_is_refused(tmp_path: Path, quick: str) -> None:
    code, said = collected(suite(tmp_path, {"test_swept.py": SWEPT.format(quick)}), "not sweep")
    if quick:
        assert (code, "test_it[1]" in said, "test_it[2]" in said) == (0, True, False), said
    else:
        assert code == 4 and "test_swept.py::test_it: no variant" in said


def test_what_neither_measures_nor_changes_the_machine_runs_beside_others(tmp_path: Path) -> None:
    suite(tmp_path, {"probe/test_some.py": IN_ALONE})
    for marks, expected in (("alone", (False, True)), ("not alone", (True, False))):
        code, said = collected(tmp_path, marks)
        assert (code, ("test_pure" in said, "test_real" in said)) == (0, expected), said
