"""Where a person names an output: what is no regular file is written to and stays what it is, a link is followed, and
what cannot be written is a sentence. The options are those that the commands have."""

import ast
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.commands import Run, is_a_sentence
from howlate.cli import howlate as every_command
from howlate.errors import UsageError
from howlate.system.paths import ROOT
from lacks import AS_ROOT, MACHINE, skip
from made_trace import late_samples
from processes import environment
from rights import without_rights
from store.runs import a_folder
from store.streams import header, stream, traced_stream
from tree_of_commands import leaves

INI = "[SMITest]\nduration = 90\n"
WRITES = {
    ("verdict", "--junit"): (1, "verdict {run} --deadline 1s --junit {out}"),
    ("verdict", "--summary"): (1, "verdict {run} --deadline 1s --summary {out}"),
    ("report", "-o"): (0, "report {run} -o {out}"),
    ("why", "-o"): (0, "why {run} -o {out}"),
    ("history", "-o"): (0, "history {run} -o {out}"),
    ("compare", "-o"): (0, "compare {run} b={run} --by load -o {out}"),
    ("import", "-o"): (0, "import {ini} -o {out}"),
    ("export", "-o"): (0, "export {run} --format csv -o {out}"),
    ("export parquet", "-o"): (0, "export {run} --format parquet -o {out}"),
    ("export gnuplot", "-o"): (0, "export {run} --format gnuplot -o {out}"),
    ("export perfetto", "-o"): (0, "export {run} --format perfetto -o {out}"),
    ("export text3", "-o"): (0, "export {run} --format text3 -o {out}"),
}
"""A call for each, with its exit code."""
MEASURES = {
    ("advise", "-o"),
    ("lab prove", "-o"),
    ("lab why", "-o"),
    ("lab why", "--stacks"),
    ("lab why", "--speedscope"),
    ("why", "--stacks"),
    ("why", "--speedscope"),
}
"""These measure first; that they write by the same function is asserted below."""
READS = {"--keyring", "--revisions"}
"""Options whose FILE is read."""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    tmp_path = tmp_path_factory.mktemp("named")
    long_s = {"parameters": header()["parameters"]}
    streams = {
        "traced": traced_stream(late_samples(3)),
        "plain": stream([10, 20] * 500, header_changes=long_s),
    }
    (tmp_path / "ini.conf").write_text(INI)
    return {"run": str(a_folder(tmp_path / "run", streams).path), "ini": str(tmp_path / "ini.conf")}


def call(
    howlate: Run,
    words: dict[str, str],
    key: tuple[str, str],
    out: Path,
    code: int | None = None,
) -> str:
    expected, text = WRITES[key]
    done = howlate(*text.format(**words, out=out).split(" "))
    assert done.code == (expected if code is None else code), done.err
    assert not done.err or code is None or is_a_sentence(done.err), done.err
    return done.out


def outputs(command: click.Command, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from outputs(found, f"{path} {name}".strip())
    for option in command.params:
        is_path = isinstance(option, click.Option) and isinstance(option.type, click.Path)
        if is_path and option.metavar in ("FILE", "OUT") and option.opts[0] not in READS:
            yield path, option.opts[0]


def test_every_output_that_a_command_has_is_tried() -> None:
    assert set(outputs(every_command)) == {key for key in WRITES if " " not in key[0]} | MEASURES


def test_no_output_of_any_command_may_be_what_a_run_keeps(words: dict[str, str]) -> None:
    """It is refused as the command line is read, before anything is measured."""
    tried = set()
    for path, command in leaves().items():
        for option in command.params:
            is_path = isinstance(option, click.Option) and isinstance(option.type, click.Path)
            if (
                is_path
                and option.metavar in ("FILE", "OUT", "DIR")
                and option.opts[0] not in {*READS, "--module"}
            ):
                tried.add((path, option.opts[0]))
                for file in ("run.json", "finished.txt", "cells/plain/summary.json"):
                    with pytest.raises(UsageError) as caught:
                        option.type.convert(f"{words['run']}/{file}", option, None)
                    assert caught.value.statement.rule == "store.runs-own"
    assert tried >= set(outputs(every_command)) and len(tried) > 15


def test_no_command_writes_an_output_by_another_function() -> None:
    """The writer of the run's own files replaces what it finds."""
    package = ROOT / "src" / "howlate"
    for file in (*package.rglob("cli/**/*.py"), *package.glob("*/lab/*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "howlate.store.files":
                assert not {name.name for name in node.names} & {
                    "write_text",
                    "written_beside",
                    "write_json",
                }, file


KEYS = sorted(WRITES)
ALONE = [key for key in KEYS if key != ("export gnuplot", "-o")]
"""Those that write nothing beside what is named."""
named = pytest.mark.parametrize("key", KEYS, ids=[" ".join(key) for key in KEYS])
named_alone = pytest.mark.parametrize("key", ALONE, ids=[" ".join(key) for key in ALONE])


@named_alone
def test_a_device_is_written_to_and_stays(
    howlate: Run, words: dict[str, str], tmp_path: Path, key: tuple[str, str]
) -> None:
    """A node of one's own, as the one of the system would be lost."""
    node = tmp_path / "null"
    try:
        os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        node.open("wb").close()
    except PermissionError:
        skip("the right to make and open a device node", AS_ROOT if os.geteuid() != 0 else MACHINE)
    call(howlate, words, key, node)
    assert stat.S_ISCHR(node.lstat().st_mode)


@named_alone
def test_a_pipe_is_written_to_and_stays(
    howlate: Run, words: dict[str, str], tmp_path: Path, key: tuple[str, str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    call(howlate, words, key, pipe)
    reader.join(60)
    assert read and read[0] and stat.S_ISFIFO(pipe.lstat().st_mode)


def test_a_script_whose_data_stand_beside_it_is_a_file(
    howlate: Run, words: dict[str, str], tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for out in (pipe, Path("/dev/full")):
        call(howlate, words, ("export gnuplot", "-o"), out, 2)
        assert not out.with_suffix(".dat").exists()
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


@named
@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing"])
def test_a_link_is_followed(
    howlate: Run, words: dict[str, str], tmp_path: Path, key: tuple[str, str], there: bool
) -> None:
    folder = tmp_path / "far"
    folder.mkdir()
    link = folder.with_name("link")
    link.symlink_to("far/out")
    if there:
        (folder / "out").write_text("old")
    call(howlate, words, key, link)
    assert link.is_symlink() and (folder / "out").stat().st_size > 3
    assert [path.name for path in folder.iterdir()] == ["out"]


@named_alone
def test_a_full_disk_is_a_sentence(
    howlate: Run, words: dict[str, str], tmp_path: Path, key: tuple[str, str]
) -> None:
    call(howlate, words, key, Path("/dev/full"), 4)
    assert stat.S_ISCHR(Path("/dev/full").lstat().st_mode)


@named
def test_a_folder_without_rights_is_a_sentence(
    howlate: Run, words: dict[str, str], tmp_path: Path, key: tuple[str, str]
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    with without_rights(folder):
        call(howlate, words, key, folder / "out", 4)
    assert not list(folder.iterdir())


@named
def test_a_folder_in_the_way_is_a_sentence(
    howlate: Run, words: dict[str, str], tmp_path: Path, key: tuple[str, str]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    call(howlate, words, key, folder, 4)
    assert not list(folder.iterdir())


def test_standard_output_that_is_a_file_gets_both(words: dict[str, str], tmp_path: Path) -> None:
    """Opened anew by its name it would be written from its beginning."""
    with (tmp_path / "both").open("wb") as both:
        both.write(b"before\n")
        both.flush()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "howlate",
                "verdict",
                words["run"],
                "--deadline",
                "1s",
                "--summary",
                "/dev/stdout",
            ],
            stdout=both,
            env=environment(),
            check=False,
        )
    text = (tmp_path / "both").read_text()
    assert text.startswith("before\nFAIL  deadline 1 s: ") and text.count("\n## FAIL: ") == 1, text


def test_a_run_keeps_its_own_page_and_pictures(howlate: Run, words: dict[str, str], tmp_path: Path) -> None:
    """Others may have put links there."""
    run = shutil.copytree(words["run"], tmp_path / "run")
    victim = run.with_name("victim")
    victim.mkdir()
    (victim / "key").write_text("mine")
    (run / "report.html").symlink_to(victim / "key")
    (run / "pictures").symlink_to(victim)
    for argv in (
        ("report", run),
        ("report", run, "-o", run / "report.html"),
        ("report", run, "--format", "svg"),
    ):
        done = howlate(*argv)
        assert done.code == 4 and is_a_sentence(done.err) and "symbolic link" in done.err
    assert [path.name for path in victim.iterdir()] == ["key"]
    assert (victim / "key").read_text() == "mine"


def test_pictures_keep_what_stands_in_a_named_folder(
    howlate: Run, words: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "pictures-of-mine"
    folder.mkdir()
    (folder / "overview.svg").symlink_to(tmp_path / "drawn.svg")
    assert howlate("report", words["run"], "--format", "svg", "-o", folder).code == 0
    assert (folder / "overview.svg").is_symlink() and (tmp_path / "drawn.svg").read_text().startswith("<svg")
