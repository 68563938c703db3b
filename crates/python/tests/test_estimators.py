import pickle

import pytest

import consonant


def pairs(trees, layer):
    sentences = consonant.Doc.parse(trees.read_text()).sents
    return [list(zip(sentence.layer("form"), sentence.layer(layer))) for sentence in sentences]


def test_a_tagger_from_files_and_lists(trees, tmp_path):
    lines = []
    tagger = consonant.Tagger(column="xpos", epochs=5).fit(trees, dev=trees, progress=lines.append)
    assert tagger.score(trees) == 1.0 and any("epoch" in line for line in lines)
    words = [[word for word, _ in sentence] for sentence in pairs(trees, "xpos")]
    assert tagger.predict(words)[0] == ["NNP", "VBZ", "NNS", "."]
    from_pairs = consonant.Tagger(column="xpos", epochs=5).fit(pairs(trees, "xpos"))
    apart = consonant.Tagger(column="xpos", epochs=5).fit(words, [[tag for _, tag in s] for s in pairs(trees, "xpos")])
    assert from_pairs.predict(words) == apart.predict(words) == tagger.predict(words)
    assert tagger.evaluate(trees)["accuracy"] == 1.0
    text, certificates = tagger.annotate(trees)
    assert text.count("NNP") == 18 and all(one.status == "optimal" for one in certificates)
    tagger.save(tmp_path / "t.model")
    again = consonant.open(tmp_path / "t.model")
    assert isinstance(again, consonant.Tagger) and again.predict(words) == tagger.predict(words)
    assert again.metadata_["column"] == "xpos" and "labels" in again.inspect().lower()
    assert pickle.loads(pickle.dumps(tagger)).predict(words) == tagger.predict(words)


def test_data_frames_and_arrow(trees):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    rows = [
        {"sentence": number, "form": word, "upos": tag}
        for number, sentence in enumerate(pairs(trees, "upos"))
        for word, tag in sentence
    ]
    expected = consonant.Tagger(epochs=5).fit(trees).predict([["Ann", "sees", "cats"]])
    for table in (pandas.DataFrame(rows), pyarrow.Table.from_pylist(rows), rows):
        assert consonant.Tagger(epochs=5).fit(table).predict([["Ann", "sees", "cats"]]) == expected
    with pytest.raises(consonant.UsageError, match="sentence"):
        consonant.Tagger().fit(pandas.DataFrame(rows).drop(columns="sentence"))


def test_names(trees, tmp_path):
    columns = tmp_path / "names.tsv"
    text = "".join("".join(f"{w}\t{label or 'O'}\n" for w, label in s) + "\n" for s in pairs(trees, "entity"))
    columns.write_text(text)
    ner = consonant.NER(epochs=10).fit(columns)
    assert ner.score(columns) == 1.0 and ner.predict([["Ann", "sees", "dogs"]]) == [["B-PER", "O", "O"]]
    assert ner.predict(columns)[0] == ["B-PER", "O", "O", "O"]
    assert ner.evaluate(columns)["by_type"]


def test_missing_marks_of_documents_are_told(tmp_path):
    marked = tmp_path / "marked.tsv"
    marked.write_text("-DOCSTART-\tO\n\n" + "Ann\tB-PER\nran\tO\n\n" * 8)
    ner = consonant.NER(epochs=3).fit(marked)
    with pytest.warns(UserWarning, match="marks no documents"):
        ner.predict([["Ann", "ran"], ["Bob", "ran"]])


def test_a_parser_and_who_tags_for_it(trees):
    tagger = consonant.Tagger(epochs=5).fit(trees)
    parser = consonant.Parser(order=1, epochs=5).fit(trees, dev=trees)
    assert parser.predict(trees)[0] == [(2, "nsubj"), (0, "root"), (2, "obj"), (2, "punct")]
    assert parser.score(trees) == 1.0 and parser.evaluate(trees)["UAS"]["f1"] == 1.0
    untagged = [["Ann", "sees", "dogs", "."]]
    assert [head for head, _ in parser.predict(untagged, tagger=tagger)[0]].count(0) == 1


def test_a_segmenter(trees):
    segmenter = consonant.Segmenter(epochs=3).fit(trees)
    found = segmenter.predict(["Ann sees dogs. Bob buys cats.", ""])
    assert found[0][0] == ["Ann", "sees", "dogs", "."] and found[1] == []
    assert segmenter.score(trees) > 0.8


def test_clusters(tmp_path):
    texts = [f"the {noun} {verb} ." for noun in ("dog", "cat", "bird") for verb in ("ran", "sat", "slept")] * 3
    clusters = consonant.Clusters(count=4, min_count=1).fit(texts)
    found = dict(clusters.predict("the dog slept .")[0][0])
    assert found["dog"] is not None and found["dog"] != found["slept"]
    assert found["dog"] == dict(clusters.predict(["the cat ran ."])[0][0])["cat"]
    clusters.save(tmp_path / "words.clusters")
    assert consonant.open(tmp_path / "words.clusters").predict("the dog")[0][0] == clusters.predict("the dog")[0][0]
    tagger = consonant.Tagger(epochs=5, clusters=str(tmp_path / "words.clusters"))
    assert tagger.fit([[("dog", "NOUN"), ("ran", "VERB")]]).predict([["cat", "sat"]]) == [["NOUN", "VERB"]]
    with pytest.raises(consonant.UsageError, match="nothing to score"):
        clusters.score(texts)


def chat(count):
    units = [{"author": "ann", "time": None, "text": "how do I boot?"}, {"author": "bob", "time": None, "text": "ann: press it"}]
    return [{"id": str(number), "units": units, "links": [[1, 0]]} for number in range(count)]


def test_links():
    linker = consonant.Linker(epochs=3).fit(chat(4))
    assert linker.predict(chat(1)) == [[(1, 0)]] or linker.predict(chat(1)) == [[]]
    assert 0.0 <= linker.score(chat(2)) <= 1.0


def test_summaries():
    topic = {
        "id": "rain",
        "documents": [{"text": "Rain flooded the old town. Nobody was hurt."}, {"text": "The old town was flooded by rain."}],
        "summaries": ["Rain flooded the old town."],
    }
    summarizer = consonant.Summarizer(epochs=1).fit(extractive=[topic])
    assert isinstance(summarizer.predict([topic], words=6)[0], str)


def test_settings_are_checked(trees, tmp_path):
    with pytest.raises(consonant.UsageError, match="ordr"):
        consonant.Parser(ordr=3)
    with pytest.raises(ValueError, match="order"):
        consonant.Parser(order=9).fit(trees)
    with pytest.raises(consonant.UsageError, match="learned nothing"):
        consonant.Parser().predict(trees)
    with pytest.raises(consonant.Error, match="nothing.model"):
        consonant.open("nothing.model")
    with pytest.raises(consonant.DataError):
        consonant.Tagger().fit(tmp_path / "missing.conllu")
    broken = tmp_path / "broken.model"
    broken.write_bytes(b"no model at all")
    with pytest.raises(consonant.ModelError, match="broken.model"):
        consonant.open(broken)
    assert "order" in consonant.Parser.__doc__ and repr(consonant.Parser(order=2)) == "Parser(order=2)"


def test_sklearn(trees):
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    tagger = consonant.Tagger(epochs=3)
    twin = clone(tagger)
    assert twin is not tagger and twin.get_params() == tagger.get_params()
    X = [[word for word, _ in sentence] for sentence in pairs(trees, "upos")]
    y = [[tag for _, tag in sentence] for sentence in pairs(trees, "upos")]
    search = GridSearchCV(tagger, {"order": [0, 1]}, cv=2).fit(X, y)
    assert search.best_score_ == 1.0 and search.best_estimator_.order in (0, 1)


def test_a_listener_may_stop(trees):
    def stop(line):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        consonant.Tagger(epochs=50).fit(trees, progress=stop)
