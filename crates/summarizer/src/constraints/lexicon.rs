//! The words that rules of grammar know.

/// Relations of what a verb, an adjective or a clause cannot do without.
#[rustfmt::skip]
pub const NEEDED: &[&str] = &[
    "root", "nsubj", "csubj", "obj", "iobj", "xcomp", "ccomp", "expl", "aux", "cop", "case", "mark", "cc",
    "det", "clf", "orphan", "dislocated", "reparandum", "dep", "list", "punct",
];

/// Relations of words that are one with others, or count them.
#[rustfmt::skip]
pub const WORD_PARTS: &[&str] = &[
    "compound", "compound:prt", "fixed", "flat", "goeswith", "nummod", "nmod:poss", "nmod:desc", "obl:agent",
    "det:predet", "cc:preconj", "advcl:relcl",
];

/// Function words that [`Constraints::Free`] keeps with what they belong to.
#[rustfmt::skip]
pub const FUNCTION: &[&str] = &[
    "case", "mark", "aux", "cop", "cc", "det", "fixed", "flat", "goeswith", "clf", "expl", "orphan",
    "reparandum",
];

/// Words that relative clauses begin with.
#[rustfmt::skip]
pub const RELATIVE: &[&str] = &[
    "who", "which", "whose", "whom", "where", "when",
];

/// Prepositions of phrases that may go from the head of a sentence. *Without*, *unlike*, *under* change what is said.
#[rustfmt::skip]
pub const FRONTED: &[&str] = &[
    "in", "on", "at", "during", "after", "before", "since", "following", "amid", "by", "throughout", "within",
    "for", "as", "earlier", "later", "around", "until", "from", "over",
];

/// Prepositions of what merely surrounds an event.
#[rustfmt::skip]
pub const CIRCUMSTANCE: &[&str] = &[
    "during", "after", "before", "following", "amid", "throughout", "alongside", "since", "ahead",
];

/// Prepositions of places.
#[rustfmt::skip]
pub const PLACE: &[&str] = &[
    "in", "at", "near", "outside", "inside", "around", "across", "along",
];

/// Prepositions of nouns that say where or when something is, and seldom what it is.
#[rustfmt::skip]
pub const NOUN_PLACE: &[&str] = &[
    "in", "at", "near", "outside", "inside", "around", "across", "along", "during",
];

/// Subordinators of clauses whose absence leaves the rest true.
#[rustfmt::skip]
pub const SUBORDINATORS: &[&str] = &[
    "after", "before", "when", "while", "as", "since", "although", "though",
];

/// Verbs after which a clause is what the sentence is about. Belief, doubt and denial stay with their clause.
#[rustfmt::skip]
pub const REPORTING: &[&str] = &[
    "said", "says", "say", "announced", "announces", "reported", "reports", "added", "adds", "confirmed",
    "confirms", "stated", "states", "noted", "notes", "told", "tells", "revealed", "shows", "showed",
    "explained", "saying", "adding",
];

/// Verbs that say little without their place or time.
#[rustfmt::skip]
pub const PLACED: &[&str] = &[
    "put", "place", "fire", "shoot", "shot", "aim", "set", "keep", "kept", "leave", "left", "lay", "laid", "base", "locate", "situate",
    "live", "reside", "stay", "remain", "include", "involve", "engage", "result", "rank", "born", "arrive",
    "stand", "stood", "sit", "sat", "lie", "bring", "brought", "take", "took", "taken", "hold", "held",
    "find", "found", "participate", "believe", "specialize", "interest", "invest", "succeed", "fail", "store",
    "house", "park", "land", "occur", "happen", "begin", "began", "begun", "start", "end", "last", "schedule",
    "date", "due", "be", "use", "insert", "embed", "enter", "spend", "spent", "share", "see", "saw", "seen",
    "write", "written", "have", "has", "had", "expect", "play", "get", "got", "make", "made", "go", "went",
    "come", "came", "look", "know", "known", "describe", "present", "divide", "split", "run", "ran", "hang",
    "hung", "feel", "felt", "fall", "fell", "settle", "grow", "grew", "appear", "work", "change", "cover",
    "brand", "call", "dub", "dubb", "name", "nickname", "label", "throw", "threw", "thrown", "remand", "dress", "wear", "center", "centre", "concentrate", "focus", "bury", "scatter", "headquarter", "station",
];

/// Adverbs and adjectives without which a sentence claims more, or something else.
#[rustfmt::skip]
pub const HEDGES: &[&str] = &[
    "allegedly", "reportedly", "supposedly", "apparently", "possibly", "probably", "likely", "perhaps",
    "maybe", "potentially", "presumably", "seemingly", "nearly", "almost", "hardly", "barely", "scarcely",
    "rarely", "seldom", "partly", "partially", "mostly", "largely", "mainly", "usually", "generally",
    "normally", "typically", "often", "sometimes", "occasionally", "theoretically", "virtually",
    "practically", "formerly", "previously", "initially", "originally", "falsely", "wrongly", "unfortunately",
    "mistakenly", "only", "merely", "solely", "exclusively", "even", "just", "instead", "otherwise", "no",
    "else", "simply", "purportedly", "ostensibly", "relatively", "fairly", "temporarily", "unlikely", "least",
    "less", "more", "too", "so", "yet", "ever", "once", "not", "badly", "well", "newly", "politically",
    "primarily", "specifically", "ultimately", "necessarily", "fully", "entirely", "highly", "widely",
    "closely", "currently", "conditionally",
];

/// Adverbs that say no more than that something came in addition, or when.
#[rustfmt::skip]
pub const LOOSE_ADVERBS: &[&str] = &[
    "also", "additionally", "furthermore", "moreover", "however", "meanwhile", "therefore", "thus", "indeed",
    "subsequently", "eventually", "recently", "shortly", "immediately", "quickly", "suddenly",
    "officially", "formally", "strongly", "really", "actually", "certainly", "definitely", "clearly",
    "obviously", "basically", "literally", "truly", "very", "severely", "seriously", "heavily", "slowly",
    "rapidly", "finally", "carefully", "quietly", "repeatedly", "firmly", "vigorously",
    "successfully", "simultaneously", "later", "earlier", "today", "yesterday", "already", "now", "then",
    "still", "afterwards", "afterward", "tonight", "nevertheless", "nonetheless", "consequently",
    "accordingly", "hence", "besides", "likewise", "similarly", "personally", "frankly", "honestly", "surely",
    "interestingly", "surprisingly", "importantly", "notably", "sadly", "luckily", "fortunately", "again",
];

/// Adjectives that only add weight. *Small* and *good* are what a sentence may be about.
#[rustfmt::skip]
pub const DESCRIPTIVE: &[&str] = &[
    "strong", "powerful", "huge", "massive", "enormous", "giant", "gigantic", "large", "vast",
    "sizable", "devastating", "tragic", "horrific", "deadly", "severe", "fierce", "intense", "heavy",
    "violent", "famous", "prominent", "renowned", "considerable", "substantial", "extensive",
    "intensive", "dramatic", "thick", "brave", "remarkable", "impressive", "spectacular", "stunning",
    "ambitious",
];

/// Nouns that ask for what comes after them.
#[rustfmt::skip]
pub const GOVERNING: &[&str] = &[
    "interest", "role", "part", "increase", "decrease", "rise", "drop", "fall", "change", "changes",
    "difference", "differences", "success", "way", "everything", "nothing", "something", "anything", "one",
    "ones", "those", "lack", "need", "trust", "faith", "belief", "attempt", "attempts", "place", "look",
    "experience", "problem", "problems", "advance", "advances", "degree", "share", "half", "member",
    "members", "people", "person", "man", "woman", "men", "women", "victory", "shift", "delay", "improvement",
    "growth", "decline", "use", "presence", "amount", "number", "numbers", "total", "level", "rate",
];

/// Adjectives that belong to a time.
#[rustfmt::skip]
pub const TIMELY: &[&str] = &["last", "next", "early", "late", "past", "following", "same", "previous"];

/// Words under which a circumstance may be a condition.
pub const BINDING: &[&str] =
    &["if", "unless", "whether", "only", "until", "few", "nobody", "seldom", "rarely"];

/// Words of how many, which what stands beside them may limit.
pub const QUANTIFIERS: &[&str] =
    &["few", "every", "each", "all", "any", "most", "many", "fewer", "only", "both"];

/// Words that count or compare.
#[rustfmt::skip]
pub const COMPARING: &[&str] = &[
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last", "only", "same", "such",
    "other", "than", "rather", "so", "too", "total", "average",
];
