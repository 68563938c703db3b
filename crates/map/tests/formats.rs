//! Problems from files: what they say, and what is said about broken ones.

use consonant_map::problem::{Format, FormatError, Kind, Problem, read as read_problem};
use consonant_map::solver::{Limits, Method, solve};
use consonant_map::{Graph, Status};
use consonant_testing::Random;
use consonant_testing::problem::random_problem;

fn read(text: &str, format: Format) -> Result<Graph, FormatError> {
    Graph::from_problem(&read_problem(text, format)?)
}

fn value(text: &str, format: Format) -> (Status, Option<f64>) {
    let graph = read(text, format).unwrap_or_else(|e| panic!("{e}"));
    let solution = solve(&graph, Method::Exact, &Limits::default()).unwrap();
    (solution.certificate.status(), solution.certificate.value())
}

fn near((status, value): (Status, Option<f64>), expected: f64) {
    assert_eq!(status, Status::Optimal);
    let value = value.unwrap();
    assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
}

fn message(text: &str, format: Format) -> String {
    match read(text, format) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

const GRID: &str =
    "MARKOV\n3\n2 3 2\n4\n2 0 1\n2 2 1\n1 2\n0\n\n6\n 1 2 0 3 1 1\n6\n 1e0 1 5  0.5 2 1\n2\n 1 4\n1\n 2.5\n";

#[test]
fn keys_may_come_in_any_order() {
    let [variables, factors] = [
        r#""variables": [{"name": "a", "score": 1}, {"name": "b", "score": 2}]"#,
        r#""factors": [{"kind": "at-most-one", "over": ["a", "b"], "penalty": 3}, {"kind": "implies", "over": ["a", "b"]}]"#,
    ];
    let read = |text: String| consonant_map::problem::read(&text, Format::Json).unwrap();
    let usual = read(format!("{{{variables}, {factors}, \"constant\": 4}}"));
    assert_eq!((usual.variables.len(), usual.constant), (3, 4.0));
    assert_eq!(read(format!("{{\"constant\": 4, {factors}, {variables}}}")), usual);
}

#[test]
fn uai_with_odd_order_constants_and_zeros() {
    // x0 = 1, x1 = 0: 3; x2 = 1, x1 = 0: 0.5, times 4: 6; against x0 = 0, x1 = 1, x2 = 1: 2 · 2 · 4 = 16.
    near(value(GRID, Format::Uai), (16.0f64 * 2.5).ln());
}

#[test]
fn uai_without_a_solution() {
    assert_eq!(value("MARKOV 1 2 2 1 0 1 0 2 0 1 2 1 0", Format::Uai).0, Status::Infeasible);
    assert_eq!(value("MARKOV 0 1 0 1 0", Format::Uai).0, Status::Infeasible);
    near(value("MARKOV 0 1 0 1 1", Format::Uai), 0.0);
    near(value("MARKOV 1 1 1 1 0 1 2", Format::Uai), 2f64.ln());
}

#[test]
fn log_uai_forbids_by_minus_infinity() {
    near(value("MARKOV 2 2 2 1 2 0 1 4 -inf -3 -2.5 -inf", Format::LogUai), -2.5);
}

#[test]
fn uai_cut_anywhere_is_an_error_with_a_line() {
    let complete = GRID.trim_end();
    for end in (0..complete.len()).filter(|&end| complete.as_bytes()[end].is_ascii_whitespace()) {
        let error =
            read(&complete[..end], Format::Uai).err().unwrap_or_else(|| panic!("accepted {end} bytes"));
        assert!(error.line.is_some(), "{error}");
    }
}

#[test]
fn uai_nonsense_is_named() {
    let cases = [
        ("GIBBS 1 2 0", "expected `MARKOV`"),
        ("MARKOV x", "expected the number of variables, found `x`"),
        ("MARKOV 1 0 0", "0 states"),
        ("MARKOV 1 2 1 1 7", "names variable 7"),
        ("MARKOV 2 2 2 1 2 0 0", "twice"),
        ("MARKOV 1 2 1 1 0 3 1 1 1", "declares 3 entries"),
        ("MARKOV 1 2 1 1 0 2 -1 1", "zero or more"),
        ("MARKOV 1 2 1 1 0 2 nan 1", "zero or more"),
        ("MARKOV 1 2 1 1 0 2 1 1 9", "expected the end"),
        ("MARKOV 99999999999 2", "cut short"),
        ("MARKOV 1 2 99999999999", "cut short"),
        ("MARKOV 2 99999 99999 1 2 0 1 9999800001", "more than"),
        ("MARKOV 3 999999 999999 999999 0", "more than the file has bytes"),
        ("MARKOV 1 99999999 0", "99999999 states"),
    ];
    for (text, expected) in cases {
        let message = message(text, Format::Uai);
        assert!(message.contains(expected) && message.starts_with("line "), "{text}: {message}");
    }
}

#[test]
fn fg_factors_and_negation() {
    // x1 or not x2; exactly one of x2, x3; x4 = x1 or x3; pair of 1 and 3.
    let text = "4\n4\n1\n0.5\n-1\n-0.25\nOR 2 1 -2\nXOR 2 2 3\nOROUT 3 1 3 4\nPAIR 2 1 3 2\n";
    near(value(text, Format::Fg), 1.0 - 1.0 - 0.25 + 2.0);
    assert!(message("2\n1\n0\n0\nOR 2 1 3\n", Format::Fg).contains("variable 3"));
    assert!(message("2\n1\n0\n0\nNAND 2 1 2\n", Format::Fg).contains("unknown type `NAND`"));
    assert!(message("2\n1\n0\n0\nOR 0\n", Format::Fg).contains("empty"));
    assert!(message("2\n2\n0\n0\nOR 2 1 2\n", Format::Fg).contains("cut short"));
}

fn json(variables: &str, factors: &str) -> String {
    format!(r#"{{"variables": [{variables}], "factors": [{factors}]}}"#)
}

const FOUR: &str =
    r#"{"name":"a","score":1},{"name":"b","score":2},{"name":"c","score":-1},{"name":"d","score":0.5}"#;

#[test]
fn json_logic() {
    let cases = [
        (r#"{"kind":"exactly-one","over":["a","b","c"]}"#, 2.5),
        (r#"{"kind":"at-most-one","over":["a","b","d"]}"#, 2.0),
        (r#"{"kind":"at-least-one","over":["c","!b"]}"#, 2.5),
        (r#"{"kind":"implies","over":["b","c"]}"#, 2.5),
        (r#"{"kind":"or-with-output","over":["a","b"],"output":"c"}"#, 2.5),
        (r#"{"kind":"and-with-output","over":["a","b"],"output":"c"}"#, 2.5),
        (r#"{"kind":"xor-with-output","over":["a","b"],"output":"d"}"#, 2.5),
        (r#"{"kind":"pair","over":["a","b"],"score":-4}"#, 2.5),
        (r#"{"kind":"pattern","over":["a","b","d"],"score":-4}"#, 3.0),
        (r#"{"kind":"budget","over":["a","b","d"],"limit":2}"#, 3.0),
        (r#"{"kind":"knapsack","over":["a","b","d"],"costs":[2,3,1],"limit":3.5}"#, 2.0),
    ];
    for (factor, expected) in cases {
        println!("{factor}");
        near(value(&json(FOUR, factor), Format::Json), expected);
    }
}

#[test]
fn json_structures() {
    let tags = r#"{"name":"x","states":["N","V"],"scores":[1,0]},{"name":"y","scores":[0,0.5]},{"name":"z","scores":[0,0.25]}"#;
    let cases = [
        (r#"{"kind":"table","over":["x","y"],"scores":[[0,"-inf"],[2,0]]}"#, 2.25),
        (r#"{"kind":"sequence","over":["x","y","z"],"pairs":[[0,-2],[0,1]]}"#, 2.75),
        (r#"{"kind":"sequence","over":["x","y","z"],"pairs":[0,-2,0,1,0,0,0,-9]}"#, 1.5),
        (
            r#"{"kind":"tree-labelling","over":["x","y","z"],"edges":[[0,1],[0,2]],"tables":[0,-3,0,0,0,0,0,3]}"#,
            3.75,
        ),
        (r#"{"kind":"at-most-one","over":["x=N","y=1"]}"#, 1.25),
    ];
    for (factor, expected) in cases {
        println!("{factor}");
        near(value(&json(tags, factor), Format::Json), expected);
    }
    let arcs =
        r#"{"name":"01","score":1},{"name":"02","score":3},{"name":"12","score":2},{"name":"21","score":4}"#;
    let arborescence =
        r#"{"kind":"arborescence","over":["01","02","12","21"],"arcs":[[0,1],[0,2],[1,2],[2,1]]}"#;
    near(value(&json(arcs, arborescence), Format::Json), 7.0);
    let budget =
        r#"{"kind":"tree-budget","over":["01","02","12"],"parents":[null,0,1],"lengths":[1,1,1],"limit":2}"#;
    near(value(&json(arcs, budget), Format::Json), 8.0);
    near(value(&json(FOUR, r#"{"kind":"cut","over":["b","c"],"pairs":[[0,1,1.5]]}"#), Format::Json), 4.0);
}

#[test]
fn json_coverage() {
    let text = r#"{"lengths":[2,3,2],"budget":4,"weights":[1,2,3],"sentences_of_concept":[[0],[0,1],[2]]}"#;
    near(value(text, Format::Json), 6.0);
}

#[test]
fn json_nonsense_is_named() {
    let cases = [
        ("{", "not valid JSON"),
        ("[]", "expected an object"),
        (r#"{"variables": 3}"#, "expected a list as `variables`"),
        (r#"{"factors": {}, "variables": []}"#, "expected a list as `factors`"),
        ("{}", "`variables` is missing"),
        (r#"{"variables":[{"score":1}]}"#, "variables[0]: `name` is missing"),
        (r#"{"variables":[{"name":"a"},{"name":"a"}]}"#, "already"),
        (r#"{"variables":[{"name":"a","score":"high"}]}"#, "variables[0].score: expected a number"),
        (r#"{"variables":[{"name":"a","scores":[]}]}"#, "empty"),
        (r#"{"variables":[{"name":"a","states":["x"],"scores":[1,2]}]}"#, "1 states, but 2 scores"),
        (r#"{"variables":[{"name":"a","weight":1}]}"#, "unknown key `weight`"),
        (&json(FOUR, r#"{"kind":"nand","over":["a"]}"#), "unknown kind `nand`"),
        (&json(FOUR, r#"{"kind":"pair","over":["a","e"],"score":1}"#), "unknown variable `e`"),
        (&json(FOUR, r#"{"kind":"pair","over":["a"],"score":1}"#), "expected two literals"),
        (&json(FOUR, r#"{"kind":"budget","over":["a"],"limit":-1}"#), "zero or more"),
        (&json(FOUR, r#"{"kind":"knapsack","over":["a"],"costs":[-1],"limit":1}"#), "zero or more"),
        (
            &json(FOUR, r#"{"kind":"knapsack","over":["a"],"costs":[1,2],"limit":1}"#),
            "expected 1 entries, got 2",
        ),
        (
            &json(FOUR, r#"{"kind":"knapsack","over":["a","b"],"costs":[1e308,1],"limit":1}"#),
            "factors[0] (knapsack): a knapsack has costs and a limit that sum to more than 1e300",
        ),
        (
            &json(
                FOUR,
                r#"{"kind":"linear","over":["a","b"],"coefficients":[1,1e308],"relation":"<=","limit":1}"#,
            ),
            "factors[0] (linear): the numbers of a linear constraint are neither infinite nor NaN",
        ),
        (&json(FOUR, r#"{"kind":"knapsack","over":["a"],"costs":[1],"limit":"inf"}"#), "more than 1e300"),
        (&json(FOUR, r#"{"kind":"exactly-one","over":[]}"#), "empty"),
        (
            &json(FOUR, r#"{"kind":"tree-budget","over":["a","b"],"parents":[1,0]}"#),
            "factors[0] (tree-budget)",
        ),
        (&json(FOUR, r#"{"kind":"arborescence","over":["a"],"arcs":[[0,0]]}"#), "factors[0] (arborescence)"),
        (&json(FOUR, r#"{"kind":"cut","over":["a","b"],"pairs":[[0,1,-2]]}"#), "factors[0] (cut)"),
    ];
    for (text, expected) in cases {
        let message = message(text, Format::Json);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn mutated_problems_never_panic() {
    let originals = [
        (GRID.to_string(), Format::Uai),
        ("3\n2\n1\n0.5\n-1\nOR 2 1 -2\nXOR 2 2 3\n".to_string(), Format::Fg),
        (json(FOUR, r#"{"kind":"knapsack","over":["a","b"],"costs":[2,3],"limit":3.5}"#), Format::Json),
        ("Max\n c: 3 x - y\nSt\n -1 <= x + y <= 1\nBounds\n y <= 1\nBin\n x\nGen\n y\nEnd\n".to_string(), Format::Lp),
        ("ROWS\n N c\n L r\nCOLUMNS\n x c 1 r 1\nRHS\n s r 1\nRANGES\n s r 1\nBOUNDS\n BV b x\nENDATA\n".to_string(), Format::Mps),
        ("p 2 2 2 9\n2 2\n2 0 1 3 1\n0 1 9\n1 0 0 1\n1 2\n".to_string(), Format::Wcsp),
        (r#"{"problem":{"mustbe":"<9"},"variables":{"a":["n","y"],"b":2},"functions":{"f":{"scope":["a","b"],"defaultcost":1,"costs":["n",1,9]}}}"#.to_string(), Format::Cfn),
    ];
    let alphabet = b"0123456789-.einfN{}[]\",: \n!";
    let mut state = 12345u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for (original, format) in originals {
        for _ in 0..3000 {
            let mut bytes = original.clone().into_bytes();
            for _ in 0..1 + random(3) {
                let at = random(bytes.len());
                match random(3) {
                    0 => bytes[at] = alphabet[random(alphabet.len())],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, alphabet[random(alphabet.len())]),
                }
            }
            let text = String::from_utf8(bytes).expect("ASCII");
            // Sizes may have become large; reading must stay bounded by the text.
            if let Ok(graph) = read(&text, format)
                && graph.slots() < 1000
            {
                let limits = Limits { max_iterations: Some(50), ..Limits::default() };
                solve(&graph, Method::Ad3, &limits).unwrap();
            }
        }
    }
}

/// The best assignment, its value as the problem states it.
fn best(text: &str, format: Format) -> consonant_map::Solution {
    let problem = consonant_map::problem::read(text, format).unwrap_or_else(|e| panic!("{e}"));
    let graph = Graph::from_problem(&problem).unwrap_or_else(|e| panic!("{e}"));
    solve(&graph, Method::Exact, &Limits::default()).unwrap().stated(&problem)
}

#[test]
fn programs_of_others_are_read() {
    let lp = "\\ comment\nMinimize\n cost: 3 x + 2y - z + 4\nst\n c1: x + y + z >= 2\n 0 <= x - y <= 1\n\
              Bounds\n z = 1\n x <= 1\nGeneral\n x\nBinary\n y\nEnd\n";
    let mps = "NAME\nROWS\n N cost\n G c1\n L c2\nCOLUMNS\n M1 'MARKER' 'INTORG'\n x cost 3 c1 1\n x c2 1\n\
               \x20y cost 2 c1 1\n y c2 -1\n M2 'MARKER' 'INTEND'\n z cost -1 c1 1\nRHS\n r c1 2 c2 1\n\
               \x20r cost -4\nRANGES\n g c2 1\nBOUNDS\n UP b x 1\n BV b y\n FX b z 1\nENDATA\n";
    for (text, format) in [(lp, Format::Lp), (mps, Format::Mps)] {
        assert_eq!(Format::guess("-", text), Some(format));
        let found = best(text, format);
        // x alone: 3 − 1 + 4.
        assert_eq!(
            (found.certificate.value(), found.assignment()),
            (Some(6.0), Some(&[1, 0][..])),
            "{format:?}"
        );
    }
    for (text, format, line, word) in [
        ("Maximize\n x\nSubject To\n x + y <= 1\nBinary\n x\nEnd", Format::Lp, 4, "`y` is not an integer"),
        ("Maximize\n x + \nSubject To\n x <\nEnd", Format::Lp, 5, "a number on the right"),
        ("Maximize\n [ x ^ 2 ]\nEnd", Format::Lp, 2, "products"),
        ("x + y", Format::Lp, 1, "Maximize or Minimize"),
        ("ROWS\n N a\nCOLUMNS\n x b 1\n", Format::Mps, 4, "unknown row `b`"),
        ("ROWS\n N a\nCOLUMNS\n x a one\n", Format::Mps, 4, "expected a number"),
        ("Maximize\n x - 1e400 y\nEnd", Format::Lp, 2, "expected a number, found `1e400"),
        ("ROWS\n N a\nCOLUMNS\n x a -1e400\n", Format::Mps, 4, "expected a number, found `-1e400`"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 1e400\n", Format::Uai, 7, "found `1e400`"),
        ("ROWS\n N a\n", Format::Mps, 2, "ENDATA"),
        ("SOS\n", Format::Mps, 1, "`SOS` is not read"),
        ("p 1 2 1 9\n2\n1 1 0 1\n0 1\n", Format::Wcsp, 3, "expected 0 to 0"),
        ("p 1 2 1 9\n2\n1 0 -1 salldiff\n", Format::Wcsp, 3, "only tables"),
        ("p 1 2 1 9\n2\n1 0 0 1\n2 1\n", Format::Wcsp, 4, "not a tuple"),
    ] {
        let error = read(text, format).map(drop).unwrap_err();
        assert_eq!(error.line, Some(line), "{text}: {error}");
        assert!(error.message.contains(word), "{text}: {error}");
    }
}

#[test]
fn cost_functions_are_read() {
    let wcsp = "map 2 3 4 10\n2 3\n2 0 1 10 2\n0 1 1\n1 2 0\n1 0 0 1\n1 4\n1 1 2 0\n0 0 1\n3\n";
    let cfn = r#"{"problem": {"name": "map", "mustbe": "<10"}, "variables": {"a": ["n", "y"], "b": 3},
        "functions": {"f": {"scope": ["a", "b"], "defaultcost": 10, "costs": ["n", 1, 1, "y", 2, 0]},
                      "g": {"scope": ["a"], "costs": [0, 4]}, "h": {"scope": ["b"], "costs": [2, 2, 2]},
                      "constant": {"scope": [], "costs": [3]}}}"#;
    for (text, format) in [(wcsp, Format::Wcsp), (cfn, Format::Cfn)] {
        let found = best(text, format);
        assert_eq!(
            (found.certificate.value(), found.assignment()),
            (Some(6.0), Some(&[0, 1][..])),
            "{format:?}"
        );
    }
    assert_eq!(Format::guess("-", cfn), Some(Format::Cfn));
    let most = cfn.replace("<10", ">0").replace("10,", "-10,");
    let found = best(&most, Format::Cfn);
    assert_eq!((found.certificate.value(), found.assignment()), (Some(9.0), Some(&[1, 2][..])));
    for (change, word) in [
        (("\"b\"]", "\"c\"]"), "functions.f: `scope` names"),
        (("[2, 2, 2]", "[2, 2]"), "functions.h: expected 3 costs, found 2"),
        (("\"y\", 2", "\"z\", 2"), "functions.f: `a` has no state"),
        (("<10", "10"), "problem.mustbe"),
    ] {
        let error = read(&cfn.replace(change.0, change.1), Format::Cfn).map(drop).unwrap_err();
        assert!(error.message.contains(word), "{error}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let mut random = Random::new(3);
    for _ in 0..500 {
        let problem = random_problem(&mut random);
        let text = problem.to_json();
        let again = read_problem(&text, Format::Json).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(again.variables, problem.variables, "{text}");
        assert_eq!((again.factors, again.constant), (problem.factors, problem.constant), "{text}");
    }
    let costs = r#"{"minimize": true, "constant": 1, "variables": [{"name": "a", "score": 2}, {"name": "x", "states": ["p", "q"], "scores": [3, "inf"]}],
        "factors": [{"kind": "at-least-one", "over": ["a", "x=q"], "penalty": 5}, {"kind": "pair", "over": ["a", "x=p"], "score": -4}]}"#;
    let problem = read_problem(costs, Format::Json).unwrap();
    let again = read_problem(&problem.to_json(), Format::Json).unwrap();
    assert!(again.minimized);
    assert_eq!((again.variables, again.factors), (problem.variables, problem.factors));
    // Names that the form has no room for are numbers.
    let mut odd = Problem::new();
    let (one, other) = (odd.binary("a=b", 1.0), odd.binary("a=b", 2.0));
    odd.constrain(Kind::AtMostOne, vec![one, !other]);
    let again = read_problem(&odd.to_json(), Format::Json).unwrap();
    assert_eq!((&*again.variables[1].name, again.factors), ("1", odd.factors));
}
