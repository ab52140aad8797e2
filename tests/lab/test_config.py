"""Which modes of preemption a kernel has: by its config, as sched_dynamic_mode() of its series reads `preempt=`."""

import pytest

from howlate.errors import NotPossibleError
from howlate.lab.kernels.kernel import check_parameters, modes
from howlate.lab.kernels.label import Label
from howlate.model.kernel_config import parse_config

DYNAMIC, RT, LAZY = "PREEMPT_DYNAMIC", "PREEMPT_RT", "ARCH_HAS_PREEMPT_LAZY"


def config(*names: str) -> dict[str, str]:
    return {f"CONFIG_{name}": "y" for name in names}


@pytest.mark.parametrize(
    ("series", "names", "built", "choices"),
    [
        ("5.10", ("PREEMPT_VOLUNTARY",), "voluntary", ()),
        ("6.1", ("PREEMPT_VOLUNTARY", DYNAMIC), "voluntary", ("none", "voluntary", "full")),
        ("6.1", (RT, "PREEMPT_LAZY"), "rt", ()),
        ("6.12", ("PREEMPT_VOLUNTARY",), "voluntary", ()),
        ("6.12", (RT, "PREEMPT"), "rt", ()),
        ("6.16", ("PREEMPT_LAZY", DYNAMIC, LAZY), "lazy", ("none", "voluntary", "full", "lazy")),
        ("6.16", ("PREEMPT", RT, DYNAMIC, LAZY), "rt", ("full", "lazy")),
        ("7.0", ("PREEMPT_LAZY", DYNAMIC, LAZY), "lazy", ("full", "lazy")),
        ("7.0", ("PREEMPT_VOLUNTARY", DYNAMIC), "voluntary", ("none", "voluntary", "full")),
        ("7.3", ("PREEMPT_LAZY", LAZY), "lazy", ()),
    ],
)
def test_the_modes_of_a_kernel(
    series: str, names: tuple[str, ...], built: str, choices: tuple[str, ...]
) -> None:
    have = modes(config(*names), series)
    assert (have.built, have.choices) == (built, choices)


def test_a_mode_that_a_kernel_does_not_have_is_refused_with_the_reason() -> None:
    label = Label.parse("6.1@arm64[preempt=full]")
    with pytest.raises(NotPossibleError) as caught:
        check_parameters(label, config("PREEMPT_VOLUNTARY"), "6.1")
    assert "no CONFIG_PREEMPT_DYNAMIC" in caught.value.message
    assert "CONFIG_PREEMPT_VOLUNTARY" in caught.value.message
    check_parameters(Label.parse("6.1[preempt=full quiet]"), config(DYNAMIC), "6.1")
    check_parameters(Label.parse("6.1@arm64[quiet]"), config(), "6.1")


def test_a_config_is_read_as_it_stands() -> None:
    text = '# comment\nCONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_D="a b"\nCONFIG_HZ=250\n'
    assert parse_config(text) == {"CONFIG_A": "y", "CONFIG_B": "m", "CONFIG_D": '"a b"', "CONFIG_HZ": "250"}
