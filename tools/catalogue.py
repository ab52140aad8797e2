"""The catalogues of the languages, kept in step with the sources (docs/how-to/languages.md).

python tools/catalogue.py update    every catalogue anew from the sources; what is translated stays
python tools/catalogue.py check     are they in step, do they compile, do placeholders agree; what is missing
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeGuard

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po, write_po

from howlate.catalogue import FEWEST_LETTERS, letters_of
from howlate.report import configs

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "howlate"
LOCALE = PACKAGE / "locale"

SHOWN = ("cli", "charts", "report")
"""Packages that print: what they say is marked where it is printed. All others make sentences for them."""
SILENT = ("catalogue.py", "language.py")
"""They hold no sentences."""
MARKS = {"_": 1, "N_": 1, "ngettext": 2}
"""Functions that mark a text, and how many of their arguments are texts."""
ERRORS = {
    "HowlateError",
    "UsageError",
    "NotPossibleError",
    "TargetError",
    "DamagedError",
    "StorageError",
    "fail",
    "error",
}
"""What an error is made with: all its texts are sentences."""
HELP = {"help", "short_help"}
NAMED = {"TITLE", "WHY"}
"""Module variables that are sentences, whatever they look like."""
_PROSE = re.compile(r"[a-z)`>,;:] +[(`\"'a-z]")
_NO_PROSE = re.compile(
    r"^\s*(SELECT|COPY|CREATE|SET|WITH|FROM|WHERE|GROUP|ORDER|<|#|set |plot |--)|https?://|^\W*$|::|=\s*\[|\bSELECT\b"
)


@dataclass(frozen=True)
class Found:
    """A text of the sources."""

    text: str
    place: str
    plural: str = ""


def template(node: ast.expr) -> str | None:
    """The text of a literal; an f-string's fields become names, as the catalogue's reader fills them in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    names: dict[str, str] = {}
    pieces = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            pieces.append(str(part.value).replace("{", "{{").replace("}", "}}"))
        elif isinstance(part, ast.FormattedValue):
            pieces.append(f"{{{_name(part, names)}}}")
    return "".join(pieces)


def _name(field: ast.FormattedValue, names: dict[str, str]) -> str:
    """A field's name by its expression; the same expression has the same."""
    key = ast.unparse(field)
    if key not in names:
        base = _base(field.value)
        taken = set(names.values())
        names[key] = next(n for n in (base, *(f"{base}{i}" for i in range(2, 99))) if n not in taken)
    return names[key]


def _base(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id.strip("_").lower() or "value"
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_").lower()
    if isinstance(node, ast.Call):
        inner = next((a for a in node.args if isinstance(a, ast.Name | ast.Attribute)), None)
        return _base(inner if inner is not None else node.func)
    if isinstance(node, ast.Subscript):
        return _base(node.value)
    if isinstance(node, ast.BinOp):
        return _base(node.left)
    return "value"


def _texts(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Literals below a node, an f-string as one."""
    whole = template(node) if isinstance(node, ast.expr) else None
    if whole is not None:
        assert isinstance(node, ast.expr)
        yield node, whole
        for part in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(part, ast.FormattedValue):
                yield from _texts(part.value)
        return
    for child in ast.iter_child_nodes(node):
        yield from _texts(child)


def _docstrings(tree: ast.Module) -> set[int]:
    """Texts that stand alone: docstrings, also of attributes."""
    return {
        id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)
    }


def is_text(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def called(node: ast.AST) -> str:
    """The last name of what is called."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def is_prose(text: str) -> bool:
    return bool(_PROSE.search(re.sub(r"\{\w+\}", "x", text))) and not _NO_PROSE.search(text)


def _of_shown(tree: ast.Module, place: str) -> Iterator[Found]:
    for node in ast.walk(tree):
        name = called(node)
        if name in ERRORS and isinstance(node, ast.Call):
            for argument in node.args:
                yield from (Found(text, place) for _, text in _texts(argument) if re.search("[a-z]{2}", text))
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg in HELP and (text := template(keyword.value)):
                yield Found(text, place)


def _of_commands(tree: ast.Module, place: str) -> Iterator[Found]:
    """The docstrings that `--help` shows."""
    first = (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")
    name = Path(place)
    if not name.name.startswith("_") or (name.name == "__init__.py" and name.parent.name != "cli"):
        yield Found(first, place)
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not (said := ast.get_docstring(node)):
            continue
        if any("command" in ast.unparse(d) or "group" in ast.unparse(d) for d in node.decorator_list):
            yield Found(said, place)


def _of_marks(tree: ast.Module, place: str) -> Iterator[Found]:
    for node in ast.walk(tree):
        name = called(node)
        if not isinstance(node, ast.Call) or name not in MARKS:
            continue
        texts = [str(its.value) for its in node.args[: MARKS[name]] if isinstance(its, ast.Constant)]
        if len(texts) == MARKS[name]:
            yield Found(texts[0], place, "".join(texts[1:]))
        elif any(isinstance(its, ast.JoinedStr) for its in node.args):
            raise SystemExit(f"{place}:{node.lineno}: an f-string inside {name}() cannot be translated")


def _refuse_early(tree: ast.Module, place: str) -> None:
    """`_()` where the language is not known yet."""
    inside = {id(its) for node in ast.walk(tree) if isinstance(node, LATER) for its in ast.walk(node)}
    for node in ast.walk(tree):
        if (
            called(node) in ("_", "ngettext", "retold")
            and id(node) not in inside
            and isinstance(node, ast.Call)
        ):
            raise SystemExit(
                f"{place}:{node.lineno}: {called(node)}() runs when the module is imported; mark it with N_()"
            )


def _refuse_unfilled(tree: ast.Module, place: str) -> None:
    """`_("{count} cells").format(cells=…)` would fail where it is said."""
    for node in ast.walk(tree):
        if (
            called(node) != "format"
            or not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
        ):
            continue
        said = node.func.value
        if called(said) not in MARKS or not isinstance(said, ast.Call):
            continue
        filled = {str(keyword.arg) for keyword in node.keywords}
        for text in said.args[: MARKS[called(said)]]:
            wanted = set(re.findall(r"\{(\w+)", str(text.value))) if is_text(text) else filled
            if wanted - filled or (filled - wanted and called(said) != "ngettext"):
                raise SystemExit(f"{place}:{node.lineno}: {sorted(wanted)} is filled with {sorted(filled)}")


LATER = (ast.FunctionDef, ast.Lambda)
"""What stands in these runs when a language is spoken."""


def _of_sentences(tree: ast.Module, place: str) -> Iterator[Found]:
    alone = _docstrings(tree)
    named = {
        id(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in NAMED
    }
    for node, text in _texts(tree):
        if id(node) in named or (
            id(node) not in alone and is_prose(text) and letters_of(text) >= FEWEST_LETTERS
        ):
            yield Found(text, place)


def extract() -> list[Found]:
    """Every text of the sources, in their order."""
    found: list[Found] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name in SILENT:
            continue
        place = str(path.relative_to(ROOT))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        _refuse_early(tree, place)
        _refuse_unfilled(tree, place)
        found += _of_marks(tree, place)
        package = path.relative_to(PACKAGE).parts[0]
        if package in SHOWN or path.is_relative_to(
            PACKAGE / "store" / "export"
        ):  # whose files speak no language
            found += _of_shown(tree, place)
        else:
            found += _of_sentences(tree, place)
        if package == "cli":
            found += _of_commands(tree, place)
    for _pattern, why in configs.MATTERS:
        found.append(Found(why, "src/howlate/report/configs.py"))
    for path in sorted((ROOT / "studies").glob("*.toml")):
        found += _of_study(tomllib.loads(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT)))
    return found


def _of_study(study: dict[str, Any], place: str) -> Iterator[Found]:
    """What the built-in studies are called, and ask."""
    for table in (study, *study.get("part", ())):
        yield from (Found(table[name], place) for name in ("title", "question") if table.get(name))


def catalogue_of(found: list[Found], language: str | None = None) -> Catalog:
    """What the sources say, in the form of the tools. Places have no line numbers: they would change with every
    edit."""
    made = Catalog(
        locale=language, project="howlate", copyright_holder="the authors of howlate", charset="utf-8"
    )
    for its in found:
        made.add((its.text, its.plural) if its.plural else its.text, locations=[(its.place, 0)])
    return made


def path_of(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "howlate.po"


def languages() -> list[str]:
    return sorted(path.name for path in LOCALE.iterdir() if path.is_dir())


def key(message: Message) -> str | tuple[str, ...]:
    return message.id if isinstance(message.id, str) else tuple(message.id)


def update(fuzzy: bool = True) -> None:
    """Brings every catalogue to what the sources say. What they say no longer goes; git keeps it."""
    template_ = catalogue_of(extract())
    for language in languages():
        path = path_of(language)
        old = read(language)
        old.update(template_, no_fuzzy_matching=not fuzzy, update_creation_date=False)
        old.obsolete.clear()
        old.fuzzy = False
        old.header_comment = "# howlate in another language: docs/how-to/languages.md\n#"
        written = BytesIO()
        write_po(written, old, width=100, ignore_obsolete=True, include_lineno=False)
        lines = [line for line in written.getvalue().decode().splitlines() if not line.startswith(VARYING)]
        path.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")


VARYING = (
    '"POT-Creation-Date: ',
    '"PO-Revision-Date: ',
    '"Generated-By: ',
    '"Last-Translator: ',
    '"Language-Team: ',
    '"Report-Msgid-Bugs-To: ',
    '"Project-Id-Version: ',
)
"""Lines of the head that change without a change, or say nothing."""


def read(language: str) -> Catalog:
    """A catalogue; SystemExit where it is none."""
    path = path_of(language)
    try:
        with path.open("rb") as file:
            return read_po(file, locale=language, abort_invalid=True)
    except PoFileError as problem:
        raise SystemExit(f"{path.relative_to(ROOT)}: {problem}") from None


def problems_of(language: str, template_: Catalog) -> list[str]:
    """What is wrong with a catalogue. That a translation is missing is not."""
    catalogue = read(language)
    write_mo(BytesIO(), catalogue)  # compiles
    said, wanted = ({key(message) for message in each if message.id} for each in (catalogue, template_))
    found = [f"not in the catalogue: {name!r}" for name in sorted(map(str, wanted - said))]
    found += [f"not in the sources: {name!r}" for name in sorted(map(str, said - wanted))]
    for message in catalogue:
        texts = message.id if isinstance(message.id, tuple | list) else [message.id]
        forms = message.string if isinstance(message.string, tuple | list) else [message.string]
        for form in forms:
            if message.id and form and set(fields(form)) != set(fields(texts[-1])):
                found.append(f"other fields than the source: {texts[-1]!r}: {form!r}")
    return found


def fields(text: str) -> list[str]:
    """What is filled in, with how it is written: `{count:,}`."""
    return re.findall(r"\{\w+(?:![rsa])?(?::[^{}]*)?\}|%\(\w+\)s", text.replace("{{", "").replace("}}", ""))


def missing_and_doubtful(language: str) -> tuple[int, int, int]:
    """How many texts have no translation, how many a doubtful one, of how many."""
    messages = [message for message in read(language) if message.id]
    texts = [
        (message, message.string if isinstance(message.string, tuple | list) else [message.string])
        for message in messages
    ]
    return (
        sum(not all(forms) for _, forms in texts),
        sum(message.fuzzy for message, forms in texts if all(forms)),
        len(messages),
    )


def check() -> int:
    template_ = catalogue_of(extract())
    failed = 0
    for language in languages():
        for problem in problems_of(language, template_):
            print(f"{language}: {problem}")
            failed += 1
        missing, doubtful, of = missing_and_doubtful(language)
        print(
            f"{language}: {missing} of {of} translations missing, {doubtful} doubtful; those are said in English"
        )
    if failed:
        print(f"{failed} problems in the catalogues; `./dev lang` brings them in step with the sources")
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    if arguments == ["check"]:
        return check()
    if arguments in (["update"], ["update", "--no-fuzzy"]):
        update(fuzzy=len(arguments) == 1)
        return check()
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
