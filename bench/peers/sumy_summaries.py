"""sumy's summaries of topics: `sumy_summaries.py TOPICS.jsonl LexRank|LSA|KL WORDS` prints them as JSON, with the seconds of the summarizer alone.

Sentences are split by a plain rule, because sumy's own splitter downloads its data.
"""

import json
import re
import sys
import time

from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.nlp.stemmers import Stemmer
from sumy.summarizers.kl import KLSummarizer
from sumy.summarizers.lex_rank import LexRankSummarizer
from sumy.summarizers.lsa import LsaSummarizer

KINDS = {"LexRank": LexRankSummarizer, "LSA": LsaSummarizer, "KL": KLSummarizer}


class Tokenizer:
    """Sentences end at a line's end or after a full stop and the like; words are runs of letters, digits and apostrophes."""

    def to_sentences(self, text):
        return [part for line in text.splitlines() for part in re.split(r"(?<=[.!?])[\"”']?\s+(?=[A-Z\"“])", line.strip()) if part]

    def to_words(self, text):
        return tuple(re.findall(r"[\w']+", text))


def summarize(kind, documents, words):
    tokenizer = Tokenizer()
    paragraphs = [Paragraph([Sentence(text, tokenizer) for text in tokenizer.to_sentences(document["text"])]) for document in documents]
    model = ObjectDocumentModel(paragraphs)
    start = time.perf_counter()
    # As many sentences as are sure to be enough; they are cut at the length below, the way ROUGE does it.
    chosen = KINDS[kind](Stemmer("english"))(model, 25)
    return " ".join(" ".join(map(str, chosen)).split()[:words]), time.perf_counter() - start


if __name__ == "__main__":
    file, kind, words = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(file, encoding="utf-8") as lines:
        topics = [json.loads(line) for line in lines]
    found = {topic["id"]: summarize(kind, topic["documents"], words) for topic in topics}
    print(json.dumps({"summaries": {name: text for name, (text, _) in found.items()}, "seconds": sum(seconds for _, seconds in found.values())}))
