//! Which sentences belong together: those of a document by its mark, posts without marks by the words they
//! share.

use consonant_learn::hash;
use consonant_text::Sentence;
use consonant_text::document::ranges;
use rustc_hash::FxHashMap;

/// Posts that share more than this many words are about one thing (Qian & Liu 2014, section 4.1.3).
const OVERLAP: u32 = 4;
/// Words of more posts than this say nothing about what a post is about. It also bounds the pairs that are
/// compared.
pub(crate) const MOST_POSTS: usize = 64;

/// The groups within which labels agree: documents where they are marked; otherwise clusters by single
/// linkage, two sentences being linked if they share more than four distinct words. Groups are in the order
/// of their first sentence.
pub fn groups(sentences: &[Sentence]) -> Vec<Vec<usize>> {
    groups_by(sentences, MOST_POSTS)
}

/// The same where words of more than so many posts join none.
pub(crate) fn groups_by(sentences: &[Sentence], most_posts: usize) -> Vec<Vec<usize>> {
    if sentences.iter().any(Sentence::starts_document) {
        return ranges(sentences).into_iter().map(Iterator::collect).collect();
    }
    let mut posts_of: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    let mut leader: Vec<u32> = (0..sentences.len() as u32).collect();
    let mut shared: FxHashMap<u32, u32> = FxHashMap::default();
    let (mut words, mut lower) = (Vec::new(), String::new());
    for (number, sentence) in sentences.iter().enumerate() {
        words.clear();
        for word in 0..sentence.len() {
            lower.clear();
            lower.extend(sentence.form(word).chars().flat_map(char::to_lowercase));
            words.push(hash::key(lower.as_bytes()));
        }
        words.sort_unstable();
        words.dedup();
        shared.clear();
        for word in &words {
            let posts = posts_of.entry(*word).or_default();
            if posts.len() <= most_posts {
                posts.iter().for_each(|&post| *shared.entry(post).or_default() += 1);
                posts.push(number as u32);
            }
        }
        for (&post, _) in shared.iter().filter(|(_, count)| **count > OVERLAP) {
            let (a, b) = (find(&mut leader, post), find(&mut leader, number as u32));
            // The earliest sentence leads, so that the outcome does not depend on the order of joining.
            leader[a.max(b) as usize] = a.min(b);
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of: FxHashMap<u32, usize> = FxHashMap::default();
    for number in 0..sentences.len() {
        let first = find(&mut leader, number as u32);
        let group = *group_of.entry(first).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(number);
    }
    groups
}

fn find(leader: &mut [u32], mut member: u32) -> u32 {
    while leader[member as usize] != member {
        leader[member as usize] = leader[leader[member as usize] as usize];
        member = leader[member as usize];
    }
    member
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::sentences;

    #[test]
    fn documents_begin_at_their_marks() {
        let text = sentences(&["-DOCSTART-", "a b", "c", "-DOCSTART-", "d"]);
        assert_eq!(groups(&text), [vec![0, 1], vec![2]]);
        let text = sentences(&["a", "b", "-DOCSTART-", "c"]);
        assert_eq!(groups(&text), [vec![0, 1], vec![2]], "what stands before the first mark is one document");
    }

    #[test]
    fn posts_are_linked_through_posts_between_them() {
        let text = sentences(&[
            "a b c d e f",
            "nothing to do with it",
            "A b c d e x y z w v",
            "x y z w v",
            "a b c d",
            "q",
        ]);
        assert_eq!(groups(&text), [vec![0, 2, 3], vec![1], vec![4], vec![5]]);
    }

    #[test]
    fn a_word_in_every_post_takes_no_quadratic_time() {
        let lines = vec!["a b c d e f"; 5000];
        assert!(groups(&sentences(&lines)).len() < 5000);
    }
}
