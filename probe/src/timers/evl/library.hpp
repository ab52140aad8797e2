// libevl's own declarations. Some ports of libevl 0.47 rename its headers, so that they stand beside those of the kernel's interface.
#pragma once

#include <unistd.h>

#if __has_include(<evl/timer-evl.h>)
#include <evl/clock-evl.h>
#include <evl/sched-evl.h>
#include <evl/syscall-evl.h>
#include <evl/thread-evl.h>
#include <evl/timer-evl.h>
#else
#include <evl/evl.h>
#include <evl/sched.h>
#include <evl/timer.h>
#endif
