#!/usr/bin/env python3
"""What howlate offers and what it says of twelve runs, as one JSON document, and what differs from an older one.

    ./dev inventory before.json --runs old              on the commit before
    ./dev inventory --compare before.json --runs old    on the one after: a line each, exit code 1 if anything differs

The document holds the commands with their options, the exit codes, the messages, and, of calls over the runs, the
exit code, the text, the members and values of the JSON, and digests of the files. `--runs DIR` keeps the runs
(tests/made_inventory.py): they are made where DIR does not exist, and read as they are where it does, so both commits
read the same. `written` is what each commit writes when it makes the runs itself.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import importlib
import json
import os
import pkgutil
import re
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from made_inventory import OF_A_RUN, OF_RUNS, RUNS, make_runs

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {
    "COLUMNS": "100",
    "HOWLATE_COMMAND": "howlate",
    "LANGUAGE": "",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "TZ": "UTC",
}
OWN = ("token", "checksum")
"""Members of run.json that are drawn at random, or made from those."""
SHORTENED = 160
"""Characters of a value in a line of the comparison."""
NOTHING = object()
"""In the place of what one of the two documents lacks."""


def modules() -> None:
    """Import all of howlate: then every message is declared, and the calls, which fork, need not import anything."""
    import howlate

    for module in pkgutil.walk_packages(howlate.__path__, "howlate."):
        importlib.import_module(module.name)


def messages() -> dict[str, Any]:
    from howlate.words.statement import MESSAGES

    members = ("text", "many", "by", "remedy")
    return {name: {m: getattr(one, m) for m in members if getattr(one, m)} for name, one in MESSAGES.items()}


def commands() -> dict[str, Any]:
    """By their words, as click describes them; an option by its longest name."""
    import click

    from howlate.cli import howlate

    found: dict[str, Any] = {}

    def walk(words: tuple[str, ...], command: click.Command) -> None:
        context = click.Context(command, info_name=command.name)
        parameters = {max(p.opts, key=len): p.to_info_dict() for p in command.get_params(context)}
        told = {
            "hidden": command.hidden,
            "help": command.help,
            "epilog": command.epilog,
            "parameters": parameters,
            "order": list(parameters),
        }
        found[" ".join(words)] = json.loads(json.dumps(told, default=str))
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                walk((*words, name), below)

    walk(("howlate",), howlate)
    return found


def exit_codes() -> dict[str, str]:
    """The rows of both tables of docs/commands.md, which a test makes from calls."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    section = text.partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.*) \|$", section, re.MULTILINE)
    return {name.strip("`"): cells for name, cells in rows if name != "---"}


def typed(words: str, place: Path) -> dict[str, Any]:
    """What one call ends with, says and writes, in a forked process whose working folder is this place."""
    said = {number: place.parent / name for number, name in ((1, "stdout"), (2, "stderr"))}
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 120
        try:
            for number, path in said.items():
                os.dup2(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in said)
            os.chdir(place)
            beside = str(place.parent)
            os.environ.update(ENVIRONMENT, TMPDIR=beside, HOME=beside, HOWLATE_CACHE=f"{beside}/cache")
            tempfile.tempdir = None
            from howlate import __main__ as entry

            code = entry.main(shlex.split(words))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    out, err = (neutral(path.read_bytes(), place) for path in said.values())
    found: dict[str, Any] = {"exit": code, "stderr": err.splitlines()}
    try:
        found["json"] = json.loads(out) if "--json" in words else None
    except ValueError:
        found["json"] = None
    if found["json"] is None:
        found["stdout"] = out.splitlines()
    for path in sorted(place.glob("out*")):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            found.setdefault("files", {})[str(file.relative_to(place))] = described(file, place)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return {name: value for name, value in found.items() if value not in (None, [])}


def neutral(data: bytes, place: Path) -> str:
    """The text without what the folder of this call makes of it."""
    return data.decode("utf-8", "backslashreplace").replace(str(place), "PLACE")


def described(file: Path, place: Path) -> dict[str, Any]:
    """Of a page the sentences and figures that one reads, too."""
    text = neutral(file.read_bytes(), place)
    told: dict[str, Any] = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "characters": len(text)}
    if file.suffix in (".html", ".md", ".xml"):
        text = re.sub(r"<(script|style|svg)\b.*?</\1>", "", text, flags=re.DOTALL)
        told["text"] = [line.strip() for line in re.sub(r"<[^>]+>", "\n", text).splitlines() if line.strip()]
    return told


def figures(runs: Path, names: Sequence[str], of_a_run: Sequence[str]) -> dict[str, Any]:
    """By run, and by what is typed with RUN in the place of its name."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "work"
        shutil.copytree(runs, place)
        for name in names:
            found[name] = {words: typed(words.replace("RUN", name), place) for words in of_a_run}
        for wanted, several in OF_RUNS.items():
            if set(wanted.split()) <= set(names):
                own = {words: typed(words, place) for words in several}
                found.setdefault(wanted or "no run", {}).update(own)
    return found


def members(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all members of a JSON value; [] is any element of a list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{path}.{name}"
            yield from members(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner, f"{path}[]")


def json_members(figures: Mapping[str, Any]) -> dict[str, list[str]]:
    """Of each call that prints JSON, over all runs."""
    found: dict[str, set[str]] = {}
    for calls in figures.values():
        for words, told in calls.items():
            if "json" in told:
                found.setdefault(words, set()).update(members(told["json"]))
    return {words: sorted(paths) for words, paths in found.items()}


def written(runs: Path, names: Sequence[str]) -> dict[str, Any]:
    """The files of each run, those of JSON that are read by people with their values."""
    found: dict[str, Any] = {}
    for file in sorted(path for name in names for path in (runs / name).rglob("*") if path.is_file()):
        name = str(file.relative_to(runs))
        if file.name in ("run.json", "cell.json", "summary.json", "error.json"):
            value = json.loads(neutral(file.read_bytes(), runs))
            found[name] = {member: its for member, its in value.items() if member not in OWN}
        elif file.name != "checksums.json":  # they are of the token
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def inventory(
    runs: Path | None = None, names: Sequence[str] = tuple(RUNS), of_a_run: Sequence[str] = OF_A_RUN
) -> dict[str, Any]:
    """The document. `runs`: where the old runs are, or are to be kept."""
    modules()
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / "runs"
        make_runs(new, names)
        if runs is not None and not runs.exists():
            shutil.copytree(new, runs)
        told = figures(runs or new, names, of_a_run)
        made = written(new, names)
    return {
        "commands": commands(),
        "exit_codes": exit_codes(),
        "figures": told,
        "json_members": json_members(told),
        "messages": messages(),
        "written": made,
    }


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """A line each: where, what it was, what it is."""
    if as_text(before) == as_text(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            inner = f"{path} / {name}" if path else name
            yield from differences(before.get(name, NOTHING), after.get(name, NOTHING), inner)
    elif isinstance(before, list) and isinstance(after, list):
        for n, was, now in beside_each_other(before, after):
            yield from differences(was, now, f"{path}[{n}]")
    else:
        was, now = (shortened(as_text(value)) for value in (before, after))
        yield f"{path}: {was} -> {now}"


def beside_each_other(before: Sequence[Any], after: Sequence[Any]) -> Iterator[tuple[int, Any, Any]]:
    """By place where as many are there, else what was inserted or taken out has no partner."""
    if len(before) == len(after):
        yield from ((n, was, now) for n, (was, now) in enumerate(zip(before, after, strict=True)))
        return
    texts: list[list[str]] = [list(map(as_text, side)) for side in (before, after)]
    for kind, a, b, c, d in difflib.SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_opcodes():
        if kind != "equal":
            for n, (was, now) in enumerate(zip_longest(before[a:b], after[c:d], fillvalue=NOTHING)):
                yield a + n, was, now


def as_text(value: Any) -> str:
    return "nothing" if value is NOTHING else json.dumps(value, ensure_ascii=False, sort_keys=True)


def shortened(text: str) -> str:
    return text if len(text) <= SHORTENED else f"{text[:SHORTENED]}..."


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev inventory", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="where to write the document")
    parser.add_argument("--compare", type=Path, metavar="BEFORE", help="say what differs from this document")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="the old runs, made if DIR does not exist")
    asked = parser.parse_args()
    if asked.file is None and asked.compare is None:
        parser.error("name a FILE to write, or --compare BEFORE")
    before = json.loads(asked.compare.read_text(encoding="utf-8")) if asked.compare else None
    text = json.dumps(inventory(asked.runs), indent=1, sort_keys=True, ensure_ascii=False)
    if asked.file is not None:
        asked.file.write_text(f"{text}\n", encoding="utf-8")
    lines = [] if before is None else list(differences(before, json.loads(text)))
    print("\n".join(lines) if lines else f"{len(text):,} characters" if before is None else "no difference")
    return int(bool(lines))


if __name__ == "__main__":
    raise SystemExit(main())
