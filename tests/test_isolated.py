"""Nothing of the folder in which howlate is called is executed: it may be somebody else's, and howlate often runs as
root."""

import json
import os
import sys
from pathlib import Path

import pytest

from howlate.system.paths import ROOT
from processes import completed, environment
from swept import crossed

IMPORTS = """
import importlib, json, pkgutil, sys
import howlate
for found in pkgutil.walk_packages(howlate.__path__, "howlate."):
    importlib.import_module(found.name)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
PLANTED = """
import os
with open(os.environ["EXECUTED"], "a") as file:
    file.write(__file__ + "\\n")
"""


@pytest.fixture(scope="module")
def imported() -> list[str]:
    """Every module that howlate's own import, and what Python itself may look for."""
    done = completed([sys.executable, "-P", "-c", IMPORTS], env=environment(), check=True)
    found = set(json.loads(done.stdout.splitlines()[-1]))
    assert {"howlate", "click", "json", "duckdb", "numpy", "rich", "msgspec"} <= found
    return sorted(found | set(sys.stdlib_module_names) | {"sitecustomize", "usercustomize"})


@pytest.fixture
def planted(tmp_path: Path, imported: list[str]) -> Path:
    """A folder with a file, and beside it a folder with a package, of each of these names."""
    for place in (tmp_path / "files", tmp_path / "packages"):
        place.mkdir()
    for name in imported:
        (tmp_path / "files" / f"{name}.py").write_text(PLANTED)
        (tmp_path / "packages" / name).mkdir()
        for file in ("__init__.py", "__main__.py"):
            (tmp_path / "packages" / name / file).write_text(PLANTED)
    return tmp_path


COMMANDS = (
    ("studies",),
    ("show", "--help"),
    ("query", "select 1", "nothing"),
    ("verdict", "nothing"),
    ("report", "nothing"),
    ("completion", "bash"),
)


@pytest.mark.parametrize(("kind", "launcher"), crossed(["packages", "files"], ["howlate", "dev"]))
def test_no_module_of_the_working_folder_is_executed(planted: Path, kind: str, launcher: str) -> None:
    executed = planted / "executed"
    environment = {
        **os.environ,
        "EXECUTED": str(executed),
        "PYTHONPATH": str(planted / kind),
        "HOWLATE_INSTALL": "no",
    }
    commands = COMMANDS if launcher == "howlate" else (("help",), ("lang", "check"))
    codes = [
        completed([str(ROOT / launcher), *words], cwd=planted / kind, env=environment).returncode
        for words in commands
    ]
    assert not executed.exists(), executed.read_text()
    assert codes == ([0, 0, 2, 2, 2, 0] if launcher == "howlate" else [0, 0])


def test_the_installed_command_does_not_look_there_either(planted: Path) -> None:
    """What pip writes for an entry point: a script, which stands in a folder of its own."""
    script = planted / "bin" / "howlate"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom howlate.__main__ import run\nsys.exit(run())\n")
    script.chmod(0o755)
    done = completed(
        [str(script), "studies"],
        cwd=planted / "files",
        env=environment(EXECUTED=str(planted / "executed")),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not (planted / "executed").exists()


def test_python_is_only_started_without_the_working_folder() -> None:
    """Each line of a launcher that starts an interpreter on a module or a text."""
    lines = [
        line.strip()
        for file in (ROOT / "howlate", *sorted((ROOT / "tools").glob("*.sh")))
        if file.name not in ("fresh.sh", "lock.sh")  # these start it in a system, and a folder, of their own
        for line in file.read_text().splitlines()
        if not line.lstrip().startswith("#")
    ]
    starts = [line for line in lines if '/python" ' in line or '"$python" ' in line or "python3 -" in line]
    open_ones = [
        line
        for line in starts
        if (" -m " in line or " -c " in line) and not (" -P " in line or " -I " in line)
    ]
    assert len(starts) >= 5
    assert not [line for line in open_ones if "pip download" not in line]
