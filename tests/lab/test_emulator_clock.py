"""What QEMU is told of the host's time."""

import json
import sys

from howlate.system.paths import emulator_clock_path
from processes import completed

ASK = """
import ctypes, json, threading

class Time(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("us", ctypes.c_long)]

def asked(into):
    time = Time()
    for _ in range(3):
        ctypes.CDLL(None).gettimeofday(ctypes.byref(time), None)
        into.append(time.s * 1_000_000 + time.us)

heard = [[], [], []]
asked(heard[0])
for into in heard[1:]:
    thread = threading.Thread(target=asked, args=(into,))
    thread.start()
    thread.join()
print(json.dumps(heard))
"""


def test_the_clock_stands_in_the_main_thread_and_counts_the_questions_of_any_other() -> None:
    """In another thread each question takes 0.1 ms, whatever the others have asked."""
    library = str(emulator_clock_path())
    done = completed([sys.executable, "-c", ASK], env={"LD_PRELOAD": library}, check=True)
    main, first, second = json.loads(done.stdout)
    assert len(set(main)) == 1
    assert first == second == [main[0] + 100 * count for count in (1, 2, 3)]
