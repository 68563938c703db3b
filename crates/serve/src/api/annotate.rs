//! `POST /v1/annotate`: raw text to sentences with tags, lemmas, names and trees.

use std::sync::Arc;

use consonant::draw::Sketch;
use consonant::draw::svg::Svg;
use consonant::task::Unit;
use consonant::text::Document;
use consonant::text::jsonl::SentenceRecord;
use consonant::{Annotated, Certificates, Error, Layers, Pipeline};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{Lane, Operation, Work, Written};
use crate::loaded::Loaded;
use crate::problem::Problem;

/// The operation.
pub struct Annotate;

/// One text, or several documents.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotateRequest {
    /// A text.
    #[serde(default)]
    text: Option<String>,
    /// Documents, each with its own names that agree.
    #[serde(default)]
    documents: Vec<GivenDocument>,
    /// What to find beside sentences and tokens: all that there are models for without it.
    #[serde(default)]
    layers: Option<Vec<LayerName>>,
    /// Adds to tokens and names how sure the models are of tags, heads and names.
    #[serde(default)]
    confidence: bool,
    /// Adds value, bound and status of every decoding.
    #[serde(default)]
    certificate: bool,
}

/// What a stream of Arrow cannot say of itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotateQuery {
    /// The column of text in a stream of Arrow.
    #[serde(default = "text_column")]
    pub text: String,
}

fn text_column() -> String {
    "text".to_owned()
}

/// A document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenDocument {
    /// Its name, which its sentences repeat.
    #[serde(default)]
    pub id: Option<String>,
    /// Its text.
    pub text: String,
}

/// A layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LayerName {
    /// Parts of speech and features.
    Tags,
    /// Lemmas.
    Lemmas,
    /// Names.
    Entities,
    /// Dependency trees.
    Tree,
}

/// The sentences of all documents, in order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnnotateAnswer {
    /// As `consonant annotate --format jsonl` writes them.
    #[schemars(schema_with = "sentences_schema")]
    sentences: Vec<SentenceRecord>,
    /// For each document, what is proven of each layer, if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    certificates: Vec<ProvenLayers>,
}

/// What is proven of each layer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProvenLayers {
    tags: Vec<ProvenUnit>,
    lemmas: Vec<ProvenUnit>,
    entities: Vec<ProvenUnit>,
    tree: Vec<ProvenUnit>,
}

/// A certificate, and the words that it is for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProvenUnit {
    /// The score of the answer.
    value: Option<f64>,
    /// No answer scores more; null where nothing is known.
    bound: Option<f64>,
    /// optimal, feasible, infeasible or stopped.
    status: &'static str,
    /// Iterations, or nodes of branch and bound.
    iterations: usize,
    /// By the clock.
    seconds: f64,
    /// Words of the unit.
    tokens: usize,
}

impl From<&Unit> for ProvenUnit {
    fn from(unit: &Unit) -> Self {
        let certificate = &unit.certificate;
        Self {
            value: certificate.value(),
            bound: Some(certificate.bound()).filter(|bound| bound.is_finite()),
            status: certificate.status().name(),
            iterations: certificate.iterations,
            seconds: certificate.seconds,
            tokens: unit.tokens,
        }
    }
}

impl From<&Certificates> for ProvenLayers {
    fn from(proven: &Certificates) -> Self {
        let units = |units: &[Unit]| units.iter().map(ProvenUnit::from).collect();
        Self {
            tags: units(&proven.tags),
            lemmas: units(&proven.lemmas),
            entities: units(&proven.entities),
            tree: units(&proven.tree),
        }
    }
}

fn sentences_schema(generator: &mut SchemaGenerator) -> Schema {
    let items = generator.subschema_for::<SentenceSchema>();
    schemars::json_schema!({"type": "array", "items": items})
}

/// Stands for the schema in the documentation.
struct SentenceSchema;

impl JsonSchema for SentenceSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sentence".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = include_str!("../sentence.schema.json")
            .replace("#/$defs/", "#/components/schemas/Sentence/$defs/");
        let mut schema: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).unwrap_or_default();
        schema.remove("$schema");
        schema.into()
    }
}

/// Documents that are annotated between looks at the clock.
const CHUNK: usize = 16;

impl AnnotateRequest {
    fn documents(self) -> Result<Vec<GivenDocument>, Problem> {
        match (self.text, self.documents) {
            (Some(text), documents) if documents.is_empty() => Ok(vec![GivenDocument { id: None, text }]),
            (None, documents) if !documents.is_empty() => Ok(documents),
            _ => Err(Problem::wrong("give either `text` or `documents`")),
        }
    }

    /// The pipeline that gives what is wanted.
    fn pipeline(&self, models: &Loaded) -> Result<Arc<Pipeline>, Problem> {
        let layers = self.layers.as_ref().map_or(models.layers, |names| {
            let has = |name| names.contains(&name);
            Layers {
                tags: has(LayerName::Tags),
                lemmas: has(LayerName::Lemmas),
                entities: has(LayerName::Entities),
                tree: has(LayerName::Tree),
            }
        });
        models.pipeline(layers, self.confidence)
    }
}

/// Annotates documents, a few at a time.
pub fn annotate(
    work: &Work,
    pipeline: &Pipeline,
    documents: &[GivenDocument],
) -> Result<Vec<Annotated>, Problem> {
    work.check_words(documents.iter().map(|document| document.text.as_str()))?;
    let mut annotated = Vec::with_capacity(documents.len());
    for chunk in documents.chunks(CHUNK) {
        work.check_time()?;
        let texts: Vec<&str> = chunk.iter().map(|document| document.text.as_str()).collect();
        annotated.extend(pipeline.annotate_all(&texts)?);
    }
    Ok(annotated)
}

/// The sentences of a document as JSON.
pub fn records(document: &Document, id: Option<&str>) -> Vec<SentenceRecord> {
    let mut records = document.records();
    records.iter_mut().for_each(|record| record.doc = id.map(str::to_owned));
    records
}

impl Operation for Annotate {
    const PATH: &'static str = "/v1/annotate";
    const SUMMARY: &'static str = "Sentences, tokens, tags, lemmas, names and trees of raw text";
    const ABOUT: &'static str = "With `Accept: application/x-ndjson` the answer is a line for each sentence, with `text/x-conllu` CoNLL-U, with `image/svg+xml` a picture. A body of `application/x-ndjson`, a document a line, is annotated as it comes, in memory that does not grow; so is a body of `application/vnd.apache.arrow.stream`, whose columns come back with `sentences` and `entities` besides.";
    const LANE: Lane = Lane::Sentences;
    const OTHERS: &'static [&'static str] = &["application/x-ndjson", "text/x-conllu", "image/svg+xml"];
    type Query = AnnotateQuery;
    type Request = AnnotateRequest;
    type Answer = AnnotateAnswer;

    fn run(work: &Work, _: AnnotateQuery, request: AnnotateRequest) -> Result<AnnotateAnswer, Problem> {
        let pipeline = request.pipeline(&work.models)?;
        let wants_certificate = request.certificate;
        let given = request.documents()?;
        let annotated = annotate(work, &pipeline, &given)?;
        let mut answer = AnnotateAnswer { sentences: Vec::new(), certificates: Vec::new() };
        for (Annotated { document, certificates }, given) in annotated.iter().zip(&given) {
            answer.sentences.extend(records(document, given.id.as_deref()));
            if wants_certificate {
                answer.certificates.push(certificates.into());
            }
        }
        Ok(answer)
    }

    fn answer(
        work: &Work,
        query: AnnotateQuery,
        request: AnnotateRequest,
        accept: &str,
    ) -> Result<Written, Problem> {
        let Some(kind) = Self::OTHERS.iter().find(|kind| accept.contains(**kind)) else {
            return Written::json(&Self::run(work, query, request)?);
        };
        let pipeline = request.pipeline(&work.models)?;
        let given = request.documents()?;
        let annotated = annotate(work, &pipeline, &given)?;
        let mut bytes = Vec::new();
        let mut svg = Svg::default();
        for (Annotated { document, .. }, given) in annotated.iter().zip(&given) {
            match *kind {
                "application/x-ndjson" => write_lines(&records(document, given.id.as_deref()), &mut bytes)?,
                "text/x-conllu" => {
                    for sentence in document.sentences() {
                        sentence.write(&mut bytes).map_err(Error::from)?;
                    }
                }
                _ => document.sentences().iter().for_each(|sentence| svg.sentence(&Sketch::of(sentence))),
            }
        }
        if *kind == "image/svg+xml" {
            bytes = svg.finish().into_bytes();
        }
        Ok(Written { kind, bytes })
    }
}

/// Writes records, one a line.
pub fn write_lines(records: &[SentenceRecord], bytes: &mut Vec<u8>) -> Result<(), Problem> {
    for record in records {
        serde_json::to_writer(&mut *bytes, record).map_err(|error| Problem::wrong(error.to_string()))?;
        bytes.push(b'\n');
    }
    Ok(())
}
