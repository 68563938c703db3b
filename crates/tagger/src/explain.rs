//! What decided a label.

use consonant_learn::names::NamedFeature;
use consonant_sequence::features::Scope;
use consonant_task::{Contribution, Explanation};
use consonant_text::Sentence;

use crate::decode::TaggerOptions;
use crate::{Tagger, TaggerError};

impl Tagger {
    /// Tags a sentence and says for each word what decided: the features whose scores differ between the
    /// label and its closest rival.
    pub(crate) fn explain_sentence(&self, sentence: &Sentence) -> Result<Vec<Explanation>, TaggerError> {
        let mut tagged = [sentence.clone()];
        self.tag(&mut tagged, &TaggerOptions::default())?;
        let labels = self.chain().labels();
        let mut buffer = String::new();
        let path: Vec<u32> = (0..sentence.len())
            .map(|word| {
                self.column()
                    .label(&tagged[0], word, &mut buffer)
                    .and_then(|label| labels.get(label))
                    .unwrap_or(0)
            })
            .collect();
        Ok((0..sentence.len()).map(|word| self.explain_word(sentence, &path, word)).collect())
    }

    fn explain_word(&self, sentence: &Sentence, path: &[u32], word: usize) -> Explanation {
        let (chain, labels) = (self.chain(), self.chain().labels());
        let mut rows: Vec<(String, Vec<f32>)> = Vec::new();
        let mut features: Vec<NamedFeature> = Vec::new();
        let text = |word: usize, column: usize| self.view().text(sentence, word, column);
        self.extractor().describe(sentence.len(), text, word, Scope::Node, &mut features);
        for feature in features {
            let mut row = vec![0.0; labels.len()];
            chain
                .explain(feature.key)
                .into_iter()
                .for_each(|(label, weight)| row[label as usize] = weight * feature.value);
            rows.push((feature.name, row));
        }
        for length in 2..=chain.order() + 1 {
            let Some(first) = (word + 1).checked_sub(length) else { break };
            let mut gram = path[first..=word].to_vec();
            let history: Vec<&str> = gram[..length - 1].iter().map(|&label| labels.name(label)).collect();
            let name = format!("after {}", history.join(" "));
            let row = (0..labels.len() as u32).map(|label| {
                gram[length - 1] = label;
                chain.gram_weight(&gram)
            });
            rows.push((name, row.collect()));
        }
        let total = |label: usize| rows.iter().map(|(_, row)| row[label]).sum::<f32>();
        let chosen = path[word] as usize;
        let rival =
            (0..labels.len()).filter(|&label| label != chosen).max_by(|&a, &b| total(a).total_cmp(&total(b)));
        let contributions = rows.iter().map(|(name, row)| Contribution {
            feature: name.clone(),
            chosen: row[chosen],
            rival: rival.map_or(0.0, |rival| row[rival]),
        });
        let other = rival.map(|rival| labels.name(rival as u32).to_owned());
        Explanation::new(sentence.form(word), labels.name(path[word]), other, contributions)
    }
}
