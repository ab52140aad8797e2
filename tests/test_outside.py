"""Packages from outside that add to howlate: found by their entry point, and named where they are broken."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from hostile.made import make_run
from howlate.system.paths import ROOT
from processes import completed

ROOM = {
    "__init__.py": "",
    "cli/greet.py": '''
        """Greet the reader."""
        import click

        @click.command()
        def command() -> int:
            """Greet."""
            click.echo("good morning")
            return 0
    ''',
    "formats/plainlog.py": """
        from howlate.imports.formats._importer import NO_MAP, RunImporter
        from howlate.imports.formats.csv import IMPORTER as CSV

        def read(paths, labels, mapping=NO_MAP):
            return CSV.read(paths, labels, {"latency_us": "1"})

        IMPORTER = RunImporter("plainlog", "a log", lambda path: b"plainlog" in path.read_bytes(), read)
    """,
    "export/lines.py": """
        from howlate.store.export import Format

        def write(run, out, cells=()):
            out.write_text("".join(f"{cell}\\n" for cell in cells or run.whole_cells()))
            return len(run.whole_cells())

        FORMAT = Format("lines", ".txt", "a line a cell", write)
    """,
    "hooks.py": """
        def json_members(material):
            return {"extras": len(material.summaries)}
    """,
    "studies/extra.toml": (ROOT / "src" / "howlate" / "studies" / "check.toml")
    .read_text()
    .replace('id = "check"', 'id = "extra"'),
}
"""A package with a file of each kind."""


def install(place: Path, files: Mapping[str, str], module: str = "late_extras") -> None:
    """As pip leaves a package: its folder, and what it declares beside it."""
    for name, text in files.items():
        file = place / module / name
        file.parent.mkdir(parents=True, exist_ok=True)
        (file.parent / "__init__.py").touch()
        file.write_text(textwrap.dedent(text))
    declared = place / f"{module}-1.0.dist-info"
    declared.mkdir(parents=True)
    name = module.replace("_", "-")
    (declared / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (declared / "entry_points.txt").write_text(f"[howlate.rooms]\nextras = {module}\n")


def howlate(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, since what is installed is asked for once."""
    paths = os.pathsep.join([str(ROOT / "src"), str(place / "site")])
    return completed(
        [sys.executable, "-P", "-m", "howlate", *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "200"},
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_run(tmp_path / "run", ("none", "late"), planned=("none", "late"))
    return tmp_path


def test_each_kind_of_plug_in_is_found(place: Path) -> None:
    install(place / "site", ROOM)
    log = place / "measured.log"
    log.write_text("# plainlog\n10.5\n11.0\n12.5\n")
    shown = {
        "--help": "greet       Greet the reader",
        "greet": "good morning",
        "studies": "extra",
        "import measured.log --out imported": "imported",
        "show imported": "12.5",
        "export run --format lines -o cells.txt": "cells.txt",
        "export --help": "a line a cell",
    }
    for words, text in shown.items():
        done = howlate(place, *words.split())
        assert done.returncode == 0 and text in done.stdout, (words, done)
        assert "late-extras" not in done.stderr
    assert (place / "cells.txt").read_text() == "none\nlate\n"
    assert json.loads(howlate(place, "show", "run", "--json").stdout)["extras"] == 2


BROKEN = {
    "hooks.py": ("raise RuntimeError('no licence')", "show run --json", "RuntimeError: no licence"),
    "hooks.py that ends": ("raise SystemExit(3)", "show run --json", "SystemExit: 3"),
    "cli/greet.py": ("def command(:", "--help", "SyntaxError"),
    "charts/pie.py": ("import nowhere", "report run -o out.html", "No module named 'nowhere'"),
    "charts/cake.py": ("CHART = 7", "report run -o out.html", "CHART of late_extras.charts.cake"),
    "formats/plainlog.py": (
        "x = 1",
        "import data.csv --map latency_us=1 --out imported",
        "no attribute 'IMPORTER'",
    ),
    "export/csv.py": ("", "export run --format csv -o out.csv", "has the name of howlate.store.export.csv"),
}
"""By the file: its text, a command that looks at it, and what is said."""


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[pytest.mark.sweep] * (file in ("hooks.py that ends", "charts/cake.py")))
        for file in BROKEN
    ],
)
def test_what_is_broken_is_named_once_and_stops_nothing(place: Path, file: str) -> None:
    text, words, said = BROKEN[file]
    (place / "data.csv").write_text("10.5\n11.0\n12.5\n")
    before = howlate(place, *words.split())
    assert before.returncode == 0, before.stderr
    for made in (place / "out.html", place / "out.csv"):
        made.unlink(missing_ok=True)
    shutil.rmtree(place / "imported", ignore_errors=True)
    install(place / "site", {"__init__.py": "", file.partition(" ")[0]: text})
    after = howlate(place, *words.split())
    assert after.returncode == 0, after.stderr
    (line,) = [line for line in after.stderr.splitlines() if "late-extras" in line]
    assert line.startswith("howlate: ") and "package late-extras" in line
    assert said in line and line.endswith("-m pip uninstall late-extras.")
    if words != "--help":
        assert after.stdout == before.stdout


@pytest.mark.parametrize(
    "module", ["late_other/__init__.py", "late_extras.py"], ids=["nothing there", "no folder"]
)
def test_an_entry_point_that_leads_to_no_package_is_named(place: Path, module: str) -> None:
    install(place / "site", {})
    (place / "site" / module).parent.mkdir(exist_ok=True)
    (place / "site" / module).write_text("raise SystemExit")
    done = howlate(place, "show", "run")
    assert done.returncode == 0 and "12" in done.stdout
    (line,) = [line for line in done.stderr.splitlines() if "late-extras" in line]
    assert 'no package "late_extras"' in line


ENTRIES = {
    "a dash": b"[howlate.rooms]\nextras = acme-late\n",
    "nothing": b"[howlate.rooms]\nextras =\n",
    "blanks": b"[howlate.rooms]\nextras = late extras\n",
    "colons": b"[howlate.rooms]\nextras = late_extras:b:c\n",
    "a bracket": b"[howlate.rooms]\nextras = late_extras[\n",
    "dots": b"[howlate.rooms]\nextras = ..late_extras\n",
    "dots alone": b"[howlate.rooms]\nextras = ..\n",
    "a path": b"[howlate.rooms]\nextras = ../late_extras.py\n",
    "letters": "[howlate.rooms]\nextras = spät_dran\n".encode(),
    "signs": "[howlate.rooms]\nextras = → late\n".encode(),
    "escapes": "[howlate.rooms]\nextras = late\x1b[31m\u202e_extras\n".encode(),
    "a zero": b"[howlate.rooms]\nextras = late\0extras\n",
    "no value": b"[howlate.rooms]\nextras\n",
    "no text": b"[howlate.rooms]\nextras = late_extras\xff\n",
}
"""Files of entry points that name no package."""


def test_malformed_entry_points_are_named_and_stop_neither_howlate_nor_another_package(place: Path) -> None:
    before = howlate(place, "show", "run").stdout
    modules = [f"late_extras_{number}" for number in range(len(ENTRIES))]
    for module, data in zip(modules, ENTRIES.values(), strict=True):
        install(place / "site", {}, module)
        (place / "site" / f"{module}-1.0.dist-info" / "entry_points.txt").write_bytes(data)
    install(place / "site", ROOM, "other_extras")
    for words, shown in (("show run", before), ("greet", "good morning\n")):
        done = howlate(place, *words.split())
        assert (done.returncode, done.stdout) == (0, shown), done.stderr
        lines = dict(zip(ENTRIES, sorted(done.stderr.splitlines(), key=package_number), strict=True))
        for number, line in enumerate(lines.values()):
            name = f"late-extras-{number}"
            assert line.startswith("howlate: ") and f"package {name} " in line
            assert line.isprintable() and line.endswith(f"-m pip uninstall {name}.")


def package_number(line: str) -> int:
    return int(line.partition("the package late-extras-")[2].partition(" ")[0])


def test_what_is_called_by_its_name_and_broken_is_an_error_with_a_remedy(place: Path) -> None:
    install(place / "site", {**ROOM, "cli/greet.py": "1 / 0", "export/lines.py": "FORMAT = None"})
    for words in ("greet", "export run --format lines -o out"):
        done = howlate(place, *words.split())
        assert done.returncode == 4 and "Traceback" not in done.stderr
        assert "the package late-extras" in done.stderr and "pip uninstall late-extras" in done.stderr
    assert howlate(place, "show", "run").returncode == 0


@pytest.mark.parametrize("end", ["import nowhere", "raise SystemExit(3)", "raise RuntimeError"])
def test_a_program_is_warned_once_and_what_fails_is_executed_once(place: Path, end: str) -> None:
    text = f"with open('executed', 'a') as file:\n    file.write('x')\n{end}\n"
    install(place / "site", {"__init__.py": "", "hooks.py": text})
    code = "from howlate.rooms import hooks; print([len(hooks('json_members')) for _ in range(2)])"
    done = completed(
        [sys.executable, "-P", "-c", code],
        cwd=place,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(place / "site")])},
    )
    assert done.returncode == 0 and done.stdout == "[1, 1]\n", done.stderr
    assert len(re.findall(r"RoomWarning: .*late-extras", done.stderr)) == 1
    assert (place / "executed").read_text() == "x"


@pytest.mark.long
def test_a_timer_and_a_load_from_outside_are_built_into_a_probe(place: Path) -> None:
    """As `./dev probe --with-rooms` builds it, with the folders that the entry points lead to."""
    sources = ROOT / "probe" / "src"
    timer = (sources / "timers" / "clock_nanosleep.cpp").read_text()
    load = (sources / "loads" / "memory-fault.cpp").read_text()
    install(
        place / "site",
        {
            "timers/nap.cpp": timer.replace("timer_clock_nanosleep", "timer_nap").replace(
                '.name = "clock_nanosleep"', '.name = "nap"'
            ),
            "loads/acme-faults.cpp": load.replace("load_memory_fault", "load_acme_faults").replace(
                '.name = "memory-fault"', '.name = "acme-faults"'
            ),
        },
    )
    paths = os.pathsep.join([str(ROOT / "src"), str(place / "site")])
    rooms = completed(
        [sys.executable, "-P", ROOT / "tools" / "room_folders.py"],
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
    ).stdout.strip()
    assert rooms == str(place / "site" / "late_extras")
    made = place / "build"
    configure = [
        "cmake",
        "-S",
        str(ROOT / "probe"),
        "-B",
        str(made),
        "-G",
        "Ninja",
        f"-DHOWLATE_ROOMS={rooms}",
    ]
    for words in (configure, ["cmake", "--build", str(made), "--target", "howlate-probe"]):
        done = completed(words)
        assert done.returncode == 0, done.stdout[-3000:]
    probe = made / "howlate-probe"
    listed = json.loads(subprocess.run([probe, "list", "--json"], capture_output=True, check=True).stdout)
    assert "nap" in {entry["name"] for entry in listed["timers"]}
    assert "acme-faults" in {entry["name"] for entry in listed["loads"]}
    words = [
        "cyclic",
        "--timer",
        "nap",
        "--activations",
        "5",
        "--policy",
        "other",
        "--load",
        "acme-faults:10",
    ]
    done = completed([probe, *words])
    assert done.returncode == 0, done.stderr


def test_where_nothing_is_declared_the_library_that_knows_it_is_not_imported(place: Path) -> None:
    code = (
        "import sys; from howlate import rooms; rooms.outside(); print('importlib.metadata' in sys.modules)"
    )
    done = completed([sys.executable, "-c", code], check=True)
    assert done.stdout == "False\n"
