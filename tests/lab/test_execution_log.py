from pathlib import Path

import numpy as np

from howlate.lab.guests.execution_log import LogFiles


def test_an_instruction_that_was_cut_at_the_end_of_a_page_is_whole(tmp_path: Path) -> None:
    """As QEMU translates it: begun, given up, begun again, and perhaps all of it once more."""
    (tmp_path / "log.code").write_text("ffe e8\nffe e8cd020000\n1000 90\nffe e8\n")
    np.array([0xFFE, 0x1000], dtype=np.uint64).tofile(tmp_path / "log.pc")
    (tmp_path / "log.marks").write_text("0 begin 100 40\n2 end 102 42\n")
    (log,) = LogFiles(tmp_path).read()
    assert list(log.anchors) == [(0, 100, 40), (2, 102, 42)]
    assert log.code == {0xFFE: bytes.fromhex("e8cd020000"), 0x1000: b"\x90"}
