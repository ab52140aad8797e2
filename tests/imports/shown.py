"""What each format shows of six alterations, as docs/import.md says it; test_truths.py holds it against altered
files, and `python -m imports.shown` prints the table."""

from imports.foreign import FORMATS
from imports.truths import ALTERATIONS, Outcome

_LETTERS = {"r": Outcome.REFUSED, "e": Outcome.EQUAL, "n": Outcome.NOT_SHOWN}
SHOWN = {
    format.name: {
        name: {_LETTERS[letter] for letter in letters}
        for name, letters in zip(ALTERATIONS, format.shown.split(), strict=True)
    }
    for format in FORMATS
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
