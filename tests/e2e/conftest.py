"""Commands run in this process (tests/running.py); those of commands.py are processes of their own."""

from running import howlate as howlate
