"""Boot parameters that a kernel does not know."""

from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.lab.guests.watch import Limits
from howlate.lab.kernels.image import plain_kernel
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.parameters import HANDED, IMPLIED_BY_RT, OF_MODULES, ImageNames, check_in_force
from howlate.measure.machines import IN_FORCE_UNKNOWN
from howlate.words.say import english
from lab.guests import bench

IMAGE = b"\0preempt=\0isolcpus=\0nospectre_v2\0full\0nokaslr\0"


def check(label: str, handed: str, tmp_path: Path, of_modules: str = "") -> tuple[str, ...]:
    vmlinuz = tmp_path / "vmlinuz"
    vmlinuz.write_bytes(IMAGE + bytes(0x300))
    return check_in_force(Label.parse(label), {HANDED: handed, OF_MODULES: of_modules}, vmlinuz)


def test_a_parameter_that_was_handed_to_init_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"premept=full .* 6\.1\[premept=full\]") as caught:
        check("6.1[premept=full]", "premept=full", tmp_path)
    assert '"preempt=full"' in caught.value.remedy
    with pytest.raises(UsageError, match="bogusflag cannot be used") as caught:
        check("6.1[quiet bogusflag]", "bogusflag", tmp_path)
    assert caught.value.remedy == "leave it out"
    with pytest.raises(UsageError) as caught:
        check("6.1[threadirq]", "threadirq", tmp_path)
    assert caught.value.remedy.startswith('did you mean "threadirqs"?')


def test_what_a_kernel_does_anyway_is_refused_with_that_and_never_proposed_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="threadirqs cannot be used") as caught:
        check("6.1-rt[threadirqs]", "threadirqs", tmp_path)
    assert caught.value.remedy.startswith(IMPLIED_BY_RT["threadirqs"])
    with pytest.raises(UsageError) as caught:
        check("6.1[threadirqs]", "threadirqs", tmp_path)
    assert '"threadirqs"' not in caught.value.remedy


def test_what_the_kernel_took_is_in_force(tmp_path: Path) -> None:
    assert check("6.1[preempt=full quiet]", "", tmp_path) == ()
    assert check("6.1", "nokaslr", tmp_path) == ()  # the lab's own


@pytest.mark.parametrize(
    ("word", "isolated", "quiet", "problem"),
    [
        ("isolcpus=1", "1", "(null)", ""),
        ("isolcpus=managed_irq,domain,1-2", "1-2", "(null)", ""),
        ("isolcpus=managed_irq,1", "", "(null)", ""),
        ("isolcpus=1-N", "", "(null)", ""),
        ("isolcpus=1", "", "(null)", "isolcpus=1 cannot be used: it is in force on CPUs none"),
        ("isolcpus=domain,1,3", "1", "", "isolcpus=domain,1,3 cannot be used: it is in force on CPUs 1 only"),
        ("nohz_full=1", "", "1", ""),
        ("nohz_full=1", "1", "(null)", "nohz_full=1 cannot be used: it is in force on CPUs none"),
        ("nohz_full=0-1", "", "1", "nohz_full=0-1 cannot be used: it is in force on CPUs 1 only"),
    ],
)
def test_cpus_that_were_not_set_aside_are_refused(word: str, isolated: str, quiet: str, problem: str) -> None:
    facts = {"cpu.isolated": isolated, "cpu.nohz_full": quiet}
    label = Label.parse(f"6.1[{word} quiet]")
    if not problem:
        assert check_in_force(label, facts, Path()) == ()
        return
    with pytest.raises(UsageError) as refused:
        check_in_force(label, facts, Path())
    assert problem in refused.value.message and "--guest-cpus" in refused.value.remedy
    assert check_in_force(label, {}, Path()) == ()  # a kernel without these files


def test_cpus_that_are_not_there_are_the_reason_though_the_kernel_hands_the_parameter_over(
    tmp_path: Path,
) -> None:
    """A kernel hands over an isolcpus= that names none of its CPUs, as if it did not know the parameter."""
    (tmp_path / "vmlinuz").write_bytes(IMAGE + bytes(0x300))
    facts = {HANDED: "isolcpus=1", "cpu.isolated": ""}
    with pytest.raises(UsageError, match="isolcpus=1 cannot be used: it is in force on CPUs none") as refused:
        check_in_force(Label.parse("6.1[isolcpus=1]"), facts, tmp_path / "vmlinuz")
    assert "--guest-cpus" in refused.value.remedy


def test_what_cannot_be_known_is_not_claimed(tmp_path: Path) -> None:
    assert check("6.1[spectre_v2=off]", "spectre_v2=off", tmp_path) == ("spectre_v2=off",)
    words = "6.1[rcutree.kthread_prio=2 no.thing=1]"
    assert check(words, "", tmp_path, "rcutree.kthread_prio=2") == ("no.thing=1",)
    assert "a.b, c.d" in english(IN_FORCE_UNKNOWN(label="6.1", parameters=["a.b", "c.d"]))


def test_spellings_come_from_the_image() -> None:
    known = ImageNames.of(IMAGE)
    assert known.parameters == {"preempt", "isolcpus"}
    assert known.holds("spectre_v2")
    assert not known.holds("premept")
    assert known.nearest("isolcpu") == "isolcpus"


@pytest.mark.long
def test_a_kernel_hands_over_what_it_does_not_know(tmp_path: Path, booted: Path) -> None:
    """The real thing: what a guest reports, and a real kernel's strings."""
    import json

    words = "frobnicate=yes bogus rcutree.kthread_prio=3 no_such.thing=1 nohz=off threadirqs"
    on = bench(tmp_path, f"6.1-rt[{words}]", snapshots=booted)
    (line,) = on.run([("howlate-probe", "facts", "--json")], Limits(60.0))
    values = json.loads(line.stdout)["values"]
    handed = values[HANDED].split()
    assert set(handed) >= {
        "bogus",
        "frobnicate=yes",
        "threadirqs",
    }  # the last is compiled out with PREEMPT_RT
    assert "nohz=off" not in handed
    assert values[OF_MODULES].split() == ["rcutree.kthread_prio=3"]
    with pytest.raises(UsageError, match="frobnicate=yes cannot be used"):
        check_in_force(on.label, values, on.kernel.vmlinuz)
    with pytest.raises(UsageError, match="threadirqs cannot be used"):
        check_in_force(Label.parse("6.1-rt[threadirqs]"), values, on.kernel.vmlinuz)
    known = ImageNames.of(plain_kernel(on.kernel.vmlinuz.read_bytes()))
    assert {"isolcpus", "nohz", "nohz_full"} <= known.parameters
