use rustc_hash::FxHashMap;

/// The label of a token whose label is not known.
pub const UNKNOWN: u32 = u32::MAX;

/// The set of labels: names and their numbers.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Labels {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a label, which joins the set if it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_string());
        self.numbers.insert(name.to_string(), number);
        number
    }

    /// The number of a label, if it is in the set.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The name of a label.
    ///
    /// # Panics
    /// If there is no label of this number.
    pub fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    /// All names in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of labels.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Labels {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut labels = Self::new();
        names.into_iter().for_each(|name| {
            labels.intern(name.as_ref());
        });
        labels
    }
}
