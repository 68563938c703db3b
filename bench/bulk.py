#!/usr/bin/env python3
"""What annotating tables costs: words for each second of a processor, memory, start, and how Spark and Ray compare with the program.

Wants an environment with pyspark, ray[data], pyarrow and the package (`crates/python/extra bulk` makes one), and texts as JSON lines with `text`:

    target/python-bulk/bin/python bench/bulk.py --binary target/release/consonant --texts texts.jsonl.gz --work start,size,skew,engines

Times are processor seconds of all processes, so that other work on the machine disturbs little; each is told with its smallest and largest round.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
# Workers are this Python, and everybody stays on the loopback address.
ENGINES = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def tree(root, known):
    """Adds the processor seconds and the memory (MB) of a process and all below it to what is known of each."""
    parents, times = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            memory = int(Path(f"/proc/{name}/statm").read_text().split()[1]) * 4096 / 1e6
        except OSError:
            continue
        parents[int(name)] = int(stat[1])
        times[int(name)] = ((int(stat[11]) + int(stat[12])) / TICKS, memory)
    family, grown = {root, *known}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        family, grown = family | more, bool(more)
    for pid in family & times.keys():
        seconds, memory = times[pid]
        known[pid] = (max(seconds, known.get(pid, (0, 0))[0]), max(memory, known.get(pid, (0, 0))[1]))


def measured(command, **options):
    """Runs a command; its processor seconds with those of all below it, the largest memory (MB) of one process, and the seconds by the clock."""
    known, start, errors = {}, time.perf_counter(), tempfile.TemporaryFile()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True, **options)
    while process.poll() is None:
        tree(process.pid, known)
        time.sleep(0.02)
    wall = time.perf_counter() - start
    if process.returncode:
        errors.seek(0)
        sys.exit(f"{command}: {errors.read().decode(errors='replace')[-2000:]}")
    return sum(seconds for seconds, _ in known.values()), max((memory for _, memory in known.values()), default=0), wall


def rounds(count, work):
    return [work() for _ in range(count)]


def told(numbers, digits=1):
    numbers = sorted(numbers)
    return f"{numbers[len(numbers) // 2]:.{digits}f} ({numbers[0]:.{digits}f}–{numbers[-1]:.{digits}f})"


START = "import consonant; nlp = consonant.load(layers={layers}); nlp('Ann left.')"
SPARK = """
import sys
from pyspark.sql import SparkSession
import consonant.spark
builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false").config("spark.sql.execution.arrow.maxRecordsPerBatch", "256")
spark = builder.config("spark.sql.files.maxPartitionBytes", "4m").getOrCreate()
consonant.spark.annotate(spark.read.parquet(sys.argv[1]), layers=sys.argv[3].split(",")).write.parquet(sys.argv[2])
spark.stop()
"""
RAY = """
import sys
import ray
import consonant.ray
ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
ds = ray.data.read_parquet(sys.argv[1], override_num_blocks=16)
consonant.ray.annotate(ds, layers=sys.argv[3].split(","), concurrency=2).write_parquet(sys.argv[2])
ray.shutdown()
"""


class Bench:
    def __init__(self, arguments, scratch):
        self.binary, self.rounds, self.megabytes, self.scratch = arguments.binary, arguments.rounds, arguments.megabytes, scratch
        self.layers = arguments.layers.split(";")
        opened = gzip.open if arguments.texts.endswith(".gz") else open
        with opened(arguments.texts, "rt", encoding="utf-8") as file:
            self.texts = [text for line in file if (text := json.loads(line)["text"])]

    def table(self, name, megabytes, folder=False):
        """A table of so many MB of text; the texts come again if they are too few. As a folder, sixteen files."""
        import pyarrow
        import pyarrow.parquet

        rows, size = [], 0
        while size < megabytes * 1e6:
            text = self.texts[len(rows) % len(self.texts)]
            rows.append({"id": len(rows), "text": text})
            size += len(text.encode())
        words = sum(len(row["text"].split()) for row in rows)
        path = self.scratch / name
        if not folder:
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
            return path, size / 1e6, words
        path.mkdir()
        for part in range(16):
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows[part::16]), path / f"{part:02}.parquet")
        return path, size / 1e6, words

    def annotate(self, table, layers, *more):
        out = self.scratch / "out.parquet"
        return measured([self.binary, "annotate", table, "--text-column", "text", "--layers", layers, "--threads", 1, "--quiet", "--output", out, *more])

    def start(self):
        print("| start of a worker in Python, import to first answer | processor s | memory MB |\n|---|--:|--:|")
        for layers in (["tags"], ["tags", "lemmas", "entities", "tree"]):
            runs = rounds(self.rounds, lambda layers=layers: measured([sys.executable, "-c", START.format(layers=layers)]))
            print(f"| {','.join(layers)} | {told([run[0] for run in runs], 2)} | {max(run[1] for run in runs):.0f} |")

    def size(self):
        print("\n| `annotate` of a table, one thread | text MB | words | processor s | words a second | peak memory MB |\n|---|--:|--:|--:|--:|--:|")
        for layers, sizes in (("tags", (10, 100)), ("tags,entities", (10,)), ("tags,lemmas,entities,tree", (2,))):
            for megabytes in sizes:
                table, size, words = self.table(f"{megabytes}.parquet", megabytes)
                runs = rounds(self.rounds if megabytes < 50 else 1, lambda: self.annotate(table, layers))
                seconds, memory = sorted(run[0] for run in runs)[len(runs) // 2], max(run[1] for run in runs)
                print(f"| {layers} | {size:.0f} | {words:,} | {told([run[0] for run in runs])} | {words / seconds:,.0f} | {memory:.0f} |")

    def skew(self):
        import pyarrow
        import pyarrow.parquet

        print("\n| 2 MB of text as | processor s | peak memory MB |\n|---|--:|--:|")
        short, _, _ = self.table("short.parquet", 2)
        texts = pyarrow.parquet.read_table(short).column("text").to_pylist()
        long = self.scratch / "long.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"id": [0], "text": ["\n\n".join(texts)]}), long)
        for name, table in ((f"{len(texts)} rows", short), ("one row", long)):
            runs = rounds(self.rounds, lambda: self.annotate(table, "tags,lemmas,entities,tree"))
            print(f"| {name} | {told([run[0] for run in runs])} | {max(run[1] for run in runs):.0f} |")

    def engines(self):
        print("\n| engine | layers | text MB | processor s, start and end taken off | of the program's throughput |\n|---|---|--:|--:|--:|")
        one, least, _ = self.table("one", 0.1, folder=True)  # a few rows for each file
        for layers in self.layers:
            megabytes = self.megabytes / (12.5 if "tree" in layers else 1)
            table, size, _ = self.table(f"{megabytes}-parts", megabytes, folder=True)
            whole, _, _ = self.table(f"{megabytes}-whole.parquet", megabytes)
            program = min(run[0] for run in rounds(2, lambda: self.annotate(whole, layers)))
            print(f"| `consonant annotate` | {layers} | {size:.0f} | {program:.1f} | |")
            for name, script in (("Spark, two executors", SPARK), ("Ray, two actors", RAY)):
                seconds = []
                for number, given in enumerate((one, table)):
                    out = self.scratch / f"{name[:3]}-{megabytes}-{number}"
                    seconds.append(measured([sys.executable, "-c", script, given, out, layers], env=ENGINES)[0])
                work = seconds[1] - seconds[0]
                share = 100 * program * (size - least) / size / work
                print(f"| {name} | {layers} | {size:.0f} | {work:.1f} (and {seconds[0]:.1f}) | {share:.0f}% |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--texts", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=50, help="text for the engines")
    parser.add_argument("--layers", default="tags;tags,entities;tags,lemmas,entities,tree", help="for the engines; with trees on less text")
    parser.add_argument("--work", default="start,size,skew,engines")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="consonant-bench-") as folder:
        bench = Bench(given, Path(folder))
        for name in given.work.split(","):
            getattr(bench, name)()
            sys.stdout.flush()
