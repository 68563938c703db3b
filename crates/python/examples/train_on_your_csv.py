# %% [markdown]
# # Train on your CSV
# A table with a row for each word is all that a tagger or a recognizer of names needs: `sentence` says which sentence a word is of.

# %%
import csv
import pathlib
import tempfile

import pandas

import consonant

folder = pathlib.Path(tempfile.mkdtemp())
people, verbs, places = ["Ann", "Bob", "Eve", "Tom"], ["left", "likes", "knows"], ["Kiel", "Bonn", "Rome", "Oslo"]
with open(folder / "names.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["sentence", "token", "label"])
    for number in range(60):
        words = [(people[number % 4], "B-PER"), (verbs[number % 3], "O"), (places[number * 7 % 4], "B-LOC"), (".", "O")]
        rows.writerows((number, word, label) for word, label in words)

# %% The table, as pandas reads it; the last sentences are kept apart.
table = pandas.read_csv(folder / "names.csv")
train, held = table[table.sentence < 48], table[table.sentence >= 48]
table.head(4)

# %% Names. `progress=True` would show a bar.
names = consonant.NER(epochs=10).fit(train)
scores = names.evaluate(held)
print(f"F1 {scores['f1']:.2f}, by type {sorted(scores['by_type'])}")
assert scores["f1"] > 0.9

# %% What it says of new words, and what it has learned.
print(names.predict([["Ann", "knows", "Oslo", "."]]))
print(names.inspect(top=3))

# %% The model is a file, which the program reads, too: `consonant predict --model names.model …`.
names.save(folder / "names.model")
assert consonant.open(folder / "names.model").predict([["Eve", "left", "Rome", "."]]) == [["B-PER", "O", "B-LOC", "O"]]

# %% A CRF with features of your own, from the same table.
def features(words):
    return [{"word": word, "capital": word[0].isupper(), "first": place == 0} for place, word in enumerate(words)]


sentences = [(list(group.token), list(group.label)) for _, group in train.groupby("sentence")]
crf = consonant.CRF(c2=0.1).fit([features(words) for words, _ in sentences], [labels for _, labels in sentences])
assert crf.predict_single(features(["Tom", "likes", "Bonn", "."])) == ["B-PER", "O", "B-LOC", "O"]
