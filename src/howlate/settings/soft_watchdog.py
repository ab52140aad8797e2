"""The watchdog for soft lockups: /proc/sys/kernel/soft_watchdog. The check `nmi_watchdog` judges both."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._setting import MachineSetting, always, as_switch

FACT = "watchdog.soft"

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_switch(FACT),
    check="nmi_watchdog",
    tries=always("off"),
    for_good={
        "0": "kernel.soft_watchdog = 0 in {sysctl}, or nosoftlockup on the kernel's command line",
        "": "kernel.soft_watchdog = 1 in {sysctl}",
    },
    causes=(Cause.HIGHER_TASK,),
    about={Cause.HIGHER_TASK: "migration/|watchdog/"},
)
