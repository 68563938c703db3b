"""Running things and timing them: one process at a time, ours and theirs in turn."""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field


# A process that starts another lends it its own peak of memory, and ours grows with what it has read. So a small one starts the
# command, waits for it, and tells its seconds by the clock and of the processor, its exit code and its kilobytes.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - start
os.write(int(sys.argv[1]), f"{seconds} {usage.ru_utime + usage.ru_stime} {os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}".encode())
"""


class Failed(Exception):
    """A command that did not do its work, with its last words."""


@dataclass
class Run:
    """A finished command."""

    seconds: float
    output: str
    lines: list  # (seconds since the start, line of standard error)
    megabytes: float  # peak resident memory
    processor: float  # seconds of the processor


def run(command, timeout=600.0, env=None):
    """Runs a command to its end. Its messages are stamped as they come, which times epochs without asking the program to."""
    command = [str(word) for word in command]
    told, tell = os.pipe()
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(tell), *command]
    with tempfile.TemporaryFile() as output, open(told) as answer:
        start = time.perf_counter()
        options = {"stdout": output, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "env": env}
        process = subprocess.Popen(launcher, pass_fds=[tell], start_new_session=True, **options)
        os.close(tell)
        expired = threading.Event()
        timer = threading.Timer(timeout, lambda: (expired.set(), os.killpg(process.pid, signal.SIGKILL)))
        timer.start()
        try:
            lines = [(time.perf_counter() - start, line.decode(errors="replace").rstrip()) for line in process.stderr]
            process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        process.stderr.close()
        name = os.path.basename(command[0])
        if expired.is_set():
            raise Failed(f"{name} was still running after {timeout:.0f} s")
        words = lines[-1][1] if lines else "it said nothing"
        if process.returncode != 0:
            raise Failed(f"{name} could not be started: {words}")
        seconds, processor, code, kilobytes = answer.read().split()
        if code != "0":
            raise Failed(f"{name} {command[1] if len(command) > 1 else ''} ended with {code}: {words}")
        output.seek(0)
        return Run(float(seconds), output.read().decode(), lines, int(kilobytes) / 1024, float(processor))


@dataclass
class Side:
    """What one side needed for a problem, and how good its answer was."""

    samples: list = field(default_factory=list)
    quality: str = ""
    limited: bool = False  # stopped by the limit: the sample says how long it ran, not how long it needs

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def spread(self):
        """Half the range of the samples, relative to their median; none for one sample."""
        if len(self.samples) < 2 or self.median == 0:
            return None
        return (max(self.samples) - min(self.samples)) / 2 / self.median


def interleave(sides, repeat, budget=60.0):
    """Calls each side in turn, round after round: `sides` maps names to functions that return (sample, anything).

    Noise that comes and goes then hits all sides alike. Stops early when another round would exceed the budget in seconds.
    Returns the samples and the last answers by name.
    """
    samples = {name: [] for name in sides}
    answers = {}
    start = time.perf_counter()
    for done in range(1, repeat + 1):
        for name, call in sides.items():
            sample, answers[name] = call()
            samples[name].append(sample)
        spent = time.perf_counter() - start
        if spent / done * (done + 1) > budget:
            break
    return samples, answers
