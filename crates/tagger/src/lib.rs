//! Part-of-speech and morphological tagging with chain models.
//!
//! Five files, as in every task: what a part is ([`Column`]: a label at a word), its features ([`built_in_templates`]), how
//! it decodes ([`Decoder`]), how it learns ([`train`]) and its model on disk ([`Tagger`]).
//!
//! ```
//! use consonant_learn::model::Model;
//! use consonant_tagger::{Column, Request, Tagger, TaggerSettings, train};
//! use consonant_text::{Sentence, SentenceReader};
//!
//! let text = "1\tdogs\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tbark\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n";
//! let sentences: Vec<Sentence> = SentenceReader::conllu(text.as_bytes(), "dogs").collect::<Result<_, _>>()?;
//! let settings = TaggerSettings { column: Column::Upos, ..TaggerSettings::default() };
//! let trained = train(&sentences, None, settings, &mut |_| {})?;
//!
//! let tagger = Tagger::open(&Model::from_bytes(&trained.model.to_bytes())?)?;
//! let mut unknown = vec![Sentence::from_conllu("1\tdogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n")?];
//! tagger.decoder()?.tag(&mut unknown, &Request::default())?;
//! assert_eq!(unknown[0].upos(0), "NOUN");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod decode;
mod dictionary;
mod documents;
mod error;
mod explain;
mod features;
mod learn;
mod model;
mod parts;

pub use consonant_sequence::Strength;
pub use decode::{Decoded, Decoder, Request};
pub use dictionary::TagDictionary;
pub use documents::ConstantWords;
pub use error::TaggerError;
pub use explain::{Contribution, Explanation};
pub use features::built_in_templates;
pub use learn::{Corpora, TaggerSettings, Trained, prepare, train};
pub use model::{TASK, Tagger};
pub use parts::Column;
