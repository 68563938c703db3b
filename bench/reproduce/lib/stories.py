"""Stories: sets of articles about one event, gathered from Wikinews by the words and links that they share."""

import collections
import gzip
import json
import math
import re
from random import Random

FEWEST, MOST = 8, 12  # articles of a story
LIKE = 0.15  # the cosine that an article has with the one a story is gathered around, at least
NEAR = 1200  # articles apart in the order of their numbers, which is about that of time, at most
TERMS = 60  # the weightiest words and links of an article
COMMON = 400  # articles with a term, from which on it tells nothing
SHORTEST, LONGEST = 100, 700  # words of an article to be taken, and words that are read of it
# Series that have one frame and many events.
SERIES = re.compile("[Ii]nterview|candidates speak|[Rr]oundup|Shorts|NFL|[Ff]ootball")
WORD = re.compile(r"[A-Za-z][a-z']+|[A-Z]{2,}|\d+")


def gather(file):
    """Stories as topics, the most coherent first. Their summaries are what is known of them: the titles, and an article that is kept apart."""
    articles = read(file)
    near = neighbours(weigh(articles))
    dense = lambda number: near[number][FEWEST][0] if len(near[number]) > FEWEST else 0.0
    used, topics, chance = set(), [], Random(1)
    for seed in sorted(range(len(articles)), key=lambda number: (-dense(number), number)):
        others = [other for like, other in near[seed] if other not in used and like > LIKE][: MOST - 1]
        if seed in used or len(others) + 1 < FEWEST:
            continue
        story = sorted([seed, *others])
        used.update(story)
        if not SERIES.search(articles[seed]["title"]):
            topics.append(topic([articles[number] for number in story], chance))
    return topics


def read(file):
    articles = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            article = json.loads(line)
            article["text"] = article["text"].replace("♡", "").replace("❤", "")
            # Some are lists of sources alone.
            if len(article["text"].split()) >= SHORTEST and not article["text"].startswith("- "):
                articles.append(article)
    return sorted(articles, key=lambda article: int(article["id"]))


def weigh(articles):
    """Each article as a vector of unit length: counts of words, those of its title thrice, and links, by how rare they are."""
    counts = []
    for article in articles:
        terms = collections.Counter(word.lower() for word in WORD.findall(article["text"]))
        for word in WORD.findall(article["title"]):
            terms[word.lower()] += 3
        terms.update(sorted({f"→{target}" for _, _, target in article["links"]}))
        counts.append(terms)
    having = collections.Counter(term for terms in counts for term in terms)
    vectors = []
    for terms in counts:
        weights = [(-(1 + math.log(count)) * math.log(len(articles) / having[term]), term) for term, count in terms.items() if 1 < having[term] <= COMMON]
        weights = sorted(weights)[:TERMS]
        length = math.sqrt(math.fsum(weight * weight for weight, _ in weights)) or 1.0
        vectors.append({term: -weight / length for weight, term in weights})
    return vectors


def neighbours(vectors):
    """For each article, those most like it: cosine and number."""
    having = collections.defaultdict(list)
    for number, vector in enumerate(vectors):
        for term, weight in vector.items():
            having[term].append((number, weight))
    near = []
    for number, vector in enumerate(vectors):
        likeness = collections.defaultdict(float)
        for term, weight in vector.items():
            for other, other_weight in having[term]:
                if 0 < abs(other - number) < NEAR:
                    likeness[other] += weight * other_weight
        found = sorted(((like, other) for other, like in likeness.items()), key=lambda pair: (-pair[0], pair[1]))
        near.append(found[: MOST + 2])
    return near


def topic(articles, chance):
    apart = articles.pop(chance.randrange(len(articles)))
    titles = "\n".join(f"{article['title']}." for article in articles)
    documents = [{"id": article["id"], "text": beginning(article["text"])} for article in articles]
    return {"id": articles[0]["id"], "documents": documents, "summaries": [titles, apart["text"]]}


def beginning(text):
    """The first lines of a text, as far as they are read."""
    lines, words = [], 0
    for line in text.split("\n"):
        lines.append(line)
        words += len(line.split())
        if words >= LONGEST:
            break
    return "\n".join(lines)
