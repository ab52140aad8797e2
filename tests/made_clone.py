"""A checkout for tests of the launchers, in which nothing reaches this machine."""

import re
import shutil
import subprocess
from pathlib import Path

from howlate.system import paths as places
from processes import completed


class Clone:
    """A checkout of its own, beside stand-ins for the commands that would change the machine. `calls` are theirs."""

    def __init__(self, root: Path) -> None:
        self.root = root / "clone"
        self.bin = root / "bin"
        self.log = root / "calls"
        self.bin.mkdir()
        self.root.mkdir()
        for path in (places.ROOT / "howlate", places.ROOT / "dev", *places.ROOT.glob("requirements*.lock")):
            shutil.copy(path, self.root)
        shutil.copytree(places.ROOT / "tools", self.root / "tools")
        for name in ("src",):
            (self.root / name).symlink_to(places.ROOT / name)
        (self.root / "probe").mkdir()
        self.stand_in("apt-get")

    def stand_in(self, name: str, body: str = "") -> None:
        """A command that notes how it is called and then does this."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\necho {name} $* >>'{self.log}'\n{body}\n")
        path.chmod(0o755)

    def debian(self, candidates: dict[str, str]) -> None:
        """Nothing is installed, and apt has these versions."""
        cases = "".join(f"{name}) echo '  Candidate: {version}' ;;\n" for name, version in candidates.items())
        self.stand_in("apt-cache", f'case $2 in {cases} *) echo "  Candidate: (none)" ;; esac')
        self.stand_in("dpkg-query", "exit 1")

    def environment(self, lock: str) -> None:
        """A virtual environment of this lock, whose Python prints what it was to run."""
        python = self.root / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        (python.parent.parent / ".requirements.lock").write_text(lock)
        python.write_text('#!/bin/sh\n[ "$1" = -I ] || echo "$*"\n')
        python.chmod(0o755)

    def find_no_python(self) -> None:
        """The set-up looks for none of this machine's."""
        setup = self.root / "tools" / "setup.sh"
        text = setup.read_text()
        assert text.count("for python in ") == 1
        setup.write_text(re.sub("for python in .*; do", "for python in none; do", text))

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def run(self, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        """As somebody whose PATH begins with the stand-ins."""
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.root), "LANG": "C.UTF-8", **more}
        return completed(argv, cwd=self.root, env=environment, stdin=subprocess.DEVNULL)

    def bash(self, script: str, **more: str) -> subprocess.CompletedProcess[str]:
        """A piece of the set-up; no Python is found that is new enough."""
        return self.run(
            "bash",
            "-u",
            "-c",
            f"root=$PWD; . tools/setup.sh; find_python() {{ return 1; }}\n{script}",
            **more,
        )
