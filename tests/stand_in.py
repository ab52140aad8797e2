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
  plan) "{probe}" plan --elsewhere | if [ "$STAND_IN" = no-fifo ]; then sed "{no_fifo}"; else cat; fi; exit ;;
  restore) exit 0 ;;
esac
exec "{python}" "{measures}" "$@"
"""
NO_FIFO = (
    r"s/^{\"ok\": true,\(.*\"policy\": \"fifo\)/{\"ok\": false, \"exit_code\": 3,"
    r" \"message\": \"SCHED_FIFO:80 is not permitted\", \"remedy\": \"Grant CAP_SYS_NICE\",\1/"
)


def put(path: Path, before: str = "") -> None:
    """Makes the program, which does `before` first. The shell answers whatever needs no stream: Python would take
    longer to start than most tests take."""
    import fakes
    from howlate.system.paths import probe_path

    for what, answer in (("list", fakes.LIST), ("facts", fakes.FACTS)):
        Path(f"{path}.{what}.json").write_text(json.dumps(answer))
    programs = {"python": sys.executable, "probe": probe_path(), "measures": HERE / "stand_in.py"}
    path.write_text(SCRIPT.format(before=before, no_fifo=NO_FIFO, **programs))
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
    from store.streams import header, stream

    own = {name: options[name] for name in ("deadline",) if name in options}
    latencies = [1000 + n for n in range(int(options.get("activations", "100")))]
    if mode == "steady":  # without the trend that forbids a bound
        latencies = [4000 + 7919 * n % 997 for n in range(20_000)]
    Path(options["stream"]).write_bytes(
        stream(latencies, header_changes={"parameters": header()["parameters"] | own})
    )
    print("progress 100 100000000 1099", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
