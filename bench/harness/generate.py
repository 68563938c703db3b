"""Problems and text made from a seed: the same bytes everywhere, since only `Random.random` is used, which Python keeps stable."""

import math
from random import Random


class Source:
    """Random numbers of the kinds that the generators want."""

    def __init__(self, seed):
        self.random = Random(seed).random

    def normal(self):
        return math.sqrt(-2 * math.log(1 - self.random())) * math.cos(2 * math.pi * self.random())

    def below(self, limit):
        return int(self.random() * limit)

    def distinct(self, count, limit):
        """`count` different numbers below `limit`, in the order drawn."""
        chosen = []
        while len(chosen) < count:
            number = self.below(limit)
            if number not in chosen:
                chosen.append(number)
        return chosen


def grid(path, rows, columns, states, seed, potts=None):
    """A grid with N(0,1) scores for states, as log-UAI: dense N(0,1) tables, or `potts` for equal neighbours."""
    source = Source(seed)
    cell = lambda row, column: row * columns + column
    right = [(cell(row, column), cell(row, column + 1)) for row in range(rows) for column in range(columns - 1)]
    down = [(cell(row, column), cell(row + 1, column)) for row in range(rows - 1) for column in range(columns)]
    edges, count = right + down, rows * columns
    lines = ["MARKOV", str(count), " ".join([str(states)] * count), str(count + len(edges))]
    lines += [f"1 {variable}" for variable in range(count)] + [f"2 {first} {second}" for first, second in edges]
    write = lambda scores: lines.extend([str(len(scores)), " ".join(f"{score:.6f}" for score in scores)])
    for _ in range(count):
        write([source.normal() for _ in range(states)])
    for _ in edges:
        if potts is None:
            write([source.normal() for _ in range(states * states)])
        else:
            write([potts * (first == second) for first in range(states) for second in range(states)])
    path.write_text("\n".join(lines) + "\n")
    return path


def logic(path, links, seed):
    """A logic graph as AD3's .fg: groups of five with exactly one true, and clauses, exclusions and implications between the groups.

    A planted assignment satisfies every factor, so the graph is never contradictory.
    """
    source = Source(seed)
    groups = links // 20
    variables = 5 * groups
    planted = [False] * variables
    for group in range(groups):
        planted[5 * group + source.below(5)] = True
    factors = [f"XOR 5 {' '.join(str(5 * group + member + 1) for member in range(5))}" for group in range(groups)]
    left = links - 5 * groups
    while left > 0:
        kind = source.below(3)
        degree = 2 if kind == 2 else 3
        chosen = source.distinct(degree, variables)
        if kind == 0:  # at least one: turn the first literal so that it holds
            literals = [variable + 1 if source.random() < 0.5 else -variable - 1 for variable in chosen]
            literals[0] = chosen[0] + 1 if planted[chosen[0]] else -chosen[0] - 1
            factors.append(f"OR 3 {' '.join(map(str, literals))}")
        elif kind == 1:  # at most one, where the planted assignment allows it
            if sum(planted[variable] for variable in chosen) > 1:
                continue
            factors.append(f"ATMOSTONE 3 {' '.join(str(variable + 1) for variable in chosen)}")
        else:
            if planted[chosen[0]] and not planted[chosen[1]]:
                chosen.reverse()
            factors.append(f"IMPLY 2 {chosen[0] + 1} {chosen[1] + 1}")
        left -= degree
    scores = [f"{source.normal():.6f}" for _ in range(variables)]
    path.write_text("\n".join([str(variables), str(len(factors)), *scores, *factors]) + "\n")
    return path


def tagged_text(path, labels, sentences, seed, length=20):
    """CoNLL-U whose XPOS has `labels` labels: each label is followed by a few others, and shares its words with its neighbours."""
    source = Source(seed)
    lines = []
    for _ in range(sentences):
        label = source.below(labels)
        for place in range(1, length + 1):
            label = (label * 7 + 1 + source.below(4)) % labels if source.random() < 0.8 else source.below(labels)
            # One word in three could as well belong to the next label; endings tell about a label, not all.
            stem = (label + (source.random() < 0.33)) % labels
            word = f"{letters(stem)}{letters(source.below(4))}{letters(stem % 97)}"
            lines.append(f"{place}\t{word}\t_\tX\tT{label}\t_\t_\t_\t_\t_")
        lines.append("")
    path.write_text("\n".join(lines) + "\n")
    return path


def letters(number):
    """A number as a syllable or several."""
    text = ""
    while True:
        number, rest = divmod(number, 100)
        text += "bcdfghklmnprstvwxzjq"[rest // 5] + "aeiou"[rest % 5]
        if number == 0:
            return text
