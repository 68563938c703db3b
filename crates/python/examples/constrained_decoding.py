# %% [markdown]
# # Constraints on any tagger's logits
# A network scores each word alone. Here its scores become labels that are legal, that agree, that fit in a tree; each answer says how good it is.

# %%
import numpy

import consonant
from consonant import decode

labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
logits = numpy.random.default_rng(1).normal(size=(32, 20, len(labels))).astype(numpy.float32)

# %% Legal BIO: word by word, many sequences are illegal; decoded, none is, and none that is legal is worth more.
words_alone = logits.argmax(2)
found = decode.batch(logits, labels)


def is_legal(path):
    before = "O"
    for label in (labels[number] for number in path):
        if label.startswith("I-") and before[2:] != label[2:]:
            return False
        before = label
    return True


print(sum(map(is_legal, words_alone)), "of 32 are legal word by word,", sum(map(is_legal, found.paths)), "when decoded")
assert all(map(is_legal, found.paths))
assert all(value <= row.max(1).sum() + 1e-3 for value, row in zip(found.values, logits))

# %% Probabilities under the same constraints, of which the entropy says where to look.
probabilities, _ = decode.marginals(logits[0], labels)
entropy = -(probabilities * numpy.log(probabilities + 1e-12)).sum(1)
print("least sure of word", int(entropy.argmax()))

# %% Agreement across a document: one word in three sentences, of which the second is unsure. It pays 2 for each pair that differs.
kinds = ["PER", "LOC"]
scores = numpy.array([[2.0, 0.0], [0.0, 0.3], [1.5, 0.0]])
problem = consonant.Problem()
mentions = [problem.variable(f"Paris {number}", kinds, scores=row) for number, row in enumerate(scores)]
for first in range(3):
    for second in range(first):
        problem.table([mentions[first], mentions[second]], [[2.0, 0.0], [0.0, 2.0]])
solution = problem.solve()
print([solution[mention] for mention in mentions], solution.status)
assert [solution[mention] for mention in mentions] == ["PER"] * 3 and solution.certificate.verify()

# %% One tree, with a constraint that no tree decoder knows: word 3 has at most one dependent.
arcs_scores = numpy.random.default_rng(3).normal(size=(6, 6))
problem = consonant.Problem()
arcs = {
    (head, word): problem.binary(f"{head}→{word}", arcs_scores[head, word])
    for head in range(6)
    for word in range(1, 6)
    if head != word
}
problem.tree(arcs, single_root=True)
problem.at_most_one(*(arc for (head, _), arc in arcs.items() if head == 3))
solution = problem.solve()
heads = [next(head for head in range(6) if head != word and solution[arcs[head, word]]) for word in range(1, 6)]
free = decode.tree(arcs_scores)
print("heads", heads, "worth", round(solution.value, 3), "of", round(free.certificate.value, 3), "without the constraint")
assert solution.status == "optimal" and heads.count(3) <= 1 and solution.value <= free.certificate.value + 1e-6
