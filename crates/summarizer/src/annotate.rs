//! What stands between items and a summary: sentences, tags and trees before it, the line that is filled in
//! after it.

use std::time::Instant;

use consonant_task::{Annotate, Answered, Certificate, Failure, Unit};
use consonant_text::{Document, Sentence};
use rayon::prelude::*;
use serde_json::json;

use crate::SummarizerError;
use crate::decode::SummarizerOptions;
use crate::dev::reference_length;
use crate::item::{Content, Pair, SummarizerItem, Topic};
use crate::model::Summarizer;
use crate::parts::Mode;

impl Summarizer {
    /// Segments the documents that have only their text and, if sentences are compressed, adds trees to those
    /// that a summary may take. Returns which documents are in a language that the annotator does not know:
    /// their sentences have no trees and are taken whole.
    pub fn annotate_documents(
        &self,
        documents: &mut [Document],
        options: &SummarizerOptions,
        annotator: &dyn Annotate,
    ) -> Result<Vec<usize>, Failure> {
        for document in documents.iter_mut().filter(|document| document.sentences().is_empty()) {
            let id = document.id.take();
            *document = annotator.document(document.text())?;
            document.id = id;
        }
        if options.mode() == Mode::Extractive {
            return Ok(Vec::new());
        }
        let understood: Vec<bool> =
            documents.iter().map(|document| annotator.understands(document.text())).collect();
        let mut wanted = self.candidates(documents, options);
        wanted.retain(|&(document, sentence)| {
            understood[document] && documents[document].sentences()[sentence].tree().is_none()
        });
        let mut sentences: Vec<Sentence> = wanted
            .iter()
            .map(|&(document, sentence)| documents[document].sentences()[sentence].clone())
            .collect();
        annotator.annotate(&mut sentences)?;
        for ((document, number), sentence) in wanted.into_iter().zip(sentences) {
            documents[document].sentences_mut()[number] = sentence;
        }
        let foreign =
            |&document: &usize| !understood[document] && !documents[document].sentences().is_empty();
        Ok((0..documents.len()).filter(foreign).collect())
    }

    pub(crate) fn annotate_items(
        &self,
        items: &mut [SummarizerItem],
        options: &SummarizerOptions,
        annotator: &dyn Annotate,
    ) -> Result<(), Failure> {
        let mut bare: Vec<&mut Sentence> = Vec::new();
        for item in items.iter_mut() {
            if let Content::Pair(Pair { sentence, .. }) = &mut item.content
                && sentence.tree().is_none()
            {
                bare.push(sentence);
            }
        }
        let mut sentences: Vec<Sentence> =
            bare.iter_mut().map(|sentence| std::mem::take(*sentence)).collect();
        let annotated = annotator.annotate(&mut sentences);
        bare.into_iter().zip(sentences).for_each(|(place, sentence)| *place = sentence);
        annotated?;
        items.par_iter_mut().try_for_each(|item| {
            let Content::Topic(topic) = &mut item.content else { return Ok(()) };
            let options = topic.options(options);
            match self.annotate_documents(&mut topic.documents, &options, annotator) {
                Ok(foreign) => topic.foreign = foreign.len(),
                Err(error) => return Err(item.wrong(error).into()),
            }
            Ok(())
        })
    }

    pub(crate) fn decode_items(
        &self,
        items: &mut [SummarizerItem],
        options: &SummarizerOptions,
    ) -> Result<Vec<Unit>, SummarizerError> {
        let decode = |item: &mut SummarizerItem| match &mut item.content {
            Content::Pair(pair) => {
                let start = Instant::now();
                pair.keep = self.compress_within(&pair.sentence, options);
                let keep: Vec<u8> = pair.keep.iter().map(|&keep| u8::from(keep)).collect();
                item.line.insert("keep".to_owned(), json!(keep));
                let certificate = Certificate::exact(0.0).after(1, start.elapsed().as_secs_f64());
                Ok(Unit { certificate, tokens: pair.sentence.len() })
            }
            Content::Topic(topic) => {
                let summary = self.summarize(&topic.documents, &topic.options(options));
                let tokens = topic.documents.iter().flat_map(Document::sentences).map(Sentence::len).sum();
                let summary = summary.map_err(|error| item.wrong(error))?;
                item.line.insert("summary".to_owned(), json!(summary.text()));
                Ok(Unit { certificate: summary.certificate.unwrap_or(Certificate::exact(0.0)), tokens })
            }
        };
        items.par_iter_mut().map(decode).collect()
    }

    /// The problem of each topic, with its summary.
    pub(crate) fn answered_items(
        &self,
        items: &[SummarizerItem],
        options: &SummarizerOptions,
    ) -> Result<Vec<Answered>, SummarizerError> {
        let answered = |item: &SummarizerItem| {
            let Content::Topic(topic) = &item.content else { return Ok(None) };
            let options = topic.options(options);
            let prepared = self.assemble(&topic.documents, &options);
            let decoded = prepared.decode(&options).map_err(|error| item.wrong(error))?;
            Ok(Some(prepared.answered(&decoded)))
        };
        items.par_iter().map(answered).filter_map(Result::transpose).collect()
    }
}

impl Topic {
    /// What is wanted of this topic: unless the options say how long, a summary as long as people's are on
    /// average.
    pub fn options(&self, options: &SummarizerOptions) -> SummarizerOptions {
        let own = (!self.references.is_empty()).then(|| reference_length(&self.references));
        SummarizerOptions { words: options.words.or(own), ..options.clone() }
    }
}
