"""`howlate import` of other tools' files: its exit codes and sentences."""

import shutil
from pathlib import Path

from cli.commands import Run, is_a_sentence
from imports.foreign import FIXTURES


def test_a_file_becomes_a_run_whose_path_comes_last(howlate: Run, tmp_path: Path) -> None:
    said = howlate(
        "import", str(FIXTURES / "cyclictest-2.4.txt"), "--out", str(tmp_path / "out"), "--label", "kernel=a"
    )
    assert said.code == 0
    assert said.out.split()[-1] == str(tmp_path / "out")
    assert howlate("show", str(tmp_path / "out")).code == 0


def test_a_cut_file_is_a_sentence_and_leaves_nothing(howlate: Run, tmp_path: Path) -> None:
    cut = tmp_path / "cut.txt"
    cut.write_text((FIXTURES / "cyclictest-2.4.txt").read_text()[:1000])
    said = howlate("import", str(cut), "--out", str(tmp_path / "out"))
    assert said.code == 4 and is_a_sentence(said.err) and "line" in said.err
    assert not (tmp_path / "out").exists()


def test_a_contradiction_is_imported_and_said(howlate: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text(
        (FIXTURES / "cyclictest-2.4.txt").read_text().replace("# Total: 000000996", "# Total: 000000995")
    )
    said = howlate("import", str(path), "--out", str(tmp_path / "out"))
    assert said.code == 4 and "line 107" in said.err
    assert "not valid" in said.out or "invalid" in said.out


def test_what_makes_no_sense_is_misuse(howlate: Run, tmp_path: Path) -> None:
    csv = shutil.copy(FIXTURES / "samples.csv", tmp_path)
    (tmp_path / "prose.txt").write_text("Dear reader,\n\nno numbers here\n")
    for arguments, part in (
        ((str(tmp_path / "prose.txt"),), "format is unknown"),
        ((csv,), "--map latency_us=COLUMN"),
        ((csv, "--map", "latency_us"), "is not NAME=VALUE"),
        ((csv, "--map", "latency_us=nothing"), "this column"),
        (
            (str(FIXTURES / "rteval.xml"), "--map", "unit=ns"),
            "does not apply",
        ),
        ((str(FIXTURES / "cyclictest-2.4.txt"), "--map", "perid=1ms"), "does not apply"),
        ((str(FIXTURES / "cyclictest-2.4.txt"), "--map", "unit=m"), "unit is unknown"),
    ):
        said = howlate("import", *arguments)
        assert said.code == 2 and part in said.err, said.err


def test_a_unit_that_the_file_leaves_open_is_asked_for_once(howlate: Run, tmp_path: Path) -> None:
    path = tmp_path / "screen.txt"
    path.write_text("T: 0 (1636) P:97 I:1000 C: 10000 Min: 1890 Act: 2018 Avg: 2215 Max: 34412\n")
    said = howlate("import", str(path), "--out", str(tmp_path / "out"))
    assert said.code == 2 and is_a_sentence(said.err) and "--map unit=ns" in said.err
    assert howlate("import", str(path), "--map", "unit=ns", "--out", str(tmp_path / "out")).code == 0
    assert "34.4" in howlate("show", str(tmp_path / "out")).out
