"""The command `howlate`: runs a subcommand and turns whatever goes wrong into a sentence and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from howlate.errors import ExitCode, HowlateError
from howlate.language import N_, SOURCE, _, called, choose, retold, spoken

if TYPE_CHECKING:
    import click


def main(argv: list[str] | None = None) -> int:
    """Never lets a traceback out; returns the documented exit code."""
    _have_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays in force
            signal.signal(number, _interrupt)
    try:
        choose(sys.argv[1:] if argv is None else argv, os.environ)
        code = _run(argv)
        sys.stdout.flush()
        return code
    except (BrokenPipeError, SystemExit):  # click ends with SystemExit where a pipe has no reader
        return _reader_went_away()
    except KeyboardInterrupt:
        return _say(N_("interrupted"), "", ExitCode.INCONCLUSIVE)
    except HowlateError as problem:
        return _say(problem.message, problem.remedy, problem.exit_code)
    except OSError as problem:
        if problem.filename is None and problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            return _output_is_full(problem)
        return _unexpected(problem)
    except Exception as problem:
        return _unexpected(problem)


def _have_streams() -> None:
    """Started with a descriptor closed (`>&-`), what is said there goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _run(argv: list[str] | None) -> int:
    import click

    from howlate.cli import howlate

    try:
        result = howlate.main(args=argv, prog_name=called(), standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as problem:
        click.echo(problem.format_message())
        return ExitCode.USAGE
    except click.ClickException as problem:
        context = problem.ctx if isinstance(problem, click.UsageError) else None
        command = context.command_path if context else _command_named(sys.argv[1:] if argv is None else argv)
        message, remedy = _in_our_words(problem)
        shows = f"`{command} --help` shows how"
        return _say(message, f"{retold(remedy)} {retold(shows)}" if remedy else shows, ExitCode.USAGE)
    except click.Abort:
        raise KeyboardInterrupt from None
    return int(result) if isinstance(result, int) else ExitCode.DONE


def _command_named(words: Sequence[str]) -> str:
    """The command that these words call: click does not say which, of an option without its value."""
    import click

    from howlate.cli import howlate

    command: click.Command = howlate
    path = called()
    for word in words:
        if not isinstance(command, click.Group):
            break
        context = click.Context(command)
        if word in command.list_commands(context):
            command = command.get_command(context, word) or command
            path = f"{path} {word}"
    return path


def _in_our_words(problem: click.ClickException) -> tuple[str, str]:
    """What click found wrong, and the name that was probably meant, as every other mistake is told."""
    kinds = (
        ("option_name", N_('there is no option "{name}"')),
        ("command_name", N_('there is no command "{name}"')),
    )
    for attribute, missing in kinds:
        name = getattr(problem, attribute, None)
        if isinstance(name, str) and hasattr(problem, "possibilities"):
            from howlate.model.decode import suggestion

            near = problem.possibilities
            return _(missing).format(name=name), suggestion(name, near[:1]) if near else ""
    message = " ".join(problem.format_message().split()).rstrip(".")
    message = re.sub(r"(-?[0-9.]+)<=x<=(-?[0-9.]+)", r"\1-\2", message)  # a range, as CPUs are written
    return (message[:1].lower() + message[1:] if spoken() == SOURCE else message), ""


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP end as Ctrl-C does: in order."""
    raise KeyboardInterrupt


def _say(message: str, remedy: str, code: ExitCode) -> int:
    text = "howlate: " + _("{sentence}.").format(sentence=retold(message).rstrip(".。"))
    if remedy:
        said = retold(remedy)
        said = said[:1].upper() + said[1:]
        text += " " + (said if said[-1] in "?？" else _("{sentence}.").format(sentence=said.rstrip(".。")))
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _quieten(sys.stderr.fileno())
    return code


def _unexpected(problem: Exception) -> int:
    """A fault of howlate itself: one sentence, and the traceback in a file for whoever mends it."""
    text = "".join(traceback.format_exception(problem))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="howlate-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        where = f"what led to it is in {file.name}"
    except OSError:
        where = "what led to it could not be written to a file"
    what = str(problem).splitlines()[0] if str(problem) else ""
    sentence = f"a fault of howlate's own ({type(problem).__name__}{': ' if what else ''}{what}); {where}"
    return _say(sentence, "please report it with that file", ExitCode.BROKEN)


def _reader_went_away() -> int:
    """`howlate show RUN | head` is no error."""
    _quieten(sys.stdout.fileno())
    return ExitCode.DONE


def _output_is_full(problem: OSError) -> int:
    """`howlate show RUN > file` on a full disk: files of a run are told by their names elsewhere."""
    _quieten(sys.stdout.fileno())
    return _say(
        f"standard output could not be written ({problem.strerror})",
        "make room there, or send it elsewhere",
        ExitCode.BROKEN,
    )


def _quieten(descriptor: int) -> None:
    """So that the interpreter's last flush does not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _end(code: int) -> NoReturn:
    """Ends at once. The interpreter's own end takes long enough for a signal to come, which would then replace
    the code; and where a signal once came inside of an import, it replaces the code with SIGINT."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    try:
        ended = main()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:  # between the two
        ended = int(ExitCode.INCONCLUSIVE)
    _end(ended)
