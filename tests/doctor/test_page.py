"""docs/doctor.md says what the checks and the knobs say of themselves."""

import sys

from howlate.system.paths import ROOT
from processes import completed


def test_the_page_is_in_step_with_the_checks() -> None:
    done = completed([sys.executable, ROOT / "tools" / "doctor_page.py"], check=True)
    written = (ROOT / "docs" / "doctor.md").read_text()
    assert written == done.stdout, "run `python tools/doctor_page.py > docs/doctor.md`"
