"""Commands run in this process (tests/running.py)."""

from running import howlate as howlate
