"""Compare kernels, or settings, side by side."""

from __future__ import annotations

from pathlib import Path

import click

from howlate.cli._named import named_runs, newest_two, read_named, tell_missing
from howlate.cli._options import limit_ns_of, output_option
from howlate.cli._screen import print_json, print_lines
from howlate.errors import DamagedError, ExitCode, UsageError
from howlate.words.language import english
from howlate.words.printable import shell_line


@click.command(epilog="Example: howlate compare runs/none runs/rt --json")
@click.argument("runs", nargs=-1, metavar="[[NAME=]RUN...]")
@click.option(
    "--by",
    default="kernel",
    metavar="LABEL",
    help="The axis to compare: kernel (the default), or another such as timer or policy.",
)
@click.option(
    "--deadline",
    metavar="TIME",
    help="Compare how many releases missed it (default: the one that the runs were measured with).",
)
@output_option("Write a page with all tables and what they say in words.")
@click.option("--all", "every", is_flag=True, help="Show every figure of every row, and all notes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/compare.md).")
def command(
    runs: tuple[str, ...], by: str, deadline: str | None, output: Path | None, *, every: bool, as_json: bool
) -> int:
    """Compare the points that the run folders RUN... share: a row for each, the largest difference first. A single
    RUN is enough if it has several kernels (or values of LABEL). NAME=RUN gives a run that name. Without RUN the
    newest is compared with the one before it of the same study."""
    from howlate.compare.compare import compare, to_json
    from howlate.compare.conclusions import conclusions, conclusions_json
    from howlate.compare.document import doubtful, layouts_json, section
    from howlate.compare.equal import SAMPLES_HEADING, equal_sides
    from howlate.compare.screen import screen
    from howlate.document.document import Document, Section, texts
    from howlate.document.document import to_json as shown
    from howlate.store.files import file_hash
    from howlate.store.run_folder import SAMPLES, RunFolder

    deadline_ns = 0 if deadline is None else limit_ns_of("--deadline", deadline)
    runs = runs or tuple(map(str, newest_two()))
    named = named_runs(runs)
    contents = read_named(named, bins=output is not None)
    if deadline_ns:
        from howlate.verdict.of_run import on_deadline

        contents = [on_deadline(named[i][1], content, deadline_ns) for i, content in enumerate(contents)]
    missing = tell_missing(zip((run for _, run in named), contents, strict=True))

    def hash_of(run: int, cell: str) -> str:
        samples = RunFolder(named[run][1]).cell_path(cell) / SAMPLES
        return file_hash(samples) if samples.is_file() else ""

    try:
        comparison = compare(contents, by)
    except UsageError as problem:  # of a run whose cells are gone it is not the caller's
        raise DamagedError(problem.statement) if missing is ExitCode.BROKEN else problem from None
    equal = equal_sides(comparison.joined, hash_of)
    if output is not None:
        from howlate.document.html import write_report
        from howlate.store.files import OUTPUT

        write_report(contents, output, OUTPUT, by="" if by == "kernel" else by)
    if as_json:
        with english():
            printed = layouts_json(comparison)
            doubts = Section("doubts", texts("warnings", doubtful(comparison)))
            sections = shown(Document((section(comparison, len(comparison.blocks)), doubts)))
        value = {
            **to_json(comparison),
            "equal": [dict(statement.values) for statement in equal],
            "layouts": printed,
            "summary": conclusions_json([(SAMPLES_HEADING, equal), *conclusions(comparison)]),
            "document": sections,
        }
        print_json(value)
        return missing
    words = shell_line([*runs, *([] if by == "kernel" else ["--by", by])])
    print_lines(lambda width, letters: screen(comparison, equal, words, width, every=every, letters=letters))
    return missing
