import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import consonant

TEXT = "Ann Smith can't come to Kiel. She works for Google."


def test_a_document_has_everything(nlp):
    doc = nlp(TEXT)
    assert doc.text == TEXT and [sentence.text for sentence in doc.sents] == TEXT.replace(". S", ".\nS").split("\n")
    words = list(doc.sents[0])
    assert [word.text for word in words][:2] == ["Ann", "Smith"] and words[0].upos == "PROPN"
    assert sum(word.head == 0 for word in words) == 1 and words[0].id == 1
    assert {(name.text, name.label) for name in doc.ents} == {("Ann Smith", "PER"), ("Kiel", "LOC"), ("Google", "ORG")}
    assert doc.certificates["tree"][0].status == "optimal"
    assert doc.to_conllu().count("\n\n") == 2 and len(doc.to_jsonl().splitlines()) == 2
    assert len(doc) == len(doc.tokens) == sum(len(sentence) for sentence in doc.sents)
    assert words[-1].text == doc.sents[0][-1].text
    with pytest.raises(IndexError):
        doc.sents[0][99]


def test_places_count_code_points(nlp):
    text = "Zoë 😀 met Ann Smith in Kiel. 😀 She left."
    doc = nlp(text)
    for piece in [*doc.ents, *doc.tokens, *doc.sents]:
        assert text[piece.start_char : piece.end_char] == piece.text


@pytest.mark.parametrize("text", ["", "   \n\n ", "\U0001f600", "a" * 5000, "odd\u200b\u202e text", "word " * 3000])
def test_odd_texts(nlp, text):
    doc = nlp(text)
    assert doc.text == text and all(text[word.start_char : word.end_char] == word.text for word in doc)
    assert nlp("\x00\x01 " + text).text == "\x00\x01 " + text


def test_a_stream_is_lazy_and_in_order(nlp):
    asked = []

    def texts():
        for number in range(5000):
            asked.append(number)
            yield f"Number {number}."

    stream = nlp.pipe(texts(), threads=2, batch_size=32)
    first = next(stream)
    assert first.text == "Number 0." and len(asked) <= 96
    assert [doc.text for doc, _ in zip(stream, range(300))] == [f"Number {number}." for number in range(1, 301)]
    assert len(asked) < 500


def test_a_stream_hands_on_what_its_texts_raise(nlp):
    def texts():
        yield "One."
        raise KeyError("no more")

    stream = nlp.pipe(texts())
    assert next(stream).text == "One."
    with pytest.raises(KeyError):
        next(stream)
    with pytest.raises(TypeError):
        list(nlp.pipe(["a", 3]))


def test_threads_change_nothing(nlp):
    texts = [TEXT, "Bob met Eve in Berlin.", "It rained."] * 20
    alone = [doc.to_conllu() for doc in nlp.pipe(texts, threads=1)]
    assert alone == [doc.to_conllu() for doc in nlp.pipe(texts, threads=3)]
    assert alone[0] == nlp(TEXT, threads=1).to_conllu()


def test_python_threads_share_a_pipeline(nlp):
    found = []
    workers = [threading.Thread(target=lambda: found.append(nlp(TEXT).to_conllu())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4 and len(set(found)) == 1


def test_layers(nlp):
    tagger = consonant.load(layers=["tags"])
    doc = tagger(TEXT)
    assert doc.tokens[0].upos and doc.tokens[0].head is None and doc.ents == []
    with pytest.raises(consonant.UsageError, match="there is no layer `trees`"):
        consonant.load(layers=["trees"])


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(consonant.Error, match="nothing-here"):
        consonant.load(tmp_path / "nothing-here")


def test_pickle_and_summaries(nlp):
    again = pickle.loads(pickle.dumps(nlp))
    assert again(TEXT).to_conllu() == nlp(TEXT).to_conllu()
    rain = ["Heavy rain flooded the old town on Monday. Nobody was hurt.", "The old town was flooded by heavy rain."]
    summary = nlp.summarize(rain, words=9, names=["a", "b"])
    assert 0 < summary.word_count <= 9 and summary.text and summary.sentences[0].document in "ab"
    assert summary.certificate.value <= summary.certificate.bound
    source = rain[summary.sentences[0].document_index]
    for word in summary.sentences[0].words:
        assert source[word["start"] : word["end"]] == word["text"]
    assert "<p>" in summary._repr_html_() and "svg" in nlp(TEXT)._repr_svg_()
    with pytest.raises(consonant.UsageError):
        nlp.summarize(rain, wordz=3)


def _child(queue):
    queue.put(consonant.load()(TEXT).to_conllu())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(nlp, method):
    here = nlp(TEXT).to_conllu()  # the parent's threads are running
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == here
    child.join(10)
    assert child.exitcode == 0


def test_a_forked_child_uses_the_pipeline_of_its_parent(nlp):
    nlp(TEXT)
    child = os.fork()
    if child == 0:
        os._exit(0 if len(nlp(TEXT).sents) == 2 else 1)
    deadline = time.time() + 30
    while time.time() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")


def test_an_interrupt_is_heard_at_once():
    program = (
        "import consonant, os, signal, threading, time\n"
        "nlp = consonant.load()\n"
        "text = 'Ann met Bob in the old town near the river, and they talked about it. ' * 20000\n"
        "def stop():\n"
        "    time.sleep(0.5); global sent; sent = time.time(); os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=stop).start()\n"
        "try:\n"
        "    nlp(text); print('done')\n"
        "except KeyboardInterrupt:\n"
        "    print(time.time() - sent)\n"
        "os._exit(0)\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120).stdout.strip()
    assert printed != "done" and float(printed) < 0.1 + 0.4 * (os.getloadavg()[0] > 2)


def test_no_leak(nlp):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("there is no /proc here")
    tagger = consonant.load(layers=[])
    for _ in range(500):
        tagger("One two.")
    gc.collect()
    before = resident()
    for _ in range(3000):
        tagger("One two.").sents
    gc.collect()
    assert resident() - before < 8 << 20


def test_the_program_comes_with_it(tmp_path):
    run = lambda *arguments: subprocess.run(
        [sys.executable, "-m", "consonant", *arguments], capture_output=True, text=True, input="Ann lives in Kiel."
    )
    assert run("--version").stdout.strip() == f"consonant {consonant.__version__}"
    assert "NER=B-LOC" in run("annotate", "--format", "conllu").stdout
    assert run("annotate", "--nonsense").returncode == 2
    assert run("annotate", str(tmp_path / "missing.txt")).returncode == 1
