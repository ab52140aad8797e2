"""A refused policy is explained from what is there: tried for real, in namespaces, without capabilities and behind a
filter. The probe and the doctor say the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from howlate.doctor import Aim, Facts, examine
from howlate.doctor._check import CONTAINER_OPTIONS
from howlate.places import probe_path

pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(os.geteuid() != 0, reason="gives up rights, which only root has"),
]

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
DOCKERS = (
    "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod "
    "audit_write setfcap"
)
CONTAINER = (
    "setpriv",
    "--inh-caps=-all",
    f"--bounding-set=-all,{','.join(f'+{name}' for name in DOCKERS.split())}",
)
FILTER = """
import ctypes, os, platform, struct, sys
number = {"x86_64": 314, "aarch64": 274}[platform.machine()]
rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | int(sys.argv[1])), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
class Program(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_ushort), ("code", ctypes.c_void_p)]
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(rows), ctypes.cast(code, ctypes.c_void_p))), 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""
"""A seccomp filter that answers sched_setattr with this error, as sandboxes do."""


def filtered(error: int) -> tuple[str, ...]:
    return (sys.executable, "-c", FILTER, str(error))


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    """Where nobody can start it."""
    path = tmp_path / "howlate-probe"
    shutil.copy(probe_path(), path)
    for folder in (path, *list(path.parents)[:3]):
        folder.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("way", "rule", "says", "not_said"),
    [
        (NOBODY, "too-low", "Measure as root", "container"),
        ((*NOBODY, "unshare", "-U", "-r"), "in-namespace", "user namespace", "CONFIG_RT_GROUP_SCHED"),
        (("unshare", "-U", "-r"), "in-namespace", "user namespace", "Measure as root"),
        (CONTAINER, "not-granted", CONTAINER_OPTIONS, "as root"),
        ((*CONTAINER, *NOBODY[1:]), "not-granted", CONTAINER_OPTIONS, "as root"),
        (filtered(1), "filtered", "RestrictRealtime=no", "CONFIG_RT_GROUP_SCHED"),
        (filtered(38), "filtered", "seccomp", "CONFIG_RT_GROUP_SCHED"),
    ],
)
def test_the_probe_and_the_doctor_say_the_same(
    probe: Path, way: Sequence[str], rule: str, says: str, not_said: str
) -> None:
    refused = subprocess.run(
        [*way, probe, "cyclic", "--policy", "fifo:80", "--duration", "10ms"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 3, refused.stderr
    assert says in refused.stderr and not_said not in refused.stderr, refused.stderr
    facts = subprocess.run([*way, probe, "facts", "--json"], capture_output=True, text=True, check=True)
    found = examine(Facts.from_json(json.loads(facts.stdout)), Aim(policy="fifo", priority=80))
    (right,) = [one for one in found if one.check == "limit_rtprio"]
    assert (right.level, right.statement.rule) == ("late", f"doctor.limit_rtprio.{rule}")
    assert (CONTAINER_OPTIONS in right.change) is (CONTAINER_OPTIONS in refused.stderr)


def test_who_has_the_right_is_told_nothing(probe: Path) -> None:
    facts = json.loads(subprocess.run([probe, "facts", "--json"], capture_output=True, check=True).stdout)[
        "values"
    ]
    assert facts["caller.real_time"] is (facts["caller.cap_sys_nice"] and not facts["caller.seccomp_filter"])
    assert {row["name"] for row in facts["knobs"]} >= {"ksm", "preemption", "stat_interval"}
    assert all(row["settable"] or row["why"] for row in facts["knobs"])
