"""The help of a command without the package that draws it: read from its file, before anything is installed.

    python3 tools/bare_help.py NAME [COMMAND [COMMAND]]      NAME: what the caller calls howlate

It works with older Pythons than howlate does. After the set-up `./howlate --help` is the same help, complete.
"""
# No annotations of new kinds here: this runs on whatever python3 there is.

import ast
import inspect
import sys
import textwrap
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "howlate"
CLI = PACKAGE / "cli"
ROOMS = sorted(PACKAGE.glob("*/cli"))
"""More commands, in the rooms of src/howlate/rooms.py."""
WIDTH = 100


def file_of(folder: Path, word: str) -> Path:
    """`run.py`, `import_.py` or `lab/__init__.py`."""
    names = (word + ".py", word + "_.py", word + "/__init__.py")
    places = [place / name for place in places_of(folder) for name in names]
    return next((place for place in places if place.exists()), places[0])


def places_of(folder: Path) -> "list[Path]":
    """The folders with the commands of a folder."""
    return [folder, *ROOMS] if folder == CLI else [folder, *sorted(PACKAGE.glob("*/" + folder.name))]


def summary(file: Path) -> str:
    """The first line of a file's docstring."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


def commands(folder: Path) -> "list[tuple[str, str]]":
    """The commands of a folder, each with its line."""
    paths = [path for place in places_of(folder) for path in place.iterdir()]
    names = sorted(path.stem.rstrip("_") for path in paths if not path.name.startswith("_"))
    return [(name, summary(file_of(folder, name))) for name in names]


def is_click(call: ast.AST, what: str) -> bool:
    """Is this `click.WHAT(...)`?"""
    function = getattr(call, "func", None)
    return isinstance(function, ast.Attribute) and function.attr == what


def text_of(call: ast.Call, keyword: str) -> str:
    """What a call gives to a keyword, where that is a text."""
    for given in call.keywords:
        if given.arg == keyword:
            try:
                return str(ast.literal_eval(given.value))
            except ValueError:
                return ""
    return ""


def options(tree: ast.AST, file: Path) -> "list[tuple[str, str]]":
    """The options that the decorators of a function declare; those of a shared decorator are in its own function."""
    rows = []
    for decorator in getattr(tree, "decorator_list", []):
        if is_click(decorator, "option"):
            rows.append(option(decorator))
        elif isinstance(decorator, ast.Name):
            rows += shared(file, decorator.id)
    return rows


def option(call: ast.Call) -> "tuple[str, str]":
    """Its names with what stands for the value, and its help."""
    names = [
        str(word) for word in (ast.literal_eval(argument) for argument in call.args) if word.startswith("-")
    ]
    return " ".join(filter(None, (", ".join(names), text_of(call, "metavar")))), text_of(call, "help")


def shared(command: Path, decorator: str) -> "list[tuple[str, str]]":
    """The options of a decorator that stands in the command's own file, or that several commands have."""
    places = (command.parent, CLI, *ROOMS, *sorted(PACKAGE.glob("*/cli/*/")))
    files = [command, *(file for place in places for file in sorted(place.glob("_*.py")))]
    for node in (node for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body):
        if decorator in names_of(node):
            rows = []
            for part in ast.walk(node):
                if is_click(part, "option"):
                    rows.append(option(part))  # type: ignore[arg-type]
                elif isinstance(part, ast.Name) and part.id.endswith("_option") and part.id != decorator:
                    rows += shared(command, part.id)
                elif isinstance(part, ast.Call) and getattr(part.func, "id", "") == "hooks":
                    for name in of_rooms(ast.literal_eval(part.args[0])):
                        rows += shared(command, name)
            return rows
    return []


def of_rooms(hook: str) -> "list[str]":
    """The decorators that the rooms' functions of that name return."""
    return [
        node.value.id
        for file in sorted(PACKAGE.glob("*/hooks.py"))
        for function in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(function, ast.FunctionDef) and function.name == hook
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
    ]


def names_of(node: ast.AST) -> "list[str]":
    """What a statement defines: a function, or a value."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    return [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]


def page(title: str, rows: "list[tuple[str, str]]") -> str:
    """A section: names on the left, what they are on the right."""
    lines = []
    for name, what in rows:
        first = "  " + name.ljust(22) + ("  " if len(name) <= 22 else "\n" + " " * 26)
        lines.append(first + ("\n" + " " * 26).join(textwrap.wrap(what, WIDTH - 26)))
    return "\n" + title + ":\n" + "\n".join(lines) + "\n"


def help_of(name: str, words: "list[str]") -> str:
    """The whole page."""
    folder, file = CLI, CLI / "__init__.py"
    path = []
    for word in words[:2]:
        found = file_of(folder, word)
        if not found.exists():
            break
        path.append(word)
        file = found
        folder = found.parent
    tree = ast.parse(file.read_text(encoding="utf-8"))
    function = next(
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in ("command", "howlate")
    )
    is_group = file.name == "__init__.py"
    described = inspect.cleandoc(ast.get_docstring(function) or "").replace("`howlate ", "`" + name + " ")
    text = (
        "Usage: " + " ".join((name, *path)) + (" COMMAND [ARGS]...\n\n" if is_group else " [OPTIONS] ...\n\n")
    )
    text += textwrap.indent(described, "  ") + "\n"
    rows = options(function, file)
    if rows:
        text += page("Options", rows)
    if is_group:
        text += page("Commands", commands(folder))
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and text_of(decorator, "epilog"):
            text += "\n" + text_of(decorator, "epilog").replace("howlate", name, 1) + "\n"
    return text


if __name__ == "__main__":
    print(help_of(sys.argv[1], sys.argv[2:]), end="")
