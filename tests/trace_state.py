"""What a probe could leave changed of the kernel's tracing."""

from pathlib import Path

from processes import completed

LOOK = r"""
mount -t tracefs nodev "$0" && cd "$0" && ls instances && head set_event tracing_on trace_options \
    current_tracer buffer_size_kb tracing_cpumask trace_clock && grep -l 1 events/*/*/enable; true
"""


def tracing(folder: Path) -> str:
    """All of it, by way of a mount on this folder that nobody else sees."""
    folder.mkdir(exist_ok=True)
    command = ["unshare", "--mount", "sh", "-c", LOOK, str(folder)]
    return completed(command, check=True).stdout
