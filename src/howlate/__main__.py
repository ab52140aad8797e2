"""The command `howlate`: runs a subcommand and turns every failure into a sentence and an exit code."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import re
import resource
import signal
import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from howlate.errors import REMEDIED, ExitCode, HowlateError
from howlate.rooms import RoomWarning
from howlate.system.interrupts import INTERRUPTED
from howlate.system.outputs import surviving_readers, swallow
from howlate.words import say
from howlate.words.language import CatalogueError, called, choose
from howlate.words.printable import without_controls
from howlate.words.say import statement_of
from howlate.words.statement import Statement, message

if TYPE_CHECKING:
    import click

SEE = message("main.see", "`{command} --help` shows how")
SEE_ALSO = message("main.see-also", "{nearest} `{command} --help` shows how")
PYTHONS_FORMAT = warnings.formatwarning
LEAST_MIB = 2048
"""With less, libraries end the process while they are loaded, with codes that mean something else here."""


def main(argv: list[str] | None = None) -> int:
    """Return the documented exit code; no traceback reaches the user."""
    gc.set_threshold(200_000)  # importing makes many objects and no garbage
    _have_streams()
    warnings.formatwarning = _formatted
    with surviving_readers():
        return _main(argv)


def _formatted(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning about an installed package as a sentence of howlate's."""
    if category is RoomWarning:
        return f"howlate: {message}\n"
    return PYTHONS_FORMAT(message, category, filename, lineno, line)


def _main(argv: list[str] | None) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # keep the effect of nohup
            signal.signal(number, _interrupt)
    try:
        choose(sys.argv[1:] if argv is None else argv, os.environ)
        code = _run(argv)
        sys.stdout.flush()
        return code
    except SystemExit as ended:  # of click, when it completed a word for a shell
        return ended.code if isinstance(ended.code, int) else ExitCode.DONE
    except KeyboardInterrupt:
        return _print(INTERRUPTED(), ExitCode.INCONCLUSIVE)
    except CatalogueError as problem:
        from howlate.model.decode import UNREADABLE

        unreadable = UNREADABLE(path=problem.path, reason=problem.reason)
        remedy = "howlate speaks English with --lang en"
        return _print(REMEDIED(problem=unreadable, remedy=remedy), ExitCode.BROKEN)
    except HowlateError as problem:
        return _print(problem.statement, problem.exit_code)
    except OSError as problem:
        if problem.errno == errno.EIO and _while_interrupted(problem):
            return ExitCode.INCONCLUSIVE  # the terminal is gone, and nobody can be told
        if problem.filename is None and problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            return _output_is_full(problem)
        return _unexpected(problem)
    except MemoryError:
        return _print(
            statement_of(
                "there is not enough memory",
                remedy="end something else, or raise the limit (`ulimit -v`, memory.max of the cgroup)",
            ),
            ExitCode.BROKEN,
        )
    except Exception as problem:
        return _unexpected(problem)


def _while_interrupted(problem: BaseException) -> bool:
    before = problem.__context__
    return before is not None and (isinstance(before, KeyboardInterrupt) or _while_interrupted(before))


def _have_streams() -> None:
    """If howlate was started with a descriptor closed (`>&-`), output to it is discarded."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _run(argv: list[str] | None) -> int:
    import click

    from howlate.cli import howlate
    from howlate.cli._complete import COMPLETE_VARIABLE

    try:
        result = howlate.main(
            args=argv, prog_name=called(), standalone_mode=False, complete_var=COMPLETE_VARIABLE
        )
    except click.exceptions.NoArgsIsHelpError as problem:
        click.echo(problem.format_message())
        return ExitCode.USAGE
    except click.ClickException as problem:
        context = problem.ctx if isinstance(problem, click.UsageError) else None
        command = context.command_path if context else _command_named(sys.argv[1:] if argv is None else argv)
        return _print(_reworded(problem, command), ExitCode.USAGE)
    except click.Abort:
        raise KeyboardInterrupt from None
    return int(result) if isinstance(result, int) else ExitCode.DONE


def _command_named(words: Sequence[str]) -> str:
    """The command that these words call. click does not name it if an option lacks its value."""
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


def _reworded(problem: click.ClickException, command: str) -> Statement:
    """click's error message, with the name that was probably meant."""
    for what in ("option", "command"):
        name = getattr(problem, f"{what}_name", None)
        if isinstance(name, str) and hasattr(problem, "possibilities"):
            from howlate.model.decode import NEAREST, UNKNOWN

            near = problem.possibilities
            hint = SEE_ALSO(nearest=NEAREST(name=near[0]), command=command) if near else SEE(command=command)
            return UNKNOWN(what=what, name=name, hint=hint)
    message = " ".join(problem.format_message().split()).rstrip(".")
    message = re.sub(r"(-?[0-9.]+)<=x<=(-?[0-9.]+)", r"\1-\2", message)  # a range, as CPUs are written
    return REMEDIED(problem=message[:1].lower() + message[1:], remedy=SEE(command=command))


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP end howlate like Ctrl-C: cleanly."""
    raise KeyboardInterrupt


def _print(problem: Statement, code: ExitCode) -> int:
    try:
        sentence = say.advice(say.english(problem), say.remedy(problem))
        print(f"howlate: {without_controls(sentence)}", file=sys.stderr, flush=True)
    except OSError:
        swallow(sys.stderr.fileno())
    return code


def _unexpected(problem: Exception) -> int:
    """A fault of howlate itself: print one sentence, and write the traceback to a file for the developers."""
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(problem))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="howlate-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        report = file.name
    except OSError:
        report = "(it could not be written)"
    lines = str(problem).splitlines()
    fault = ": ".join((type(problem).__name__, *lines[:1]))
    return _print(
        statement_of(
            "this is a fault in howlate ({fault}); the traceback is in {report}",
            remedy="please report it with that file",
            fault=fault,
            report=report,
        ),
        ExitCode.BROKEN,
    )


def _output_is_full(problem: OSError) -> int:
    """`howlate show RUN > file` on a full disk. Errors about files of a run name the file elsewhere."""
    swallow(sys.stdout.fileno())
    return _print(
        statement_of(
            "standard output could not be written ({reason})",
            remedy="make room there, or send it elsewhere",
            reason=problem.strerror,
        ),
        ExitCode.BROKEN,
    )


def _end(code: int) -> NoReturn:
    """End at once. The interpreter's own shutdown takes long enough for a signal to arrive and replace the
    exit code; and if a signal once arrived during an import, the interpreter replaces the code with SIGINT.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def run() -> NoReturn:
    """The installed command."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread has buffers, and nothing here needs one
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= limit < LEAST_MIB << 20:  # without one it is -1
        _end(
            _print(
                statement_of(
                    "the address space is limited to {limit_mib:count} MiB, and howlate needs "
                    "{least_mib:count}",
                    remedy="raise the limit: `ulimit -v unlimited`",
                    limit_mib=limit >> 20,
                    least_mib=LEAST_MIB,
                ),
                ExitCode.NOT_POSSIBLE,
            )
        )
    try:
        ended = main()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:  # a signal between the two
        ended = int(ExitCode.INCONCLUSIVE)
    _end(ended)


if __name__ == "__main__":
    run()
