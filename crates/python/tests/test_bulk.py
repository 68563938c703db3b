"""Spark on two executors, one of them lost at work, and Ray on a cluster of two nodes, likewise; `crates/python/extra bulk` runs these in an environment that has both."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import consonant
from consonant import bulk

pyarrow = pytest.importorskip("pyarrow")

TEXTS = [f"Ann Smith met {n} people in Kiel. They can't row, said Dr. Lee of Google." for n in range(200)] + [None, "", "Zoë 😀."]


def plain(value):
    """Lists and dictionaries, whatever an engine makes of them."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if hasattr(value, "__len__") and not isinstance(value, str):
        return [plain(one) for one in value]
    return value


def rows():
    return pyarrow.record_batch({"id": list(range(len(TEXTS))), "text": TEXTS})


@pytest.fixture(scope="module")
def wanted(nlp):
    return pyarrow.table(pyarrow.record_batch(nlp.annotate_batch(rows(), text="text"))).to_pylist()


def test_rows_that_cannot_be_annotated(nlp):
    broken = pyarrow.record_batch({"body": pyarrow.array([b"Ann left.", None, b"a\xff"], pyarrow.binary())})
    out = bulk.annotate(nlp, broken, "body", "column")
    assert [error and error[:24] for error in out.column("error").to_pylist()] == [None, None, "row 2 of the batch: the "]
    assert out.column("sentences").is_null().to_pylist() == [False, True, True] and b"consonant" in out.schema.metadata
    with pytest.raises(consonant.Error, match="row 2"):
        bulk.annotate(nlp, broken, "body", "fail")
    with pytest.raises(consonant.UsageError, match="the columns are body"):
        bulk.annotate(nlp, broken, "text", "fail")
    with pytest.raises(consonant.UsageError, match="on_error"):
        bulk.check("ignore")
    with pytest.raises(consonant.UsageError, match="max_bytes"):
        bulk.check("fail", 0)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.binary()])
def test_rows_that_are_too_long_are_named(nlp, kind):
    long = pyarrow.record_batch({"text": pyarrow.array(["Ann left.", "Ann left. " * 9, None], kind)})
    out = bulk.annotate(nlp, long, "text", "column", 50)
    assert [error and error[:42] for error in out.column("error").to_pylist()] == [None, "row 1 of the batch: the text has 90 bytes ", None]
    assert out.column("sentences").is_null().to_pylist() == [False, True, True] and out.column("text").equals(long.column("text"))
    with pytest.raises(consonant.DataError, match="row 1 of the batch: .* at most 50 are taken"):
        bulk.annotate(nlp, long, "text", "fail", 50)
    whole = bulk.annotate(nlp, long, "text", "column")
    assert whole.column("error").null_count == 3 and whole.column("sentences").null_count == 1


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("there is no Java here")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.sql.execution.arrow.maxRecordsPerBatch": "16"}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def frame(spark, partitions=8):
    return spark.createDataFrame(list(enumerate(TEXTS)), "id long, text string").repartition(partitions)


def collected(df):
    return plain(df.orderBy("id").toArrow().to_pylist())


def test_spark_gives_the_rows_of_one_process(spark, wanted):
    import consonant.spark

    df = consonant.spark.annotate(frame(spark), text="text")
    assert collected(df) == wanted
    assert df.schema["sentences"].metadata == {"consonant": consonant.__version__}
    tokens = consonant.spark.tokens(df)
    assert tokens.count() == sum(len(one["tokens"]) for row in wanted for one in row["sentences"] or [])
    names = consonant.spark.entities(df, keep=["id"]).where("label = 'LOC' and id = 0").collect()
    assert [name.text for name in names] == ["Kiel"]
    roots = consonant.spark.arcs(df).where("head is null").count()
    assert roots == sum(word["head"] == 0 for row in wanted for one in row["sentences"] or [] for word in one["tokens"])


def executors():
    """The processes of executors below this one."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/environ", "rb") as file:
                ours = f"PYSPARK_PYTHON={os.environ['PYSPARK_PYTHON']}".encode() in file.read()
        except OSError:
            continue
        if ours and b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words:
            found.append(int(pid))
    return found


def test_spark_loses_an_executor_and_no_row(spark, wanted):
    import consonant.spark

    before, seen = executors(), []
    assert len(before) == 2

    def kill():
        tracker, deadline = spark.sparkContext.statusTracker(), time.time() + 120
        while time.time() < deadline:
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            at_work = [one for one in stages if one and one.numTasks == 40 and 2 <= one.numCompletedTasks < 30]
            if at_work:
                seen.append(at_work[0].numCompletedTasks)
                os.kill(before[0], signal.SIGKILL)
                return
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    found = collected(consonant.spark.annotate(frame(spark, 40), text="text"))
    killer.join()
    assert seen and found == wanted
    assert before[0] not in executors()


def test_spark_ships_models_and_tells_of_rows(spark, trees, tmp_path):
    import consonant.spark

    consonant.Tagger(epochs=3, column="upos+xpos").fit(trees).save(tmp_path / "tagger.model")
    df = consonant.spark.annotate(frame(spark), models=tmp_path, layers=["tags"])
    words = consonant.spark.tokens(df)
    assert words.where("upos is not null").count() == words.count() > 0
    made = df.schema["sentences"].metadata
    assert made["consonant"] == consonant.__version__ and made["models"].startswith("consonant-")
    again = consonant.spark.annotate(frame(spark), models=tmp_path, layers=["tags"])
    assert again.schema["sentences"].metadata == made
    assert sum(made["models"] in one for one in spark.sparkContext.listArchives) == 1
    data = [(1, bytearray(b"Ann left.")), (2, bytearray(b"\xff"))]
    broken = spark.createDataFrame(data, "id long, body binary").coalesce(1)
    said = consonant.spark.annotate(broken, text="body", on_error="column").orderBy("id").select("error").collect()
    assert said[0].error is None and "row 1" in said[1].error
    with pytest.raises(Exception, match="not UTF-8"):
        consonant.spark.annotate(broken, text="body").collect()
    with pytest.raises(consonant.UsageError, match="there is no column `nothing`"):
        consonant.spark.annotate(broken, text="nothing")
    with pytest.raises(consonant.UsageError, match="the column `id` is Int64; expected text"):
        consonant.spark.annotate(broken, text="id")
    with pytest.raises(consonant.UsageError, match="there is no column `topic`; the columns are id, body"):
        consonant.spark.summarize(broken, "topic", text="body")
    with pytest.raises(consonant.UsageError, match="the column `body` is binary; expected text"):
        consonant.spark.summarize(broken, "id", text="body")


def test_spark_summarizes_groups(spark, nlp):
    import consonant.spark

    a = ["Heavy rain flooded the old town on Monday. Nobody was hurt.", "The old town was flooded by heavy rain."]
    df = spark.createDataFrame([("x", text) for text in a] + [("y", None)], "topic string, text string")
    found = {row.topic: row for row in consonant.spark.summarize(df, "topic", words=9).collect()}
    assert found["x"].summary == nlp.summarize(sorted(a), words=9).text and found["x"].value <= found["x"].bound
    assert found["y"].summary is None


@pytest.fixture(scope="module")
def ray(tmp_path_factory):
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    ray.init(address=cluster.address, log_to_driver=False)
    yield ray, cluster
    ray.shutdown()
    cluster.shutdown()


def by_ray(ray, **options):
    import ray.data

    dataset = ray.data.from_arrow(pyarrow.table(rows())).repartition(8)
    found = consonant.ray.annotate(dataset, text="text", **options).take_all()
    return [plain(row) for row in sorted(found, key=lambda row: row["id"])]


def test_ray_gives_the_rows_of_one_process(ray, wanted):
    import consonant.ray

    assert by_ray(ray[0]) == wanted
    assert all(row["error"] is None for row in by_ray(ray[0], on_error="column", layers=[]))


@pytest.mark.parametrize("work", ["annotate", "fit"])
def test_ray_loses_a_node_and_nothing_else(work):
    pytest.importorskip("ray")
    script = os.path.join(os.path.dirname(__file__), "ray_nodes.py")
    process = subprocess.Popen([sys.executable, script, work], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=400)
    finally:
        # Whatever happened, nothing of the cluster stays.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, said[-3000:]
    if "no work to be lost at" in said:
        pytest.skip("Ray gave the node no work before all was done")


def test_ray_fits_and_refuses(ray, trees, tmp_path):
    import consonant.ray

    checkpoint = tmp_path / "checkpoint"
    heard = []
    fitted = consonant.ray.fit(consonant.Tagger(epochs=3), trees, dev=trees, shards=2, workers=1, checkpoint=checkpoint, progress=heard.append)
    assert fitted.score(trees) == 1.0 and fitted.metadata_["shards"] == 2 and not checkpoint.exists()
    assert any("epoch" in line for line in heard)
    tagger = consonant.Tagger(epochs=2).fit(trees)
    parser = {"order": 1, "epochs": 2, "bits": 12}
    there = consonant.ray.fit(consonant.Parser(**parser), trees, tagger=tagger, shards=2, workers=2)
    here = consonant.Parser(shards=2, **parser).fit(trees, tagger=tagger)
    assert there._trained().to_bytes() == here._trained().to_bytes()
    with pytest.raises(consonant.UsageError, match="no setting `shards`"):
        consonant.ray.fit(consonant.Segmenter(), trees)
    with pytest.raises(consonant.Error, match="no-such-file"):
        consonant.ray.fit(consonant.Tagger(), tmp_path / "no-such-file.conllu", workers=1)
