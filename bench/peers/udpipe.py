"""UDPipe 1 as a worker: `udpipe.py TRAIN DEV` reads CoNLL-U once, then answers one JSON request a line.

Requests: {"do": "train", "iterations": N} and {"do": "parse", "output": FILE}, which parses DEV from its gold tags with the trained parser and writes
it. The clock of parsing runs around the parser alone: sentences have been read before and are written afterwards.
"""

import json
import os
import sys
import time

from ufal import udpipe

def read(path):
    reader, sentences, error = udpipe.InputFormat.newConlluInputFormat(), [], udpipe.ProcessingError()
    with open(path, encoding="utf-8") as file:
        reader.setText(file.read())
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        sys.exit(f"{path}: {error.message}")
    return sentences


class Worker:
    def __init__(self, train, dev):
        self.training, self.dev = udpipe.Sentences(read(train)), dev
        self.model = None

    def train(self, iterations):
        error, none = udpipe.ProcessingError(), udpipe.Trainer.NONE
        start = time.perf_counter()
        # Its own defaults otherwise: searching for better ones is not the business of a bench.
        trained = udpipe.Trainer.train("morphodita_parsito", self.training, udpipe.Sentences(), none, none, f"iterations={iterations}", error)
        seconds = time.perf_counter() - start
        if error.occurred():
            sys.exit(error.message)
        path = f"{self.dev}.udpipe"
        with open(path, "wb") as file:
            file.write(trained)
        self.model = udpipe.Model.load(path)
        return {"seconds": seconds, "bytes": os.path.getsize(path)}

    def parse(self, output):
        sentences, error = read(self.dev), udpipe.ProcessingError()
        for sentence in sentences:
            sentence.unlinkAllNodes()
        start = time.perf_counter()
        for sentence in sentences:
            if not self.model.parse(sentence, udpipe.Model.DEFAULT, error):
                sys.exit(error.message)
        seconds = time.perf_counter() - start
        writer = udpipe.OutputFormat.newConlluOutputFormat()
        with open(output, "w", encoding="utf-8") as file:
            file.write("".join(writer.writeSentence(sentence) for sentence in sentences))
        return {"seconds": seconds, "tokens": sum(len(sentence.words) - 1 for sentence in sentences)}


if __name__ == "__main__":
    # UDPipe reports its training on standard output, where the answers go: they get a stream of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(*sys.argv[1:3])
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(worker, {"train": "train", "parse": "parse"}[request.pop("do")])(**request)
        print(json.dumps(answer), file=answers, flush=True)
