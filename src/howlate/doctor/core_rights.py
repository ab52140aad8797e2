"""Whether the caller may use the real-time core. Cobalt: CAP_SYS_NICE or Cobalt's group (`xenomai.allowed_group`),
access to the devices below /dev/rtdm, and a name in /etc/passwd. EVL: access to /dev/evl/control.
"""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.model.preemption import core_of, unread_core
from howlate.settings._check import Judgement, absent, as_root, late, note, ok, unknown
from howlate.words.statement import rule

NOT_NEEDED = rule("doctor.core_rights.not-needed", "not needed without Cobalt or EVL")
GIVEN = rule("doctor.core_rights.given", "the core admits the caller")
NOT_IN_GROUP = rule(
    "doctor.core_rights.not-in-group",
    "no CAP_SYS_NICE, and not in the group that Cobalt admits",
    remedy="{as_root}; or boot with `xenomai.allowed_group=GID`, become a member of that group, and give it the "
    "devices below /dev/rtdm by a rule of udev",
)
NO_DEVICES = rule(
    "doctor.core_rights.no-devices",
    "Cobalt admits the caller, who may not read and write its devices below /dev/rtdm",
    remedy="{as_root}; or give the group of `xenomai.allowed_group` these devices by a rule of udev",
)
NO_NAME = rule(
    "doctor.core_rights.no-name",
    "the caller has no name in /etc/passwd",
    remedy="add a line such as `root:x:0:0:root:/:/bin/sh`: Alchemy does not start without it",
)
NO_ACCESS = rule(
    "doctor.core_rights.no-access",
    "the caller may not read and write /dev/evl/control",
    remedy="{as_root}; or give a group the devices below /dev/evl by a rule of udev, and become a member of it",
)

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
        return _by_flag(facts, "evl.caller_admitted", late(NO_ACCESS(as_root=as_root(facts))))
    if core != "cobalt":
        return ok(NOT_NEEDED())
    return _not_admitted(facts) or _by_flag(facts, "caller.named", note(NO_NAME()))


def _by_flag(facts: Facts, key: str, otherwise: Judgement) -> Judgement:
    """The core admits the caller if this is true."""
    flag = facts.flag(key)
    return unknown(facts, key) if flag is None else ok(GIVEN()) if flag else otherwise


def _not_admitted(facts: Facts) -> Judgement | None:
    """Why Cobalt does not admit the caller, or why that is not known; None if it does."""
    capable, member = facts.flag("caller.cap_sys_nice"), facts.flag("cobalt.caller_in_group")
    if capable or member:
        shut_out = facts.flag("cobalt.caller_admitted") is False
        return late(NO_DEVICES(as_root=as_root(facts))) if shut_out else None
    if capable is None:
        return unknown(facts, "caller.cap_sys_nice")
    if member is None and not absent(facts, "cobalt.caller_in_group"):
        return unknown(facts, "cobalt.caller_in_group")
    return late(NOT_IN_GROUP(as_root=as_root(facts)))
