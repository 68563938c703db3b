"""Structured prediction in language: models that agree, and prove it.

>>> import consonant
>>> nlp = consonant.load()
>>> doc = nlp("Ann Smith lives in Kiel.")
>>> [(word.text, word.upos) for word in doc.sents[0]][:2]
[('Ann', 'PROPN'), ('Smith', 'PROPN')]
>>> [(name.text, name.label) for name in doc.ents]
[('Ann Smith', 'PER'), ('Kiel', 'LOC')]

- :func:`load`: raw text to sentences, tags, names and trees; summaries; columns of Arrow.
- :class:`Tagger`, :class:`Lemmatizer`, :class:`NER`, :class:`Parser`, :class:`Summarizer`, :class:`Linker`, :class:`Segmenter`: trained on your data;
  :class:`Clusters`, classes of words from raw text; :func:`open` opens what they saved.
- :class:`CRF`: feature dictionaries in, labels out, as sklearn-crfsuite's.
- :func:`link`: a chat log, and who answers whom in it.
- :class:`Problem`: scores and constraints of your own; :mod:`consonant.decode`: labels and trees for scores in NumPy arrays.
- :mod:`consonant.evaluate`: the field's scorers; :mod:`consonant.formats`: files converted, checked, read as columns.
"""

from . import decode, errors, evaluate, formats
from ._consonant import (
    Certificate,
    Constraint,
    Doc,
    Entity,
    Literal,
    RecordBatch,
    Sentence,
    Solution,
    Token,
    Variable,
    __version__,
)
from .conversations import Conversation, link
from .crf import CRF
from .errors import DataError, Error, ModelError, ProblemError, TaskError, UsageError
from .estimators import NER, Clusters, Estimator, Lemmatizer, Linker, Parser, Segmenter, Summarizer, Tagger, open
from .formats import check, conllu, convert
from .nlp import Nlp, Summary, SummarySentence, load
from .problem import Problem

__all__ = [
    "CRF",
    "NER",
    "Certificate",
    "Clusters",
    "Constraint",
    "Conversation",
    "DataError",
    "Doc",
    "Entity",
    "Error",
    "Estimator",
    "Lemmatizer",
    "Linker",
    "Literal",
    "ModelError",
    "Nlp",
    "Parser",
    "Problem",
    "ProblemError",
    "RecordBatch",
    "Segmenter",
    "Sentence",
    "Solution",
    "Summarizer",
    "Summary",
    "SummarySentence",
    "Tagger",
    "TaskError",
    "Token",
    "UsageError",
    "Variable",
    "__version__",
    "check",
    "conllu",
    "convert",
    "decode",
    "errors",
    "evaluate",
    "formats",
    "link",
    "load",
    "open",
]
