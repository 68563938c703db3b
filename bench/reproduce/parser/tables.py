#!/usr/bin/env python3
"""Parsers of first, second and third order on eight treebanks, and time by sentence length.

    bench/reproduce/parser/tables.py --data UD_FOLDER --program target/release/consonant --out FOLDER

UD_FOLDER has a folder for each treebank with train.conllu and dev.conllu. Trains on --sentences sentences of each, spread evenly
over the file (0: all; those with several roots are left out), and measures on --dev sentences of its dev file. Results are kept in FOLDER/results.json as they come, and what
is there is not measured again. Writes FOLDER/tables.md and FOLDER/length.svg.

Speed is tokens by processor time of one thread, features and pruning included, so that other work on the machine
matters less.
"""

import argparse
import json
import pathlib
import resource
import subprocess

TREEBANKS = [
    "Danish-CDT",
    "Dutch-LassySmall",
    "Slovak-SNK",
    "English-EWT",
    "Turkish-IMST",
    "Portuguese-Bosque",
    "Chinese-GSD",
    "Estonian-EDT",
]
ORDERS = [1, 2, 3]
BUCKET = 5


def spread(source, target, count):
    """Writes `count` sentences of a treebank, evenly spread over it; all for 0."""
    sentences = source.read_text(encoding="utf-8").strip("\n").split("\n\n")
    if 0 < count < len(sentences):
        sentences = [sentences[i * len(sentences) // count] for i in range(count)]
    target.write_text("".join(sentence + "\n\n" for sentence in sentences), encoding="utf-8")
    return len(sentences)


def run(*command):
    """Runs a command and returns its output and the seconds of processor time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def predict(program, model, dev, folder, *more):
    """Parses dev; returns the report and the processor time."""
    report = folder / "report.json"
    _, seconds = run(
        program, "predict", "--threads", 1, "--model", model, dev,
        "--output", folder / "parsed.conllu", "--report", report, "--quiet", *more,
    )
    return json.loads(report.read_text()), seconds


def measure(program, folder, order, epochs):
    """Trains and measures one parser."""
    train, dev, model = folder / "train.conllu", folder / "dev.conllu", folder / f"order{order}.model"
    _, training = run(
        program, "train", "parser", "--threads", 1, "--train", train, "--order", order,
        "--epochs", epochs, "--model", model, "--quiet", "--skip-broken",
    )
    report, seconds = predict(program, model, dev, folder)
    output, _ = run(program, "evaluate", "trees", dev, folder / "parsed.conllu", "--format", "json")
    scores, total = json.loads(output), report["total"]
    percent = lambda name: 100 * scores[name]["f1"] if scores[name]["f1"] <= 1 else scores[name]["f1"]
    return {
        "uas": percent("UAS"),
        "las": percent("LAS"),
        "certified": 100 * total["optimal"] / total["units"],
        "tokens_per_second": total["tokens"] / seconds,
        "training_seconds": training,
    }


def by_length(program, folder):
    """Mean milliseconds of a sentence by its length, for the decoders that let parts agree."""
    curves = {}
    for decoder in ["ad3", "subgradient"]:
        report, _ = predict(program, folder / "order3.model", folder / "dev.conllu", folder, "--decoder", decoder)
        buckets = {}
        for unit in report["units"]:
            buckets.setdefault(unit["tokens"] // BUCKET * BUCKET + BUCKET / 2, []).append(1000 * unit["seconds"])
        # The median of a bucket: other work on the machine makes single sentences slow.
        curves[decoder] = sorted((length, sorted(times)[len(times) // 2]) for length, times in buckets.items() if len(times) > 2)
        curves[decoder + " certified"] = 100 * report["total"]["optimal"] / report["total"]["units"]
    return curves


def tables(results):
    """The results as a Markdown table."""
    lines = [
        "| treebank | sentences trained on | order | UAS | LAS | certified | tokens/s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for treebank in TREEBANKS:
        for order in ORDERS:
            row = results.get(treebank, {}).get(str(order))
            if row:
                name, count = (treebank, f"{results[treebank]['sentences']:,}") if order == 1 else ("", "")
                lines.append(
                    f"| {name} | {count} | {order} | {row['uas']:.2f} | {row['las']:.2f} | "
                    f"{row['certified']:.1f}% | {row['tokens_per_second']:,.0f} |"
                )
    return "\n".join(lines) + "\n"


def chart(curves):
    """Milliseconds by sentence length as SVG."""
    series = [("AD3", "#1f5fa8", curves["ad3"]), ("subgradient", "#c8501e", curves["subgradient"])]
    most_x = max(x for _, _, points in series for x, _ in points)
    most_y = max(y for _, _, points in series for _, y in points)
    place = lambda x, y: (70 + 620 * x / most_x, 360 - 310 * y / most_y)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 420" font-family="sans-serif" font-size="13">',
        '<rect width="720" height="420" fill="white"/>',
        '<text x="360" y="24" text-anchor="middle" font-size="15">Time of a sentence by its length, third order</text>',
        '<text x="380" y="405" text-anchor="middle">words</text>',
        '<text x="18" y="205" text-anchor="middle" transform="rotate(-90 18 205)">milliseconds (median)</text>',
        '<path d="M70 50V360H690" fill="none" stroke="#444"/>',
    ]
    for i in range(6):
        x, y = place(most_x * i / 5, most_y * i / 5)
        parts.append(f'<text x="{x:.0f}" y="380" text-anchor="middle">{most_x * i / 5:.0f}</text>')
        parts.append(f'<text x="64" y="{y + 4:.0f}" text-anchor="end">{most_y * i / 5:.3g}</text>')
    for i, (name, colour, points) in enumerate(series):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="100" y="{70 + 20 * i}" fill="{colour}">{name}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--sentences", type=int, default=0)
    parser.add_argument("--dev", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}

    def keep():
        kept.write_text(json.dumps(results, indent=1))
        (options.out / "tables.md").write_text(tables(results))

    for treebank in TREEBANKS:
        folder, own = options.out / treebank, results.setdefault(treebank, {})
        folder.mkdir(exist_ok=True)
        source = options.data / treebank
        own["sentences"] = spread(source / "train.conllu", folder / "train.conllu", options.sentences)
        spread(source / "dev.conllu", folder / "dev.conllu", options.dev)
        for order in ORDERS:
            if str(order) not in own:
                own[str(order)] = measure(options.program.resolve(), folder, order, options.epochs)
                keep()
    if "length" not in results:
        results["length"] = by_length(options.program.resolve(), options.out / "English-EWT")
        keep()
    (options.out / "length.svg").write_text(chart(results["length"]))


if __name__ == "__main__":
    main()
