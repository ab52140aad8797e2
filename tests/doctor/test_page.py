"""docs/doctor.md says what the checks and the knobs say of themselves."""

import subprocess
import sys

from howlate.system.paths import ROOT


def test_the_page_is_in_step_with_the_checks() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "doctor_page.py"], capture_output=True, text=True, check=True
    )
    written = (ROOT / "docs" / "doctor.md").read_text()
    assert written == done.stdout, "run `python tools/doctor_page.py > docs/doctor.md`"
