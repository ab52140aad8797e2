"""Makes docs/pictures/lab.png, a picture of docs/lab/results.md: one version of the kernel without preemption, with
it, and with PREEMPT_RT, beside a load that keeps the kernel inside long calls, in virtual time.

    .venv/bin/python tools/make_lab_picture.py [RUN]

RUN is the run folder, by default build/lab-picture; what is missing there is measured. Needs what `howlate lab run`
needs, and a program that draws SVG as PNG (docs/report.md).
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "lab.png"
LARGEST = 150_000
KERNELS = "6.1[preempt=none],6.1[preempt=full],6.1-rt"
CHANGES = ("load=memory-alloc:100", "dither=true", "activations=300")
CHART = "multiples"


def howlate(*arguments: str | Path) -> None:
    """Runs a command of howlate's; the script ends with its exit code if that is not 0."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-m", "howlate", *arguments], env=environment, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    run = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "lab-picture"
    if not (run / "finished.txt").exists():
        changes = [word for change in CHANGES for word in ("--set", change)]
        howlate(
            "lab", "run", "preemption-models", "--kernels", KERNELS, "--seeds", "4", *changes, "--out", run
        )
    with tempfile.TemporaryDirectory() as folder:
        howlate("report", run, "--format", "png", "-o", folder)
        picture = (Path(folder) / f"{CHART}.png").read_bytes()
    if len(picture) > LARGEST:
        raise SystemExit(f"the picture has {len(picture)} bytes, more than {LARGEST}")
    PICTURE.write_bytes(picture)
    print(f"{PICTURE}: {len(picture)} bytes")


if __name__ == "__main__":
    main()
