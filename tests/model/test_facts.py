"""Facts as they come from a probe: what is absent, and a configuration that is compressed."""

import gzip
from base64 import b64encode
from typing import Any

import pytest

from howlate.model.facts import Facts, unpacked

CONFIG = (
    b'# a comment\nCONFIG_HZ=250\nCONFIG_SMP=y\nCONFIG_LOCALVERSION="-ours"\n# CONFIG_PREEMPT_RT is not set\n'
)
OPTIONS = "HZ PREEMPT_RT SMP"


def captured(packed: Any) -> dict[str, Any]:
    missing = {"kernel.config": "/proc/config.gz is compressed"}
    return {"facts": 1, "values": {"kernel.config": None, "kernel.config_gz": packed}, "missing": missing}


def packed(text: bytes) -> dict[str, str]:
    return {"options": OPTIONS, "gzip": b64encode(gzip.compress(text)).decode()}


def test_of_a_compressed_configuration_only_the_options_that_the_probe_names_are_kept() -> None:
    facts = Facts.from_json(captured(packed(CONFIG)))
    assert facts.mapping("kernel.config") == {"HZ": "250", "SMP": "y"}
    assert facts.config("PREEMPT_RT") == "n"
    assert dict(facts.missing) == {}
    assert "gz" not in str(facts.to_json())


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        {"options": OPTIONS},
        {"options": OPTIONS, "gzip": "%"},
        {"options": OPTIONS, "gzip": b64encode(CONFIG).decode()},
        {"options": OPTIONS, "gzip": b64encode(gzip.compress(CONFIG)[:-9]).decode()},
        {"options": OPTIONS, "gzip": b64encode(gzip.compress(CONFIG)[:-8] + bytes(8)).decode()},
    ],
)
def test_a_damaged_configuration_is_missing_with_the_reason(damaged: Any) -> None:
    facts = Facts.from_json(captured(damaged))
    assert facts.mapping("kernel.config") is None
    assert facts.reason("kernel.config").startswith("/proc/config.gz: ")


def test_facts_without_a_compressed_configuration_stay_as_they_are() -> None:
    facts = {"facts": 1, "values": {"kernel.config": {"HZ": "100"}}, "missing": {}, "absent": []}
    assert unpacked(facts) == facts


def test_what_is_absent_is_said_by_the_probe_and_read_off_the_reason_of_an_older_one() -> None:
    missing = {
        "cpu.turbo": "neither here nor there",
        "kernel.realtime": "/sys/kernel/realtime: Permission denied",
    }
    old = {"facts": 1, "values": dict.fromkeys(missing), "missing": missing}
    assert Facts.from_json(old).absent == {"cpu.turbo"}
    assert Facts.from_json({**old, "absent": ["kernel.realtime"]}).absent == {"kernel.realtime"}
