use std::collections::HashMap;
use std::path::Path;

use consonant_text::evaluate::LinkScores;
use serde::{Deserialize, Serialize};

use super::{Scored, jsonl, nothing_to_score, refused};
use crate::Error;

#[derive(Deserialize, Serialize, PartialEq)]
struct Conversation {
    id: String,
    links: Vec<(usize, usize)>,
}

/// Precision, recall and F1 of the links between the units of conversations, lines `{"id", "links": [[source, target], …]}`.
pub fn links(gold: &Path, predicted: &Path) -> Result<Scored, Error> {
    let conversations: Vec<Conversation> = jsonl::read(gold)?;
    if conversations.is_empty() {
        return Err(nothing_to_score(gold.display(), r#"lines {"id", "links": [[source, target], …]}"#));
    }
    let mut found = HashMap::new();
    for Conversation { id, links } in jsonl::read(predicted)? {
        if found.contains_key(&id) {
            return refused(format!("{}: conversation `{id}` stands there twice", predicted.display()));
        }
        found.insert(id, links);
    }
    let (mut scores, mut places) = (LinkScores::default(), Vec::new());
    for Conversation { id, links } in conversations {
        let Some(found) = found.remove(&id) else {
            return refused(format!("{}: there is no conversation `{id}`", predicted.display()));
        };
        scores.conversation(links, found);
        places.push(format!("conversation `{id}`"));
    }
    if let Some(id) = found.keys().min() {
        return refused(format!("{}: conversation `{id}` is not in {}", predicted.display(), gold.display()));
    }
    Ok(Scored::new(&scores, scores.by_unit())?.with_mistakes(scores.mistakes, places))
}
