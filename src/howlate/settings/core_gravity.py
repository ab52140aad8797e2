"""By how much Cobalt or EVL programs its timers ahead of their dates: /proc/xenomai/clock/coreclk, or EVL's clock."""

from __future__ import annotations

from howlate.settings._setting import MachineSetting, always

COBALT_GRAVITY, EVL_GRAVITY = "cobalt.gravity", "evl.gravity"

SETTING = MachineSetting(
    facts=(COBALT_GRAVITY, EVL_GRAVITY),
    check="core",
    tries=always("0"),
    only_named="it shifts the figures of a real-time core and reduces no latency",
    lacks={
        "in_force": "a core has three of them, and rounds what is written",
        "hold": "it makes nothing less late",
        "for_good": "a real-time core's own programs count on it",
        "causes": "it shifts the figures, and makes nothing late",
    },
)
