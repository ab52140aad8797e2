"""Finds habits of wording that make texts and names hard to read, and says what to write instead.

python tools/lint_habits.py [PATH...]   mark each place in these files and folders (default: src, docs, probe)

It examines the texts of the program (messages, remedies, option help, table heads, chart titles), docstrings, the
pages of the documentation without code and generated blocks, and the names of public modules, classes, functions
and constants, of the probe those of its types. It does not examine comments and local variables.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
EXAMINED = (
    "src/howlate/*.py",
    "docs/*.md",
    "README.md",
    "CONTRIBUTING.md",
    "bench/README.md",
    "probe/src/*pp",
)
NOT_WRITTEN = {"docs/benchmarks.md", "docs/doctor.md"}
"""Pages that commands write, from texts that are examined where they stand."""
GENERATED = re.compile(r"<!-- (?:made\b|\./dev )[^>]*-->.*?<!-- end -->", re.DOTALL)
CODE = re.compile(r"^(?:```.*?^```|    [^\n]*)|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.DOTALL | re.MULTILINE)
CPP_TYPE = re.compile(
    r"^ *(?:template <class (\w+)>|(?:struct|class|enum class|enum) (\w+)\b(?! *[;(&*>,]))", re.MULTILINE
)
SEVERAL_WORDS = re.compile(r"\w\W* \W*\w")
TITLES = {"Caption", "_", "N_", "ngettext"}
"""Calls whose texts are seen even if they are one word."""


class Habit(Struct, frozen=True):
    """One habit: patterns of regular expressions, in which a space is any white space."""

    instead: str
    patterns: tuple[str, ...]

    @property
    def regex(self) -> re.Pattern[str]:
        return re.compile("|".join(self.patterns).replace(" ", r"\s+"))


TEXTS = (
    Habit(
        "name the actor and the thing: a noun, an active verb",
        (
            r"\basked for\b",
            r"\bwhat (?:is|was|are|were) (?:found|said|told|asked|wanted|named|drawn|had|seen)\b",
            r"\b(?:is|was) not said\b",
            r"\bnamed otherwise\b",
            r"\b(?:can|to) be had\b",
            r"\bkept by\b",
            r"\bhas to be explained\b",
            r"\bremoved again\b",
            r"\bhave their events\b",
            r"\bpromise anything\b",
            r"\blittle is known\b",
            r"\b[Bb]efell\b",
        ),
    ),
    Habit(
        "subject, verb, object: the topic need not come first",
        (
            r"\b[Ff]rom when\b",
            r"\b[Hh]ow (?:rare|often) (?:is how|which)\b",
            r"\bwere it not\b",
            r"\bshows? none\b",
            r"\bhas a probability of\b",
            r"\blike what was\b",
            r"\bstays inside what\b",
            r"\b[Ww]hat its values are\b",
            r"\bthere is one \w+ alone\b",
            r"\bgo(?:es)? on, and\b|\bwent on, and\b",
            r"\bstands? (?:above|below|there)\b",
            r"\bis about one\b",
            r"\bmade and break\b",
            r"^How close\b",
        ),
    ),
    Habit(
        "begin with the noun that is meant",
        (
            r"\A\s*Of (?!these|those)[^.,:{]*(?:\.|\Z)",
            r"\A\s*(?:Named in|For what|So many)\b",
            r"\A\S+ seeds cannot be\b",
            r"\A(?:in cases|largest in|altogether|worst|worst in)\Z",
            r"\bNo course of\b",
        ),
    ),
    Habit(
        "negate the verb: 'is not', 'has no', 'no X was'",
        (
            r"(?<!there.)(?<!There.)(?<!this.)\b(?:is|are|was|were) no (?!more|less|worse|\w+er\b)",
            r"(?<!it.)(?<!they.)\b(?:has|have|had) none\b",
            r"\b[Nn]othing (?:is|was) (?:said|called|kept|named|told|stated|concluded|claimed|shown|decided|drawn)\b",
            r"\b[Nn]othing would be\b",
            r"\b[Nn]one of its\b",
            r"\b(?:says?|said|knows?) nothing (?:of|about)\b",
            r"\bcounts? not\b(?! read)",
            r"\bmade no\b",
            r"\bnot keep (?:the|its|a) deadline\b",
        ),
    ),
    Habit(
        "the word of the field, or the everyday one",
        (
            r"\b[Aa]mid\b",
            r"(?<!stand.)(?<!stands.)\b[Bb]eside\b",
            r"\b[Dd]eeds?\b",
            r"\{deeds?\}",
            r"\b(?:a|the|next|longest|one|each|this|that|first|last) stretch\b|\b[Ss]tretches of\b",
            r"\b(?:a|the) spell\b",
            r"\b[Tt]eeth\b",
            r"\b[Ss]o many\b",
            r"\bonce more\b",
            r"\bagain and again\b",
            r"\bas long again\b",
            r"\bagainst its will\b",
            r"\btoo equal\b",
            r"\bto the last digit\b",
        ),
    ),
)
PARTICIPLES = "found|told|asked|said|drawn|kept|wanted|held|had|prepared|drafted"
NAMES = Habit(
    "a noun for what it is, a verb for what it does, qualified where there are several",
    (
        rf"\A(?i:{PARTICIPLES}|tell|deed|so many|rule|material)\Z|\Aexplain\Z|\ANOT_HAD\Z",
        r"(?:\A|_)(?i:amid|begun|told(?!_apart)|untold|asked|unseen|untraced|undecided|deeds?|teeth|stretch)(?:_|\Z)",
        r"_(?:STATED|LABELLED)\Z|\A(?:Asked|Told)[A-Z]|Deeds?\Z",
        r"\A(?:Doubt|OpenPart|Lane|Crew|Bell|Gate|Kind|Way|Whose|Place)\Z",
        r"\A(?:same_plan|same_points|either_has_all)\Z",
        r"(?:\A|/)(?:same|places|own|alone|beside|eps|promise|undecided|teeth|own_course|way_in)\.py\Z",
        r"\A(?:why|explain)\.py\Z|\Areport/(?:late|why)_\w+\.py\Z",
    ),
)
"""Of modules the path in the package."""


class Mark(Struct, frozen=True):
    path: Path
    line: int
    text: str
    instead: str

    def __str__(self) -> str:
        return f'{self.path.relative_to(ROOT)}:{self.line}: "{self.text}": {self.instead}'


def in_text(text: str) -> Iterator[tuple[int, str, str]]:
    """Each habit in a text: its offset, the words, what to write instead."""
    for habit in TEXTS:
        for match in habit.regex.finditer(text):
            yield match.start(), " ".join(match[0].split()), habit.instead


def is_marked_name(name: str) -> bool:
    """Whether the name of a class, function or constant, or a module's path in the package, has a habit."""
    return NAMES.regex.search(name.strip("_")) is not None


def texts_of_python(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every text of several words, and each title, with its line: docstrings are among them."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    titles = {
        id(argument)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in TITLES
        for argument in call.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            if id(node) in titles or SEVERAL_WORDS.search(node.value):
                yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            pieces = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(str(piece) for piece in pieces)


def names_of_python(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Classes, functions, what a module assigns, and the members of classes that are participles."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.lineno, node.name
        for part in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
            targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
            for name in (target.id for target in targets if isinstance(target, ast.Name)):
                if isinstance(node, ast.Module) or re.fullmatch(PARTICIPLES, name, re.IGNORECASE):
                    yield part.lineno, name


def marks_of_names(path: Path, names: Iterable[tuple[int, str]]) -> Iterator[Mark]:
    for line, name in names:
        if not name.startswith("_") and is_marked_name(name):
            yield Mark(path, line, name, NAMES.instead)


def marks_of_python(path: Path, source: str) -> Iterator[Mark]:
    tree = ast.parse(source)
    for line, text in texts_of_python(tree):
        for offset, words, instead in in_text(text):
            yield Mark(path, line + text.count("\n", 0, offset), words, instead)
    package = ROOT / "src" / "howlate"
    module = path.relative_to(package if path.is_relative_to(package) else path.parent)
    yield from marks_of_names(path, [(1, module.as_posix()), *names_of_python(tree)])


def marks_of_page(path: Path, source: str) -> Iterator[Mark]:
    def blank(match: re.Match[str]) -> str:
        return "`" + "\n" * match[0].count("\n")

    text = CODE.sub(blank, GENERATED.sub(blank, source))
    for offset, words, instead in in_text(text):
        yield Mark(path, text.count("\n", 0, offset) + 1, words, instead)


def marks_of_cpp(path: Path, source: str) -> Iterator[Mark]:
    names = ((source.count("\n", 0, m.start()) + 1, m[1] or m[2]) for m in CPP_TYPE.finditer(source))
    yield from marks_of_names(path, names)


def marks(path: Path) -> list[Mark]:
    source = path.read_text(encoding="utf-8")
    by_suffix = {".py": marks_of_python, ".md": marks_of_page}
    return list(by_suffix.get(path.suffix, marks_of_cpp)(path, source))


def files(paths: list[str]) -> list[Path]:
    """The files of the repository that are examined, all or those at or below these paths."""
    listed = subprocess.run(
        ["git", "ls-files", *EXAMINED], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    wanted = [Path(path).resolve() for path in paths] or [ROOT]
    chosen = [ROOT / name for name in listed if name not in NOT_WRITTEN]
    return [path for path in chosen if path.is_file() and any(path.is_relative_to(each) for each in wanted)]


def main(arguments: list[str]) -> int:
    if any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    marked = [mark for path in files(arguments) for mark in marks(path)]
    print("\n".join(str(mark) for mark in marked) or "no habit")
    return 1 if marked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
