//! What a recognizer looks at: templates over the words of the sentence, and evidence from the rest of the
//! text.

use std::sync::Arc;

use consonant_learn::table::Table;
use consonant_sequence::features::{
    Extractor, FeatureBuffer, FeatureError, FeatureWorkspace, Resources, Templates, TypeSums,
};
use consonant_text::Sentence;

use crate::evidence::Evidence;

/// The features of Chieu & Teow's Table I and Qian & Liu's section 4.1.2.
const TEMPLATES: &str = r#"# The word and its neighbours.
U00:%x[0,0]
U01:%X[-4,0]
U02:%X[-3,0]
U03:%X[-2,0]
U04:%X[-1,0]
U05:%X[0,0]
U06:%X[1,0]
U07:%X[2,0]
U08:%X[3,0]
U09:%X[4,0]
# Pairs of neighbours.
U10:%X[-1,0]/%X[0,0]
U11:%X[0,0]/%X[1,0]
U12:%X[-2,0]/%X[-1,0]
U13:%X[1,0]/%X[2,0]
U14:%X[-1,0]/%X[1,0]
# Shapes.
U20:%h[0,0]
U21:%h[-1,0]
U22:%h[1,0]
U23:%H[0,0]
U24:%H[-1,0]/%H[0,0]
U25:%H[0,0]/%H[1,0]
U26:%H[-1,0]/%H[0,0]/%H[1,0]
U27:%H[-2,0]/%H[-1,0]/%H[0,0]
U28:%H[0,0]/%H[1,0]/%H[2,0]
U29:%t[-1,0,"^$"]/%H[0,0]
# Affixes and n-grams of characters.
U30:%p[0,0,1-5]
U31:%s[0,0,1-5]
U32:%N[0,0,3-6]
U33:%S[-1,0,3]
U34:%S[1,0,3]
U35:%X[-1,0]/%H[0,0]
U36:%X[1,0]/%H[0,0]
# Pairs of labels by the shapes of their words.
B00:%H[-1,0]/%H[0,0]
"#;

/// The built-in templates, with lines for what is there.
pub fn built_in_templates(resources: &Resources, tags: bool) -> String {
    let mut text = TEMPLATES.to_owned();
    if tags {
        text.push_str("# Parts of speech.\nU50:%x[0,1]\nU51:%x[-1,1]\nU52:%x[1,1]\nU53:%x[-1,1]/%x[0,1]\nU54:%x[0,1]/%x[1,1]\nU55:%x[0,1]/%H[0,0]\n");
    }
    if resources.clusters.is_some() {
        text.push_str("# Clusters.\nU60:%C[0,0,2,4,6,8,10,12,14,16]\nU61:%C[-1,0,2,4,6,8,10,12,14,16]\nU62:%C[1,0,2,4,6,8,10,12,14,16]\nU63:%C[0,0]\n");
    }
    if !resources.gazetteers.is_empty() {
        text.push_str(
            "# Phrases.\nU70:%g[0,0]\nU71:%g[-1,0]\nU72:%g[1,0]\nU73:%g[0,0]/%H[0,0]\nU74:%g[0,0]/%X[0,0]\n",
        );
    }
    if resources.vectors.is_some() {
        text.push_str("# Vectors.\nU80:%v[0,0]\nU81:%v[-1,0]\nU82:%v[1,0]\n");
    }
    text
}

/// Makes features of words. Shared by all threads; each has its own [`FeatureReader`].
#[derive(Debug, Clone)]
pub(crate) struct Features {
    pub(crate) extractor: Extractor,
    /// Whether evidence from the rest of the text is used.
    pub(crate) evidence: bool,
}

impl Features {
    pub(crate) fn new(
        templates: &str,
        resources: Resources,
        tags: bool,
        evidence: bool,
    ) -> Result<Self, FeatureError> {
        let columns: &[&str] = if tags { &["form", "tag"] } else { &["form"] };
        let templates = Templates::compile(templates, columns, &resources)?;
        Ok(Self { extractor: Extractor::new(Arc::new(templates), Arc::new(resources)), evidence })
    }

    pub(crate) fn reader(&self) -> FeatureReader {
        FeatureReader {
            features: self.clone(),
            workspace: self.extractor.workspace(),
            evidence: Evidence::default(),
            sentence: 0,
        }
    }
}

/// Reads texts, sentence by sentence, with buffers that are reused.
#[derive(Debug)]
pub(crate) struct FeatureReader {
    pub(crate) features: Features,
    pub(crate) workspace: FeatureWorkspace,
    evidence: Evidence,
    sentence: usize,
}

impl FeatureReader {
    /// Turns to another text.
    pub(crate) fn document(&mut self, sentences: &[Sentence]) {
        if self.features.evidence {
            self.evidence.read(sentences, self.features.extractor.resources());
        }
    }

    /// Turns to a sentence of the text.
    pub(crate) fn sentence(&mut self, number: usize, sentence: &Sentence) {
        self.sentence = number;
        self.features.extractor.load(&mut self.workspace, sentence.len(), |word, column| {
            if column == 0 { sentence.form(word) } else { sentence.upos(word) }
        });
    }

    /// Writes all features of a word of the sentence.
    pub(crate) fn word(&self, word: usize, features: &mut FeatureBuffer, pairs: &mut Vec<u64>) {
        self.features.extractor.node_features(&self.workspace, word, features);
        self.add_evidence(word, features);
        self.features.extractor.pair_features(&self.workspace, word, pairs);
    }

    /// Adds the weights of a word's features to its scores; sums are kept for one table only, the one with
    /// `keep`.
    pub(crate) fn add_scores(
        &self,
        sums: &mut TypeSums,
        (table, keep): (&Table, bool),
        word: usize,
        scores: &mut [f32],
    ) {
        let templates = (&self.features.extractor, &self.workspace);
        sums.add(templates, (table, keep), word, |features| self.add_evidence(word, features), scores);
    }

    /// Adds what the rest of the text says.
    fn add_evidence(&self, word: usize, features: &mut FeatureBuffer) {
        if self.features.evidence {
            self.evidence.features(self.sentence, word, &mut features.keys);
            if !features.values.is_empty() {
                features.values.resize(features.keys.len(), 1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use consonant_sequence::features::{Clusters, Gazetteer, Vectors};

    use super::*;

    #[test]
    fn every_line_compiles_with_and_without_resources() {
        Features::new(&built_in_templates(&Resources::default(), false), Resources::default(), false, true)
            .unwrap();
        let all = Resources {
            clusters: Some(Clusters::read("c", "01\ta\n".as_bytes()).unwrap()),
            gazetteers: vec![Gazetteer::read("g", "a b\n".as_bytes()).unwrap()],
            vectors: Some(Vectors::read("v", "a 1 2\n".as_bytes()).unwrap()),
        };
        Features::new(&built_in_templates(&all, true), all, true, true).unwrap();
    }
}
