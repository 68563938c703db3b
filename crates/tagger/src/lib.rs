//! Part-of-speech and morphological tagging with chain models.
//!
//! Five files, as in every task: what a part is ([`Column`]: a label at a word), its features
//! ([`built_in_templates`]), how it decodes ([`TaggerOptions`]), how it learns ([`TaggerSettings`]) and its
//! model on disk ([`Tagger`]).
//!
//! ```
//! use consonant_tagger::{Column, Tagger, TaggerOptions, TaggerSettings};
//! use consonant_task::{Data, Task, Watch};
//! use consonant_text::{Sentence, SentenceReader};
//!
//! let text = "1\tdogs\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tbark\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n";
//! let sentences: Vec<Sentence> = SentenceReader::conllu(text.as_bytes(), "dogs").collect::<Result<_, _>>()?;
//! let settings = TaggerSettings::new().column(Column::Upos);
//! let trained = Tagger::train(&Data::new(&sentences), &settings, &mut Watch::none())?;
//!
//! let tagger = Tagger::open(&trained.open()?)?;
//! let mut unknown = vec![Sentence::from_conllu("1\tdogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n")?];
//! let units = tagger.decode(&mut unknown, &TaggerOptions::new())?;
//! assert_eq!(unknown[0].upos(0), "NOUN");
//! assert!(units[0].certificate.is_optimal());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod decode;
mod dictionary;
mod documents;
mod error;
mod explain;
mod features;
mod known;
mod learn;
mod model;
mod names;
mod parts;
mod script;
mod view;

pub use decode::TaggerOptions;
pub use dictionary::TagDictionary;
pub use documents::ConstantWords;
pub use error::TaggerError;
pub use features::built_in_templates;
pub use known::KnownTags;
pub use learn::TaggerSettings;
pub use model::{TASK, Tagger};
pub use parts::Column;
