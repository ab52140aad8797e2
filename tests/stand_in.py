"""In the probe's place, for the faults that a real one does not show on demand; $STAND_IN says which."""

import atexit
import json
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPT = """#!/bin/sh
{before}
case $1 in
  list | facts) exec cat "$0.$1.json" ;;
  plan) "{probe}" plan --elsewhere | if [ "$STAND_IN" = no-fifo ]; then sed "{no_fifo}"; else cat; fi; exit ;;
  restore) exit 0 ;;
esac
activations='' deadline='' stream=''
for word in "$@"; do
  case $word in
    --activations=*) activations=${{word#*=}} ;;
    --deadline=*) deadline=${{word#*=}} ;;
    --stream=*) stream=${{word#*=}} ;;
  esac
done
kept="{streams}/$STAND_IN,$activations,$deadline"
case $STAND_IN in
  "" | steady)
    if [ -e "$kept" ] && cp "$kept" "$stream" 2>/dev/null; then
      echo "{progress}"
      exit 0
    fi
    ;;
esac
STAND_IN_KEEPS=$kept exec "{python}" "{measures}" "$@"
"""
PROGRESS = "progress 100 100000000 1099"
NO_FIFO = (
    r"s/^{\"ok\": true,\(.*\"policy\": \"fifo\)/{\"ok\": false, \"exit_code\": 3,"
    r" \"message\": \"SCHED_FIFO:80 is not permitted\", \"remedy\": \"Grant CAP_SYS_NICE\",\1/"
)


@cache
def streams() -> Path:
    """A folder for the streams of this process's stand-ins. What a cell gives follows from its options, and Python
    takes longer to start than all else that a test does."""
    folder = Path(tempfile.mkdtemp(prefix="howlate-stand-in-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def put(path: Path, before: str = "") -> None:
    """Makes the program, which does `before` first. The shell answers whatever needs no stream: Python would take
    longer to start than most tests take."""
    import fakes
    from howlate.system.paths import probe_path

    for what, answer in (("list", fakes.LIST), ("facts", fakes.FACTS)):
        Path(f"{path}.{what}.json").write_text(json.dumps(answer))
    programs = {"python": sys.executable, "probe": probe_path(), "measures": HERE / "stand_in.py"}
    own = {"no_fifo": NO_FIFO, "streams": streams(), "progress": PROGRESS}
    path.write_text(SCRIPT.format(before=before, **own, **programs))
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
    measured = stream(latencies, header_changes={"parameters": header()["parameters"] | own})
    Path(options["stream"]).write_bytes(measured)
    if kept := os.environ.get("STAND_IN_KEEPS"):
        beside = Path(f"{kept}.{os.getpid()}")
        beside.write_bytes(measured)
        beside.rename(kept)
    print(PROGRESS, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
