# %% [markdown]
# # Summaries in a data frame
# Articles in a table, several about each topic; a summary for each topic, with its sources and its certificate.

# %%
import pandas

import consonant

nlp = consonant.load()
articles = pandas.DataFrame(
    {
        "topic": ["flood", "flood", "flood", "strike", "strike"],
        "text": [
            "Heavy rain flooded the old town of Bonn on Monday. Nobody was hurt. The mayor thanked the firemen.",
            "The old town of Bonn was flooded by heavy rain, the mayor said. Shops stay closed until Friday.",
            "Bonn is under water after heavy rain. Firemen saved two dogs.",
            "Train drivers will strike on Thursday. The union asks for higher wages.",
            "On Thursday no trains will run, because the drivers strike for higher wages.",
        ],
    }
)


# %%
def summarize(texts):
    summary = nlp.summarize(list(texts), words=20)
    certificate = summary.certificate
    return pandas.Series(
        {
            "summary": summary.text,
            "words": summary.word_count,
            "sources": sorted({sentence.document_index for sentence in summary.sentences}),
            "status": certificate.status,
            "gap": certificate.bound - certificate.value,
        }
    )


table = articles.groupby("topic")["text"].apply(summarize).unstack()
print(table[["summary", "words", "status"]].to_string())
assert list(table.index) == ["flood", "strike"] and (table.words <= 20).all() and (table.gap >= -1e-9).all()

# %% Names of the same articles, through Arrow: a row for each name.
import pyarrow  # noqa: E402

batch = pyarrow.record_batch(nlp.annotate_batch(pyarrow.Table.from_pandas(articles, preserve_index=False)))
names = batch.to_pandas().explode("entities").dropna(subset=["entities"])
print(names.assign(name=[name["text"] for name in names.entities], label=[name["label"] for name in names.entities])[["topic", "name", "label"]])
assert "Bonn" in {name["text"] for name in names.entities}
