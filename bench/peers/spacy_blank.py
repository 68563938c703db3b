"""spaCy's blank English pipeline with its rule-based sentencizer: `spacy_blank.py TEXT OUTPUT` writes tokens and sentences as CoNLL-U.

Prints tokens a second and the seconds until the pipeline stood. Paragraphs are separated by blank lines, and handed over one by one, as
spaCy's users do with `pipe`.
"""

import json
import sys
import time

start = time.perf_counter()
import spacy  # noqa: E402  (the import is part of what a user waits for)

pipeline = spacy.blank("en")
pipeline.max_length = 100_000_000
pipeline.add_pipe("sentencizer")
ready = time.perf_counter() - start


def conllu(sentence):
    lines, words = [], [token for token in sentence if not token.is_space]
    for number, token in enumerate(words, 1):
        space = "_" if token.whitespace_ else "SpaceAfter=No"
        lines.append(f"{number}\t{token.text}\t_\t_\t_\t_\t{number - 1}\t{'root' if number == 1 else 'dep'}\t_\t{space}")
    return "\n".join(lines) + "\n\n" if lines else ""


if __name__ == "__main__":
    text, output = sys.argv[1:3]
    with open(text, encoding="utf-8") as file:
        paragraphs = [paragraph for paragraph in file.read().split("\n\n") if paragraph.strip()]
    start = time.perf_counter()
    documents = list(pipeline.pipe(paragraphs))
    seconds = time.perf_counter() - start
    with open(output, "w", encoding="utf-8") as file:
        file.write("".join(conllu(sentence) for document in documents for sentence in document.sents))
    print(json.dumps({"tokens_per_second": sum(map(len, documents)) / seconds, "ready": ready}))
