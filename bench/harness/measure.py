"""Running things and timing them: one process at a time, ours and theirs in turn."""

import os
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field


class Failed(Exception):
    """A command that did not do its work, with its last words."""


@dataclass
class Run:
    """A finished command."""

    seconds: float
    output: str
    lines: list  # (seconds since the start, line of standard error)
    megabytes: float  # peak resident memory


def run(command, timeout=600.0, env=None):
    """Runs a command to its end. Its messages are stamped as they come, which times epochs without asking the program to."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
        expired = threading.Event()
        timer = threading.Timer(timeout, lambda: (expired.set(), process.kill()))
        timer.start()
        try:
            lines = [(time.perf_counter() - start, line.decode(errors="replace").rstrip()) for line in process.stderr]
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            timer.cancel()
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        name = os.path.basename(command[0])
        if expired.is_set():
            raise Failed(f"{name} was still running after {timeout:.0f} s")
        if process.returncode != 0:
            words = lines[-1][1] if lines else "it said nothing"
            raise Failed(f"{name} {command[1] if len(command) > 1 else ''} ended with {process.returncode}: {words}")
        output.seek(0)
        return Run(seconds, output.read().decode(), lines, usage.ru_maxrss / 1024)


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
