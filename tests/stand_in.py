"""In the probe's place, for the faults that a real one does not show on demand; $STAND_IN says which."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPT = """#!/bin/sh
{before}
case $1 in
  list | facts) exec cat "$0.$1.json" ;;
  plan) exec sed 's/.*/{{"ok": true, "warnings": []}}/' ;;
  restore) exit 0 ;;
esac
exec "{python}" "{measures}" "$@"
"""


def put(path: Path, before: str = "") -> None:
    """Makes the program, which does `before` first. The shell answers whatever needs no stream: Python would take
    longer to start than most tests take."""
    import fakes

    for what, answer in (("list", fakes.LIST), ("facts", fakes.FACTS)):
        Path(f"{path}.{what}.json").write_text(json.dumps(answer))
    path.write_text(SCRIPT.format(before=before, python=sys.executable, measures=HERE / "stand_in.py"))
    path.chmod(0o755)


def main() -> int:
    """Measures a cell."""
    options = dict(a.lstrip("-").partition("=")[::2] for a in sys.argv[2:])
    mode = os.environ.get("STAND_IN", "")
    if mode == "no-fifo" and options.get("policy", "fifo:80") != "other":
        print("howlate-probe: SCHED_FIFO:80 is not permitted. Grant CAP_SYS_NICE.", file=sys.stderr)
        return 3
    if mode == "broken" and options.get("load"):
        return 4
    sys.path[:0] = [str(HERE), str(HERE.parent / "src")]
    from store.streams import stream

    Path(options["stream"]).write_bytes(
        stream([1000 + n for n in range(int(options.get("activations", "100")))])
    )
    print("progress 100 100000000 1099", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
