"""How the probe is put on another machine: possible folders, the script, and why a folder does not take it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from howlate.errors import UsageError

_PLACE = re.compile(r"/[A-Za-z0-9._@:+/-]*")


def is_place(folder: str) -> bool:
    """Whether a command there can name it without quotes."""
    return _PLACE.fullmatch(folder) is not None


def configured_folder() -> str:
    """$HOWLATE_SSH_FOLDER; UsageError where no command there could name it."""
    folder = os.environ.get("HOWLATE_SSH_FOLDER", "")
    if folder and not is_place(folder):
        raise UsageError(
            '$HOWLATE_SSH_FOLDER is "{folder}", which cannot be used',
            remedy="name an absolute folder, of letters, digits and . _ @ : + - only",
            folder=folder,
        )
    return folder


def put_script(folder: str, size: int, owner: str, keep_s: float) -> str:
    """The keeper's answer is its last line; where something fails the folder goes, and the last line says why."""
    probe = f"{folder}/howlate-probe"
    undo = f"{{ rm -rf {folder}; exit"
    return (
        f"exec 2>&1; umask 077; mkdir {folder} || exit 10; "
        f"cat >{probe} || {undo} 11; }}; "
        f"test $(wc -c <{probe}) -eq {size} || {undo} 12; }}; "
        f"chmod 700 {probe}; "
        f"{probe} session open {folder} --owner {owner} --keep {keep_s * 1000:.0f}ms || {undo} 13; }}"
    )


def why_not(lines: Sequence[str], code: int) -> str:
    """Why a place did not take it, from what the script printed and its exit code."""
    last = lines[-1].rpartition(": ")[2] if lines else ""
    if code == 13 and "ermission denied" in last:
        return "mounted noexec, or programs may not be started there"
    if code == 12:
        return "not all of it arrived"
    return last or f"exit code {code}"
