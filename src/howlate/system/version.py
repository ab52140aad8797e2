"""The version of howlate: of the command, the wheel and the runs that it writes."""

__version__ = "0.1.0"
