"""What each format shows of six alterations, as docs/import.md says it; test_truths.py holds it against altered
files, and `python -m imports.shown` prints the table."""

from __future__ import annotations

from imports.truths import ALTERATIONS, Outcome

_LETTERS = {"r": Outcome.REFUSED, "e": Outcome.EQUAL, "n": Outcome.NOT_SHOWN}
_SHOWN = {
    "cyclictest": "re r re r r r",
    "cyclictest-json": "r r ren r re r",
    "cyclictest-summary": "rn r e e r r",
    "cyclictest-raw": "rn r r re ren r",
    "timerlat": "re r re rn r r",
    "timerlat-top": "ren r e rn re r",
    "osnoise": "re r re n rn r",
    "osnoise-top": "ren r e r re r",
    "jitterdebugger": "r r re rn r r",
    "jitterdebugger-raw": "rn r re r r rn",
    "rteval": "r r re r re r",
    "hwlatdetect": "r r re r re r",
    "oslat": "re r re r r r",
    "oslat-json": "r r re n re r",
    "linuxcnc": "ren r re r re r",
    "histogram": "rn r re r rn r",
    "csv": "rn n re n re rn",
}
"""In the order of ALTERATIONS."""
SHOWN = {
    format: {
        name: {_LETTERS[letter] for letter in letters}
        for name, letters in zip(ALTERATIONS, of.split(), strict=True)
    }
    for format, of in _SHOWN.items()
}


def table() -> str:
    """As Markdown."""
    lines = ["| format | " + " | ".join(ALTERATIONS) + " |", "|---" * (len(ALTERATIONS) + 1) + "|"]
    for format, of in SHOWN.items():
        cells = [", ".join(each.value for each in Outcome if each in of[name]) for name in ALTERATIONS]
        lines.append(f"| `{format}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
