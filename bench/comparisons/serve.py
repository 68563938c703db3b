"""`consonant serve` on the loopback address, under a load of our own: speed, waiting times, memory, clients that do what they should not."""

import json
import re
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.environment import ROOT, say
from harness.measure import Failed, Side
from harness.table import Row

SUMMARY = "annotation over HTTP at 1, 16 and 256 connections against the library on the same texts; p99 at 70% load; memory; hostile clients"
PEERS = []

LEAST_SHARE = 0.85
MOST_TAIL = 10
MOST_GROWTH = 16
SENTENCES = [
    "Ann Smith, who works for Google in London, has not seen the new bridge yet.",
    "The committee met on Tuesday and decided, after a short debate, to leave the rules as they are.",
    "Can you send me the figures before the end of the week?",
    "Heavy rain in the north closed two roads, and trains between Kiel and Hamburg were late.",
    "He said nothing.",
]


def compare(environment, result):
    texts = environment.scratch / "texts.txt"
    lines = paragraphs(environment)
    texts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    load = build()
    rounds = [json.loads(subprocess.run([load, "library", texts, "5"], check=True, capture_output=True, text=True).stdout) for _ in range(environment.repeat)]
    library = Side([round["words_per_second"] for round in rounds], "annotate_all, all threads")
    server = Server(environment.binary)
    try:
        fire(load, server, texts, 16, 400)
        best = 0
        for connections in (1, 16, 256):
            say(f"serve: {connections} connections")
            shots = [fire(load, server, texts, connections, 1500) for _ in range(environment.repeat)]
            errors = sum(shot["errors"] for shot in shots)
            if errors:
                result.failures.append(f"{errors} errors at {connections} connections")
            quality = ", ".join(f"{name} {sorted(shot[name] for shot in shots)[len(shots) // 2]:.1f} ms" for name in ("p50", "p99"))
            side = Side([shot["words_per_second"] for shot in shots], f"{quality}, busy {sum(shot['busy'] for shot in shots)}")
            result.rows.append(Row(f"{connections} connections", side, {"the library": library}, "words/s", ourselves=True))
            best = max(best, side.median)
            if connections == 16:
                rate = sorted(shot["requests_per_second"] for shot in shots)[len(shots) // 2]
        result.notes.append(f"the server has {100 * best / library.median:.0f}% of the library's speed")
        if best < LEAST_SHARE * library.median:
            result.failures.append(f"the server has {100 * best / library.median:.0f}% of the library's speed; expected {100 * LEAST_SHARE:.0f}%")
        say("serve: 70% load")
        shot = fire(load, server, texts, 64, 3000, 0.7 * rate)
        tail = shot["p99"] / shot["p50"]
        result.notes.append(f"at 70% load ({0.7 * rate:.0f} requests/s): p50 {shot['p50']:.1f} ms, p99 {shot['p99']:.1f} ms ({tail:.1f} times), errors {shot['errors']}")
        if tail > MOST_TAIL or shot["errors"]:
            result.failures.append(f"p99 is {tail:.1f} times p50 at 70% load, {shot['errors']} errors")
        memory(result, load, server, environment)
        hostile(result, server)
    finally:
        server.stop(result)


def paragraphs(environment):
    """Paragraphs of English-EWT dev, or made of a few sentences where there is no data."""
    if environment.data is not None:
        from comparisons.annotate import raw_text
        return [line for line in raw_text(environment).read_text(encoding="utf-8").splitlines() if 5 <= len(line.split()) <= 120][:400]
    return [" ".join(SENTENCES[(number + at) % len(SENTENCES)] for at in range(1 + number % 4)) for number in range(100)]


def build():
    say("serve: building the load generator")
    command = ["cargo", "build", "--release", "--quiet", "--package", "consonant-serve", "--example", "load", "--features", "consonant/embedded-models"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed("the load generator cannot be built")
    return ROOT / "target" / "release" / "examples" / "load"


class Server:
    def __init__(self, binary):
        self.process = subprocess.Popen([binary, "serve", "--port", "0", "--patience", "5"], stderr=subprocess.PIPE, text=True)
        self.address = re.search(r"http://(\S+)/", self.process.stderr.readline()).group(1)

    def megabytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def send(self, *pieces, wait=0.0):
        """Sends pieces as they stand; the status that comes back, 0 for none."""
        host, port = self.address.split(":")
        with socket.create_connection((host, int(port)), 30) as client:
            try:
                for piece in pieces:
                    client.sendall(piece)
                    time.sleep(wait)
                answer = client.recv(64)
            except OSError:
                return 0
        return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0

    def stop(self, result):
        self.process.terminate()
        if self.process.wait(60) != 0:
            result.failures.append("the server did not end well")


def fire(load, server, texts, connections, requests, rate=None):
    command = [load, server.address, texts, str(connections), str(requests), *([str(rate)] if rate else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)


def memory(result, load, server, environment, requests=100_000):
    """Resident memory before and after many small requests."""
    say("serve: memory over 100,000 requests")
    short = environment.scratch / "short.txt"
    short.write_text("He said nothing.\nAnn lives in Kiel.\n")
    fire(load, server, short, 16, 5000)
    before = server.megabytes()
    shot = fire(load, server, short, 16, requests)
    growth = server.megabytes() - before
    result.notes.append(f"resident memory after {requests:,} requests: {before:.0f} MB {growth:+.1f} MB, errors {shot['errors']}, {shot['requests_per_second']:.0f} requests/s")
    if growth > MOST_GROWTH or shot["errors"]:
        result.failures.append(f"memory grew by {growth:.1f} MB, {shot['errors']} errors")


def hostile(result, server):
    """Clients that do what they should not; afterwards the server answers and has lost nothing."""
    say("serve: hostile clients")
    head = b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    before = server.megabytes()
    with ThreadPoolExecutor(64) as pool:
        slow = [pool.submit(server.send, *[b"GET / HTTP/1.1\r\nHost: localhost\r\n"] + [b"X: y\r\n"] * 8, wait=1.0) for _ in range(48)]
        answers = {
            "a body that says it has 1 GB": server.send(head + b"Content-Length: 1000000000\r\n\r\n", b"{" * 100_000),
            "a body of 64 MB that does not say": server.send(head + b"Transfer-Encoding: chunked\r\n\r\n", *[b"100000\r\n" + b" " * (1 << 20) + b"\r\n"] * 64),
            "broken JSON": server.send(head + b"Content-Length: 7\r\n\r\n{broken"),
            "a path trick": server.send(b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            "a header flood": server.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 10_000 + b"\r\n"),
            "a request among slow clients": server.send(head + b"Content-Length: 15\r\n\r\n{\"text\": \"Hi.\"}"),
        }
        gone = server.send(head + b"Content-Length: 100\r\n\r\n{\"te")
        given_up = sum(task.result() in (0, 408) for task in slow)
    answers["a body that never ends"] = gone
    expected = {"a body that says it has 1 GB": {413}, "a body of 64 MB that does not say": {413, 0}, "broken JSON": {400}, "a path trick": {404},
                "a header flood": {431, 0}, "a request among slow clients": {200}, "a body that never ends": {408, 0}}
    for name, status in answers.items():
        if status not in expected[name]:
            result.failures.append(f"{name} was answered with {status}")
    result.notes.append("; ".join(f"{name}: {status or 'closed'}" for name, status in answers.items()) + f"; slow clients given up: {given_up} of {len(slow)}; memory {server.megabytes() - before:+.1f} MB")
