"""The summary.xml of rteval: the histograms of cyclictest or timerlat, one a core, with rteval's own statistics.

rteval's median is left out (of an even number it is wrong), and so is what it says of all cores together. Of timerlat
it puts the latencies of interrupt, thread and return to user space into one population, which the column's name says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.parsers import expat

from msgspec import Struct, field

from howlate.errors import UsageError
from howlate.imports.formats._checks import checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._rt_tests import period_and_policy
from howlate.imports.formats._text import MOST, Line, head, left_out
from howlate.model.columns import LATENCY
from howlate.model.decode import UNREADABLE
from howlate.model.stated import Stated

COLUMNS = {"cyclictest": LATENCY, "timerlat": "mixed_latency_ns"}
_FIGURES = {
    "samples": "count",
    "minimum": "min",
    "maximum": "max",
    "mean": "mean",
    "standard_deviation": "stddev",
}


class _Core(Struct):
    cpu: int
    line: int
    figures: dict[str, str] = field(default_factory=dict)
    bins: dict[int, int] = field(default_factory=dict)


class _Reader(Struct):
    """What the parser calls; it keeps the cores."""

    path: Path
    tool: str = ""
    command: str = ""
    cores: list[_Core] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)
    text: str = ""
    core: _Core | None = None
    line: int = 1
    version: str = ""

    def at(self) -> Line:
        return Line(self.path, self.line, "")

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self.stack.append(name)
        self.text = ""
        if len(self.stack) > 50:
            raise self.at().wrong("its elements lie too deep")
        if name in COLUMNS and "Measurements" in self.stack:
            if self.tool:
                raise self.at().wrong(f"{name} follows {self.tool}: howlate imports one measurement a file")
            self.tool, self.command = name, attributes.get("command_line", "")
        elif name in _FIGURES and self.core is not None and attributes.get("unit", "us") != "us":
            raise self.at().wrong(f"{attributes['unit'][:20]} is not rteval's unit")
        elif name == "rteval":
            self.version = attributes.get("version", "")
        elif name == "core" and self.tool in self.stack:
            if self.core is not None:
                raise self.at().wrong("a core stands within a core")
            self.core = _Core(self.at().whole(attributes.get("id", ""), "a core"), self.line)
        elif name == "bucket" and self.core is not None:
            self._bucket(self.core, attributes)

    def _bucket(self, core: _Core, attributes: Mapping[str, str]) -> None:
        index = self.at().ns(attributes.get("index", ""), 1000, "a bucket")
        count = self.at().whole(attributes.get("value", ""), "a count")
        if index in core.bins or index < 0:
            raise self.at().wrong("the bucket is given twice, or is below zero")
        core.bins[index] = count

    def characters(self, text: str) -> None:
        if len(self.text) < 1000:
            self.text += text

    def end(self, name: str) -> None:
        self.stack.pop()
        if name in _FIGURES and self.core is not None:
            self.core.figures[_FIGURES[name]] = self._figure(name)
        elif name == "core" and self.core is not None:
            self.cores.append(self.core)
            self.core = None
        elif name == "kernel" or (name == "release" and "uname" in self.stack):
            self.facts.setdefault("kernel.release", self.text.strip())

    def _figure(self, name: str) -> str:
        text = self.text.strip()
        if name == "samples":
            return str(self.at().whole(text, "a count"))
        number = re.sub(r"(\.[0-9]{1,9})[0-9]*$", r"\1", text)
        return self.at().decimal(number, "a figure")


def recognises(path: Path) -> bool:
    text = head(path)
    return text.lstrip().startswith("<") and "<rteval" in text


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    reader = _parse(path)
    if not reader.tool:
        raise left_out(
            path, reader.line, "the measurement of cyclictest or timerlat", "with one of them (rteval.conf)"
        )
    if not reader.cores:
        raise left_out(
            path,
            reader.line,
            f"the statistics of {reader.tool}",
            "with more buckets (`buckets` in rteval.conf)",
        )
    cpus = [core.cpu for core in reader.cores]
    if len(set(cpus)) != len(cpus):
        raise reader.at().wrong("a core is given twice")
    series, contradictions = checked(_series(reader), path)
    parameters, policy = period_and_policy(reader.command, len(reader.cores))
    return Foreign(
        path,
        reader.tool,
        (COLUMNS[reader.tool],),
        series,
        known=histogram_known(series, 1000),
        parameters={**parameters, "late-policy": "skip"},
        policy=policy,
        facts=reader.facts,
        version=f"rteval {reader.version}".strip(),
        contradictions=contradictions,
    )


def _parse(path: Path) -> _Reader:
    reader, parser = _Reader(path), expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise reader.at().wrong("it declares a document type, which rteval does not")

    def following(name: str, attributes: dict[str, str]) -> None:
        reader.line = parser.CurrentLineNumber
        reader.begin(name, attributes)

    def ending(name: str) -> None:
        reader.line = parser.CurrentLineNumber
        reader.end(name)

    parser.StartElementHandler, parser.EndElementHandler = following, ending
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = reader.characters, refuse
    parser.buffer_text = True
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except expat.ExpatError as problem:
        what = expat.errors.messages[problem.code]
        raise Line(path, problem.lineno, "").wrong(f"this is not XML ({what})") from None
    except (ValueError, LookupError):  # an encoding that Python does not have
        raise reader.at().wrong("it is in an encoding that cannot be read") from None
    except OSError as problem:
        raise UsageError(UNREADABLE(path=path, reason=problem.strerror or problem)) from None
    return reader


def _series(reader: _Reader) -> Sequence[ForeignSeries]:
    series = []
    for number, core in enumerate(reader.cores):
        figures = core.figures
        if "count" not in figures:
            raise Line(reader.path, core.line, "").wrong(f"core {core.cpu} has no number of samples")
        count = int(figures["count"])
        if sum(core.bins.values()) >= MOST:
            raise Line(reader.path, core.line, "").wrong("more samples than there can be")
        # of timerlat rteval drops what lies over the histogram; of cyclictest it then drops all statistics
        beyond = 0 if reader.tool == "cyclictest" else None
        stated = Stated(
            COLUMNS[reader.tool],
            number,
            core.cpu,
            min=figures.get("min") if count else None,
            mean=figures.get("mean") if count else None,
            max=figures.get("max") if count else None,
            stddev=figures.get("stddev") if count else None,
            count=count,
            beyond=beyond,
        )
        series.append(ForeignSeries(stated, core.bins, core.line))
    return series


IMPORTER = importer("rteval", "summary.xml of rteval", recognises, read_file)
