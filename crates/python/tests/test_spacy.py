"""spaCy's pipelines with our components; `crates/python/extra spacy` runs these in an environment that has spaCy."""

import pickle

import pytest

import consonant

spacy = pytest.importorskip("spacy")

TEXT = "Ann Smith can't come to Kiel.  She works\nfor Google."


@pytest.fixture(scope="module")
def pipeline():
    nlp = spacy.blank("en")
    for name in ("consonant_parser", "consonant_lemmas", "consonant_names"):
        nlp.add_pipe(name)
    return nlp


def test_components_fill_in_all_layers(pipeline):
    doc = pipeline(TEXT)
    words = {token.text: token for token in doc}
    assert doc.text == TEXT and words["Smith"].pos_ == "PROPN" and words["works"].tag_ == "VBZ"
    assert words["works"].lemma_ == "work" and words["works"].morph.get("Tense") == ["Pres"]
    assert words["come"].dep_ == "ROOT" and words["Kiel"].head.text == "come" and words["Ann"].dep_ == "nsubj"
    assert [sentence.text.strip() for sentence in doc.sents] == ["Ann Smith can't come to Kiel.", "She works\nfor Google."]
    assert {(name.text, name.label_) for name in doc.ents} == {("Ann Smith", "PER"), ("Kiel", "LOC"), ("Google", "ORG")}
    assert all(token.head.sent == token.sent for token in doc)


def test_sentences_that_are_known_stay(pipeline):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("consonant_names")
    doc = nlp("Ann met Bob. They left Kiel.")
    assert len(list(doc.sents)) == 2 and "Kiel" in {name.text for name in doc.ents}


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\U0001f600", " a\tb "])
def test_odd_texts(pipeline, text):
    assert pipeline(text).text == text


def test_the_pipeline_is_saved_and_piped(pipeline, tmp_path):
    pipeline.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again.pipe_names == pipeline.pipe_names
    texts = [TEXT, "It rained in Berlin."]
    for one, two in zip(pipeline.pipe(texts), again.pipe(texts)):
        assert one.to_json() == two.to_json()
    assert pickle.loads(pickle.dumps(pipeline))(TEXT).to_json() == pipeline(TEXT).to_json()


def test_documents_go_there_and_back(pipeline, nlp):
    from consonant.spacy import from_spacy, to_spacy

    ours = nlp("Ann Smith can't come to Kiel. She works for Google.")
    theirs = to_spacy(ours)
    assert theirs.text == ours.text and [token.lemma_ for token in theirs] == [word.lemma for word in ours]
    assert [(name.text, name.label_) for name in theirs.ents] == [(name.text, name.label) for name in ours.ents]
    back = from_spacy(theirs)
    rows = lambda doc: [(w.text, w.lemma, w.upos, w.xpos, w.head, w.ent) for w in doc]
    assert rows(back) == rows(ours) and back.text == ours.text
    kept = spacy.tokens.DocBin(docs=[theirs]).to_bytes()
    assert next(iter(spacy.tokens.DocBin().from_bytes(kept).get_docs(theirs.vocab))).text == ours.text
    assert from_spacy(pipeline("Ann left.")).sents[0].heads == [2, 0, 2]


def test_conllu_objects_are_data(trees):
    conllu = pytest.importorskip("conllu")
    sentences = conllu.parse(trees.read_text())
    tagger = consonant.Tagger(epochs=3).fit(sentences)
    assert tagger.score(sentences) > 0.9
    assert len(conllu.parse(consonant.load()("Ann left.").to_conllu())) == 1
