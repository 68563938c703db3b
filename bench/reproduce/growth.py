"""How the time of an epoch grows with the number of labels, on generated text: a table and a figure."""

import math

from harness.generate import tagged_text
from setting import table

LABELS = (10, 30, 100, 300, 1000, 3000)
SENTENCES = 500  # of twenty words
OURS = {"PP": "pseudo-perceptron", "PW-PP": "piecewise-pseudo-perceptron", "1-best beam": "beam-early-update"}
EPOCHS = (1, 10)  # the difference in processor time of two trainings is that of the epochs between
THEIRS = "CRFsuite, averaged perceptron"
MOST_FOR_CRFSUITE = 1000
COLOURS = {"PP": "#0072b2", "PW-PP": "#d55e00", "1-best beam": "#009e73", THEIRS: "#555555"}


def run(setting):
    seconds = {name: {} for name in (*OURS, THEIRS)}
    for labels in LABELS:
        train = tagged_text(setting.scratch / f"labels-{labels}.conllu", labels, SENTENCES, seed=11)
        for name, algorithm in OURS.items():
            few, many = (setting.train(train, "xpos", algorithm, "--epochs", epochs) for epochs in EPOCHS)
            # A training without errors ends early, so the epochs are those that were made.
            seconds[name][labels] = (many.seconds - few.seconds) / (many.epochs - few.epochs)
        if labels <= MOST_FOR_CRFSUITE:
            dev = tagged_text(setting.scratch / "labels-dev.conllu", labels, 1, seed=12)
            first, second = (epoch["seconds"] for epoch in setting.crfsuite(train, dev, "xpos", "ap", 2)["epochs"])
            seconds[THEIRS][labels] = second - first
    print("### Milliseconds of processor time for an epoch over 10,000 generated words\n")
    cell = lambda name, labels: f"{1000 * seconds[name][labels]:,.1f}" if labels in seconds[name] else "–"
    table(["labels", *seconds], [[f"{labels:,}", *(cell(name, labels) for name in seconds)] for labels in LABELS])
    setting.figure.write_text(figure(seconds), encoding="utf-8")


def figure(seconds):
    """A drawing with logarithmic scales; the dashed line is linear growth."""
    points = [(labels, time) for line in seconds.values() for labels, time in line.items()]
    low, high = math.floor(math.log10(min(time for _, time in points))), math.ceil(math.log10(max(time for _, time in points)))
    left, right, top, bottom = 70, 560, 30, 350
    across = lambda labels: left + (right - left) * (math.log10(labels) - 1) / (math.log10(3000) - 1)
    down = lambda time: bottom - (bottom - top) * (math.log10(time) - low) / (high - low)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" font-family="sans-serif" font-size="13">']
    parts.append('<title>Time of an epoch against the number of labels</title><rect width="760" height="400" fill="white"/>')
    for labels in LABELS:
        parts.append(f'<line x1="{across(labels):.1f}" y1="{top}" x2="{across(labels):.1f}" y2="{bottom}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{across(labels):.1f}" y="{bottom + 18}" text-anchor="middle">{labels:,}</text>')
    for power in range(low, high + 1):
        parts.append(f'<line x1="{left}" y1="{down(10**power):.1f}" x2="{right}" y2="{down(10**power):.1f}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{left - 8}" y="{down(10**power) + 4:.1f}" text-anchor="end">{10**power:g} s</text>')
    parts.append(f'<text x="{(left + right) / 2}" y="{bottom + 40}" text-anchor="middle">labels</text>')
    parts.append(f'<text x="{left - 8}" y="{top - 12}">an epoch over 10,000 words, one thread</text>')
    start = min(line[10] for line in seconds.values())
    room = min(300, 10**high / start)  # as far as the drawing goes
    parts.append(f'<line x1="{across(10):.1f}" y1="{down(start):.1f}" x2="{across(10 * room):.1f}" y2="{down(start * room):.1f}" stroke="#999" stroke-dasharray="5 4"/>')
    for place, (name, line) in enumerate([*seconds.items(), ("linear growth", {})]):
        colour = COLOURS.get(name, "#999")
        if line:
            path = " ".join(f"{across(labels):.1f},{down(time):.1f}" for labels, time in line.items())
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += [f'<circle cx="{across(labels):.1f}" cy="{down(time):.1f}" r="3.5" fill="{colour}"/>' for labels, time in line.items()]
        dash = "" if line else ' stroke-dasharray="5 4"'
        parts.append(f'<line x1="580" y1="{60 + 24 * place}" x2="604" y2="{60 + 24 * place}" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<text x="610" y="{64 + 24 * place}">{name.replace("CRFsuite, ", "CRFsuite ").replace("averaged perceptron", "av. perc.")}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
