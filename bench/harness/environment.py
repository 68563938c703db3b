"""Where everything is: the binary, the peers, the data, a scratch folder; and what machine this is."""

import json
import os
import platform
import re
import subprocess
import sys
import tarfile
from datetime import date
from pathlib import Path

from . import measure
from .measure import Failed

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
VENV = BENCH / ".venv"
OLD = BENCH / ".venv" / "ad3"  # the environment of the one peer that wants an older setuptools


class Worker:
    """A peer that stays alive and answers one request a line, so that it reads its data once."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Failed(f"the peer ended while it was asked to {request.get('do')}")
        return json.loads(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Environment:
    """The binary that is measured, the peers that could be installed, and the folders."""

    def __init__(self, binary, data, scratch, repeat, record):
        self.binary = binary
        self.data = data
        self.scratch = scratch
        self.repeat = repeat
        self.record = record
        self.unavailable = {}

    def consonant(self, *arguments, timeout=600.0):
        """Runs our program."""
        return measure.run([self.binary, *arguments], timeout)

    def solve(self, problem, *arguments, timeout=120.0):
        """Runs `consonant solve` and returns its JSON."""
        return json.loads(self.consonant("solve", problem, "--format", "json", *arguments, timeout=timeout).output)

    def peer(self, script, *arguments, timeout=600.0):
        """Runs a script of bench/peers in the virtual environment and returns its JSON."""
        return json.loads(measure.run(self.peer_command(script, *arguments), timeout).output.splitlines()[-1])

    def peer_command(self, script, *arguments):
        place = OLD if script == "ad3.py" else VENV
        return [str(word) for word in (place / "bin" / "python", "-B", BENCH / "peers" / script, *arguments)]

    def worker(self, script, *arguments):
        return Worker(self.peer_command(script, *arguments))

    def install(self, packages):
        """Installs packages from PyPI; those that cannot be had are remembered with the reason."""
        for package in packages:
            if package in self.unavailable:
                continue
            if package == "ad3":
                self.install_ad3()
            else:
                self.install_package(VENV, sys.executable, package)

    def install_ad3(self):
        """AD3 in C++: its package holds C++ that an old Cython made, for old Pythons only; here it is made anew."""
        if installed(OLD, "ad3"):
            return
        python, sources = OLD / "bin" / "python", self.scratch / "ad3"
        pip = [python, "-m", "pip", "--quiet"]
        self.install_package(OLD, sys.executable, "numpy")
        try:
            call([*pip, "install", "cython<3", "setuptools<70", "wheel"])
            call([*pip, "download", "--no-binary", "ad3", "--no-deps", "--no-build-isolation", "--dest", sources, "ad3"])
            [archive] = sources.glob("ad3-*.tar.gz")
            with tarfile.open(archive) as file:
                file.extractall(sources)
            folder = archive.with_name(archive.name.removesuffix(".tar.gz"))
            call([OLD / "bin" / "cython", "--cplus", "-2", *sorted(folder.glob("python/ad3/*.pyx"))])
            call([*pip, "install", "--no-deps", "--no-build-isolation", folder])
        except (Failed, ValueError) as error:
            self.unavailable["ad3"] = str(error)

    def install_package(self, place, python, package):
        if installed(place, package):
            return
        mark = place / f"unavailable-{package}"
        if mark.exists():
            self.unavailable[package] = mark.read_text()
            return
        if not (place / "bin" / "python").exists():
            say(f"making a virtual environment in {place.relative_to(ROOT)}")
            subprocess.run([python, "-m", "venv", place], check=True)
        say(f"installing {package}")
        pip = subprocess.run([place / "bin" / "python", "-m", "pip", "install", "--quiet", package], capture_output=True, text=True)
        if pip.returncode != 0:
            words = pip.stderr.strip().splitlines() or ["pip said nothing"]
            self.unavailable[package] = words[-1].removeprefix("ERROR: ")
            mark.write_text(self.unavailable[package])

    def has(self, package):
        return package not in self.unavailable


def call(command):
    """Runs a command that has to succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed((done.stderr.strip().splitlines() or ["it said nothing"])[-1])


def installed(place, package):
    """Whether a virtual environment has a package."""
    return any(infos(place, package))


def infos(place, package):
    """What pip has noted of a package in a virtual environment."""
    return place.glob(f"lib/python*/site-packages/{re.sub('[-.]', '_', package)}-*-info")


def build():
    """Builds the release binary and returns its path."""
    say("building the release binary")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    done = subprocess.run(["cargo", "build", "--release", "--quiet", "--package", "consonant-cli"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
        raise Failed(f"cargo build --release failed: {errors[0] if errors else 'see cargo'}")
    return (ROOT / target / "release" / "consonant").resolve()


def stamp(environment, peers):
    """Machine, versions and date: what a figure is worth nothing without."""
    processor = platform.processor() or platform.machine()
    try:
        models = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        processor = models[0] if models else processor
    except OSError:
        pass
    found = {"consonant": first_line([environment.binary, "--version"]), "rustc": first_line(["rustc", "--version"])}
    found["commit"] = first_line(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"])
    for peer in sorted(peers):
        for folder in infos(OLD if peer == "ad3" else VENV, peer):
            found[peer] = folder.name.rpartition(".")[0].split("-")[1]
    return {
        "date": date.today().isoformat(),
        "processor": processor,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": found,
    }


def first_line(command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except OSError:
        return "unknown"
    return (done.stdout.strip().splitlines() or ["unknown"])[0]


def say(text):
    """Tells what goes on, on standard error."""
    print(f"bench: {text}", file=sys.stderr, flush=True)
