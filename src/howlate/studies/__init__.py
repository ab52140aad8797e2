"""The studies that come with howlate, and those that the user names by their files."""

from __future__ import annotations

from pathlib import Path

from howlate.errors import UsageError
from howlate.model.decode import read_text, unknown
from howlate.model.study import Study, read_study
from howlate.rooms import folders


def studies() -> dict[str, Path]:
    """The studies that come with howlate, by id."""
    paths = [path for folder in reversed(folders(__name__).values()) for path in folder.glob("*.toml")]
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


def find_study(text: str) -> Study:
    if text.endswith(".toml") or "/" in text:
        return read_study(Path(text))
    known = studies()
    if text not in known:
        raise UsageError(unknown("study", text, known))
    return read_study(known[text])


def study_text(text: str) -> str:
    """The TOML of a study that `find_study` finds."""
    return read_text(studies().get(text) or Path(text), UsageError)
