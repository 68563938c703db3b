//! Features of tokens by templates.
//!
//! A [`Templates`] file in the language of CRF++ and Wapiti is compiled once to flat arrays; an [`Extractor`]
//! runs it over sentences. What a template asks of a single value (its lower-cased form, affixes, shape,
//! cluster, …) is computed once for each distinct value and remembered in the [`FeatureWorkspace`]; a feature
//! is then a few multiplications. A feature is known by a 64-bit key, the hash of its template and values,
//! and [`Extractor::describe`] gives its name back.
//!
//! ```
//! use std::sync::Arc;
//! use consonant_learn::names::NamedFeature;
//! use consonant_sequence::features::{Extractor, FeatureBuffer, Resources, Scope, Templates};
//!
//! let resources = Arc::new(Resources::default());
//! let templates = Templates::compile("U00:%x[0,0]\nU01:%X[-1,0]/%x[0,0]\nU02:%s[0,0,1-2]", &["form"], &resources)?;
//! let extractor = Extractor::new(Arc::new(templates), resources);
//!
//! let words = ["The", "dog"];
//! let mut workspace = extractor.workspace();
//! let mut features = FeatureBuffer::default();
//! extractor.load(&mut workspace, words.len(), |token, _| words[token]);
//! extractor.node_features(&workspace, 1, &mut features);
//! assert_eq!(features.keys.len(), 4);
//!
//! let mut named: Vec<NamedFeature> = Vec::new();
//! extractor.describe(2, |token, _| words[token], 1, Scope::Node, &mut named);
//! let names: Vec<&str> = named.iter().map(|feature| feature.name.as_str()).collect();
//! assert_eq!(names, ["U00:dog", "U01:the/dog", "U02:g", "U02:og"]);
//! # Ok::<(), consonant_sequence::features::FeatureError>(())
//! ```

mod error;
mod extractor;
mod program;
mod resource;
mod sums;
mod template;
mod value;

pub use error::FeatureError;
pub use extractor::{Extractor, FeatureBuffer, FeatureWorkspace};
pub use program::Templates;
pub use resource::{Clusters, Gazetteer, Place, Resources, Vectors};
pub use sums::TypeSums;
pub use template::Scope;
pub use value::{is_emoji, shape};
