"""Calls that take long: they tell how far they are, and end when they are asked to."""

import logging
import os
import random
import subprocess
import sys

import pytest

import consonant


def test_progress_and_logging(trees, caplog, monkeypatch, nlp):
    lines = []
    with caplog.at_level(logging.INFO, logger="consonant"):
        consonant.Tagger(epochs=2).fit(trees, progress=lines.append)
    assert sum("epoch" in line for line in lines) == 2 and lines == [record.message for record in caplog.records]
    consonant.Tagger(epochs=2).fit(trees, progress=True)
    heard = []
    assert len(list(nlp.pipe(["One."] * 1500, progress=heard.append))) == 1500
    assert heard == ["1000 documents", "1500 documents"]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if there were no tqdm
    assert consonant.CRF(max_iterations=3).fit([[{"a": 1.0}]], [["x"]], progress=True).classes_ == ["x"]


#: Long calls: a flag is heard in a training, in a search, in columns.
LONG = {
    "fit": "consonant.Parser(order=3, epochs=500).fit(path)",
    "crf": "consonant.CRF(max_iterations=100000, epsilon=0.0, delta=0.0).fit([[{'a%d' % (i * j % 97): 1.0} for j in range(40)] for i in range(3000)], [[str(i * j % 50) for j in range(40)] for i in range(3000)])",
    "solve": "hard().solve(time_limit=1000)",
    "subgradient": "hard().solve('subgradient', max_iterations=10**9)",
    "columns": "nlp.annotate_batch(pyarrow.record_batch({'text': ['Ann met Bob in the old town near the river. ' * 5] * 50000}))",
}
PROGRAM = """
import os, signal, sys, threading, time
import numpy, pyarrow, consonant
path = sys.argv[1]
nlp = consonant.load()
def hard():
    p, random = consonant.Problem(), numpy.random.default_rng(1)
    x = p.binaries(random.normal(size=120))
    for i in range(120):
        for j in range(i):
            p.pair(x[i], x[j], random.normal())
    return p
def stop():
    time.sleep(1.0); global sent; sent = time.perf_counter(); os.kill(os.getpid(), signal.SIGINT)
def busy():
    before = time.process_time(); time.sleep(1.0); return time.process_time() - before
threading.Thread(target=stop).start()
try:
    CALL
    print("done")
except KeyboardInterrupt:
    late = time.perf_counter() - sent
    # What nobody waits for any more ends by itself.
    end = time.perf_counter() + 20
    while busy() > 0.5 and time.perf_counter() < end: pass
    print(late, busy())
os._exit(0)
"""


def noise(sentences, words=14):
    """Trees that nothing in their words tells: no training is done with them before its last epoch."""
    chosen = random.Random(1)
    row = lambda word: f"{word}\tx\tx\tX\t_\t_\t{chosen.randrange(1, word) if word > 1 else 0}\t{'dep' if word > 1 else 'root'}\t_\t_\n"
    return "".join("".join(map(row, range(1, words + 1))) + "\n" for _ in range(sentences))


@pytest.mark.parametrize("call", LONG)
def test_ctrl_c_ends_long_calls_and_their_work(call, tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(noise(600))
    command = [sys.executable, "-c", PROGRAM.replace("CALL", LONG[call]), str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert printed.stdout.strip() != "done" and printed.stdout, printed.stderr
    late, busy = map(float, printed.stdout.split())
    assert late < (0.1 if os.getloadavg()[0] < 2 else 1.0) and busy < 0.5
