"""An error of howlate's is raised with a statement or with a template and its values (tests/words/test_messages.py),
never with a text that is made there: names in it would not be printable."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import howlate
from messages import errors, is_said

ERRORS = errors()
OF_A_LINE = {"wrong", "at"}
"""Of the importers: what is wrong in a line of a foreign file is a value of one rule (imports/formats/_text.py)."""
TEXT_METHODS = {"format", "join", "strip", "rstrip", "lstrip", "removesuffix", "removeprefix", "replace"}


def is_text(value: ast.expr, texts: set[str]) -> bool:
    """Whether it is a str as far as it can be seen: a text, one that is filled in, or a name of one."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    if isinstance(value, ast.BinOp):
        return is_text(value.left, texts) or is_text(value.right, texts)
    if isinstance(value, ast.BoolOp):
        return any(is_text(each, texts) for each in value.values)
    if isinstance(value, ast.IfExp):
        return is_text(value.body, texts) or is_text(value.orelse, texts)
    if isinstance(value, ast.Call):
        called = value.func
        made = isinstance(called, ast.Name) and called.id == "str"
        return made or (isinstance(called, ast.Attribute) and called.attr in TEXT_METHODS)
    if isinstance(value, ast.Attribute):
        return value.attr == "message"
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Name) and value.id in texts)


def names_of_texts(scope: ast.AST) -> set[str]:
    """The names in a scope that a text is given to, arguments of this type among them."""
    names: set[str] = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and is_text(node.value, names):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if (
            isinstance(node, ast.arg)
            and isinstance(node.annotation, ast.Name)
            and node.annotation.id == "str"
        ):
            names.add(node.arg)
    return names


def makes_an_error(called: ast.expr, raised: bool, own: set[str]) -> bool:
    """Whether a call makes an error of howlate's: it names one, or it is raised and calls no class (`kind(...)`,
    `self.error(...)`, `table.fail(...)`). A function of howlate's (`own`) is looked at where it is written."""
    if isinstance(called, ast.Name) and called.id in ERRORS:
        return True
    if isinstance(called, ast.Attribute) and (
        called.attr in OF_A_LINE or (isinstance(called.value, ast.Name) and called.value.id in own)
    ):
        return False
    name = (
        called.id
        if isinstance(called, ast.Name)
        else called.attr
        if isinstance(called, ast.Attribute)
        else ""
    )
    return raised and name not in own and not name.strip("_")[:1].isupper()


def of_howlate(tree: ast.Module) -> Iterator[str]:
    """The names that a file imports from howlate."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("howlate"):
            yield from (name.asname or name.name for name in node.names)


def texts_raised(source: str) -> Iterator[str]:
    """Where an error of howlate's is made of a text."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    own = {function.name for function in functions} | set(of_howlate(tree))
    raised = {node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)}
    for scope in (tree, *functions):
        texts = names_of_texts(scope) if scope is not tree else set()
        for node in ast.walk(scope):
            if not isinstance(node, ast.Call) or not makes_an_error(node.func, node in raised, own):
                continue
            if is_said(node):
                continue
            given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "problem")]
            if any(is_text(value, texts) for value in given):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def test_no_error_is_raised_with_a_text() -> None:
    sources = Path(howlate.__file__).parent
    found = {
        str(path.relative_to(sources)): texts
        for path in sorted(sources.rglob("*.py"))
        if (texts := list(dict.fromkeys(texts_raised(path.read_text(encoding="utf-8")))))
    }
    assert found == {}


@pytest.mark.parametrize(
    "raised",
    [
        'UsageError(f"{path} is wrong")',
        'UsageError("{path} is wrong".format(path=path))',
        "UsageError(text)",
        "UsageError(path)",
        "UsageError(str(path))",
        "UsageError(error.message)",
        'UsageError(text if path else "")',
        'UsageError(problem="it is wrong")',
        'kind("it is wrong")',
        'self.error("it is wrong")',
        'UsageError("it is {} wrong".format(path))',
        '(UsageError if path else kind)(f"{path} is wrong")',
    ],
)
def test_a_text_is_seen_however_it_is_raised(raised: str) -> None:
    source = f"def check(self, path: str, kind, error):\n    text = 'it ' + 'is wrong'\n    raise {raised}\n"
    assert list(texts_raised(source))


def test_a_function_of_howlate_is_looked_at_where_it_is_written() -> None:
    source = "from howlate.errors import made\nfrom {} import kind\n\ndef check(kind):\n    raise {}('it is wrong')\n"
    assert not list(texts_raised(source.format("howlate.lab", "made")))
    assert not list(texts_raised(source.format("howlate.lab", "kind.made")))
    assert list(texts_raised(source.format("other", "kind")))


@pytest.mark.parametrize(
    "raised",
    [
        "UsageError(WRONG(path=path))",
        'UsageError("{path} is wrong", path=path)',
        'ValueError("it is wrong")',
        "table.fail(problem)",
        "error",
    ],
)
def test_statements_and_the_errors_of_others_are_left_alone(raised: str) -> None:
    source = f"def check(path: str, table, problem, error):\n    raise {raised}\n"
    assert not list(texts_raised(source))
