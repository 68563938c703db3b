"""A cluster of Ray with two nodes on the loopback address, of which one is lost at work; run by test_bulk.py in a process that can be ended.

    python ray_nodes.py annotate|fit
"""

import os
import sys
import tempfile
import threading
import time

os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
# Says to processes that are started later whether one has died on purpose.
os.environ.setdefault("CONSONANT_DIED", os.path.join(tempfile.mkdtemp(), "died"))

import pyarrow
import ray
import ray.data
from conftest import tree_bank
from ray.cluster_utils import Cluster

import consonant.ray

TEXTS = [f"Ann Smith met {n} people in Kiel. They can't row, said Dr. Lee of Google, who has {n} boats. " * 4 for n in range(1200)]


def annotate(cluster, node):
    """Rows annotated by actors on both nodes, of which one goes when a tenth is done."""
    rows = pyarrow.table({"id": list(range(len(TEXTS))), "text": TEXTS})
    wanted = pyarrow.table(consonant.load().annotate_batch(rows, text="text")).to_pylist()
    seen = []

    def lose():
        deadline = time.time() + 60
        while time.time() < deadline:
            at_work = [actor for actor in ray._private.state.actors().values() if actor["State"] == "ALIVE" and actor["Address"]["NodeID"] == node.node_id]
            if at_work and found:
                seen.append(len(found))
                cluster.remove_node(node, allow_graceful=False)
                return
            time.sleep(0.01)

    found = []
    loser = threading.Thread(target=lose)
    loser.start()
    dataset = ray.data.from_arrow(rows).repartition(24)
    options = {"concurrency": (1, 2), "batch_size": 16, "num_cpus": 0.5}
    for row in consonant.ray.annotate(dataset, text="text", **options).iter_rows():
        found.append(row)
    loser.join()
    found = pyarrow.Table.from_pylist(sorted(found, key=lambda row: row["id"]), schema=pyarrow.Table.from_pylist(wanted[:100]).schema).to_pylist()
    assert found == wanted
    # Where actors go, and when, is Ray's choice: on a machine with nothing else to do the first one may do all of the work.
    return f"lost after {seen[0]} of {len(TEXTS)} rows" if seen and seen[0] < len(TEXTS) else "the node had no work to be lost at"


class Fragile(consonant.ray.Learner):
    """A learner that dies once in the middle of a share."""

    def work(self, stage, share, shares, state, *finished):
        mark = os.environ["CONSONANT_DIED"]
        if share == 1 and not os.path.exists(mark):
            open(mark, "w").close()
            threading.Timer(0.001, os._exit, [1]).start()
            time.sleep(0.1)
        return super().work(stage, share, shares, state, *finished)


def fit(cluster, node):
    """Models trained by workers on both nodes; one dies, then a node goes, and they are those of one process."""
    data = tree_bank(90)
    carry, calls = consonant.ray._Team.carry, []

    def losing(team, *trip):
        calls.append(trip[0])
        if len(calls) == 2:
            cluster.remove_node(node, allow_graceful=False)
        return carry(team, *trip)

    parser = {"order": 2, "epochs": 3, "bits": 14, "label_bits": 12, "pruner_bits": 12}
    estimators = [
        lambda: consonant.Tagger(column="xpos", epochs=4),
        lambda: consonant.Tagger(algorithm="likelihood", epochs=5),
        lambda: consonant.NER(epochs=3),
        lambda: consonant.Parser(**parser),
    ]
    for make in estimators:
        calm = consonant.ray.fit(make(), data, shards=3, workers=1)
        consonant.ray._Team.carry, consonant.ray.Learner = losing, Fragile
        lost = consonant.ray.fit(make(), data, shards=3, workers=2)
        consonant.ray._Team.carry, consonant.ray.Learner = carry, Fragile.__base__
        os.remove(os.environ["CONSONANT_DIED"])
        here = make().set_params(shards=3).fit(data)
        models = [one._trained().to_bytes() for one in (here, calm, lost)]
        assert models[0] == models[1] == models[2], here
        assert len(calls) > 2
    return f"{len(calls)} rounds"


if __name__ == "__main__":
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    print({"annotate": annotate, "fit": fit}[sys.argv[1]](cluster, node))
    ray.shutdown()
    cluster.shutdown()
