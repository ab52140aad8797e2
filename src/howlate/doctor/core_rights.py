"""Whether the caller may use the real-time core. Cobalt: CAP_SYS_NICE or Cobalt's group (`xenomai.allowed_group`),
access to the devices below /dev/rtdm, and a name in /etc/passwd. EVL: access to /dev/evl/control.
"""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.model.preemption import core_of, unread_core
from howlate.settings._check import NOT_NEEDED, Judgement, absent, as_root, late, note, ok, unknown

TITLE = "Right to use the real-time core"
WHY = (
    "Cobalt refuses programs of ordinary users, and Alchemy ends where it cannot look up the user's name. EVL's "
    "devices are root's alone unless a rule says otherwise."
)
WEIGHT = 58


def judge(facts: Facts, aim: Aim) -> Judgement:
    if "cobalt.state" not in facts.values:
        return unknown(facts, "cobalt.state")
    if unread := unread_core(facts):
        return unknown(facts, unread)
    core = core_of(facts)
    if core == "evl":
        return _by_flag(
            facts,
            "evl.caller_admitted",
            _no_access(facts, "/dev/evl/control", "a group that the caller is in"),
        )
    if core != "cobalt":
        return ok(NOT_NEEDED())
    return _not_admitted(facts) or _by_flag(
        facts,
        "caller.named",
        note(
            "the caller has no name in /etc/passwd",
            "add a line such as `root:x:0:0:root:/:/bin/sh`: Alchemy does not start without it",
        ),
    )


def _by_flag(facts: Facts, key: str, otherwise: Judgement) -> Judgement:
    flag = facts.flag(key)
    return unknown(facts, key) if flag is None else ok("yes") if flag else otherwise


def _no_access(facts: Facts, devices: str, group: str) -> Judgement:
    return late(
        "the caller may not read and write {devices}",
        "{as_root}; or give {group} these devices by a rule of udev",
        devices=devices,
        group=group,
        as_root=as_root(facts),
    )


def _not_admitted(facts: Facts) -> Judgement | None:
    """Why Cobalt does not admit the caller, or why that is not known; None if it does."""
    capable, member = facts.flag("caller.cap_sys_nice"), facts.flag("cobalt.caller_in_group")
    if capable or member:
        if facts.flag("cobalt.caller_admitted") is not False:
            return None
        return _no_access(facts, "the devices below /dev/rtdm", "the group of `xenomai.allowed_group`")
    if capable is None:
        return unknown(facts, "caller.cap_sys_nice")
    if member is None and not absent(facts, "cobalt.caller_in_group"):
        return unknown(facts, "cobalt.caller_in_group")
    return late(
        "no CAP_SYS_NICE, and not in the group that Cobalt admits",
        "{as_root}; or boot with `xenomai.allowed_group=GID`, become a member of that group, and give it the "
        "devices below /dev/rtdm by a rule of udev",
        as_root=as_root(facts),
    )
