//! Every operation does what it says.

use serde_json::{Value, json};

use crate::client::Running;

const TEXT: &str = "Ann Smith lives in Kiel. She can't work for Google in Kiel.";

#[test]
fn text_becomes_sentences_with_places_in_it() {
    let server = Running::plain();
    let request = json!({"text": TEXT, "confidence": true, "certificate": true});
    let answer = server.post("/v1/annotate", &request.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    let sentences = answer["sentences"].as_array().unwrap();
    assert_eq!(sentences.len(), 2);
    for entity in sentences.iter().flat_map(|sentence| sentence["entities"].as_array().unwrap()) {
        let [start, end] = ["start_char", "end_char"].map(|key| entity[key].as_u64().unwrap() as usize);
        assert_eq!(&TEXT[start..end], entity["text"].as_str().unwrap());
    }
    let last = sentences[1]["entities"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["text"], &last["type"]), (&json!("Kiel"), &json!("LOC")));
    let sure = |of: &Value, key: &str| (0.0..=1.0).contains(&of[key].as_f64().unwrap());
    for token in sentences[0]["tokens"].as_array().unwrap() {
        assert!(sure(token, "tag_confidence") && sure(token, "head_confidence"), "{token}");
    }
    assert!(sure(last, "confidence"), "{last}");
    assert_eq!(answer["certificates"][0]["tree"][0]["status"], "optimal");
}

#[test]
fn layers_and_formats_are_chosen_by_the_client() {
    let server = Running::plain();
    let bare = server.post("/v1/annotate", &json!({"text": TEXT, "layers": []}).to_string()).json();
    assert_eq!(bare["sentences"][0]["tokens"][0].get("upos"), None);
    let body = json!({"documents": [{"id": "a", "text": TEXT}, {"id": "b", "text": "No."}]}).to_string();
    let lines = server.post_as("/v1/annotate", "application/json", "Accept: application/x-ndjson\r\n", &body);
    let docs: Vec<Value> = lines
        .text()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["doc"].clone())
        .collect();
    assert_eq!(docs, ["a", "a", "b"]);
    let conllu =
        server.post_as("/v1/annotate", "application/json", "Accept: text/x-conllu\r\n", &body).text();
    assert!(conllu.contains("\tKiel\tKiel\tPROPN\t"), "{conllu}");
    let svg = server.post_as("/v1/annotate", "application/json", "Accept: image/svg+xml\r\n", &body).text();
    assert!(svg.starts_with("<svg"), "{svg}");
}

#[test]
fn a_stream_is_answered_line_by_line_and_says_where_it_is_wrong() {
    let server = Running::plain();
    let body = "{\"text\": \"Ann sleeps.\"}\n\n{\"id\": \"x\", \"text\": \"Bob wakes. Ann sleeps.\"}\n{\"text\": 5}\n";
    let answer = server.post_as("/v1/annotate", "application/x-ndjson", "", body);
    assert_eq!(answer.status, 200);
    // All of one batch fails together with its line.
    let last: Value = serde_json::from_str(answer.text().lines().last().unwrap()).unwrap();
    assert!(last["detail"].as_str().unwrap().starts_with("line 4: "), "{last}");
    let good =
        server.post_as("/v1/annotate", "application/x-ndjson", "", &body.replace("{\"text\": 5}\n", ""));
    let docs: Vec<String> = good
        .text()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["doc"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(docs, ["1", "x", "x"]);
}

#[test]
fn problems_are_solved_proven_and_verified() {
    let server = Running::plain();
    let problem = json!({
        "variables": [{"name": "a", "score": 1}, {"name": "b", "score": 2}],
        "factors": [{"kind": "at-most-one", "over": ["a", "b"]}],
    });
    for method in ["exact", "ad3", "subgradient", "two-slave", "tree-cut", "spanning-trees"] {
        let path = format!("/v1/solve?method={method}&trace=true");
        let answer = server.post(&path, &problem.to_string()).json();
        assert_eq!(
            (&answer["status"], &answer["assignment"]["b"]),
            (&json!("optimal"), &json!(1)),
            "{method}"
        );
    }
    let answer = server.post("/v1/solve?proof=true", &problem.to_string()).json();
    let mut request = json!({"problem": problem, "proof": answer["proof"]});
    let verified = server.post("/v1/verify", &request.to_string()).json();
    assert_eq!((&verified["verified"], &verified["bound"]), (&json!(true), &json!(2.0)));
    request["proof"]["bound"] = json!(1.5);
    let refused = server.post("/v1/verify", &request.to_string()).json();
    assert_eq!(refused["verified"], false);
    assert!(refused["reason"].as_str().unwrap().contains("claimed 1.5"), "{refused}");
    let costs = json!({
        "minimize": true,
        "variables": [{"name": "a", "score": 1}, {"name": "b", "score": 2}],
        "factors": [{"kind": "at-least-one", "over": ["a", "b"]}],
    });
    let least = server.post("/v1/solve?proof=true", &costs.to_string()).json();
    assert_eq!(
        (&least["value"], &least["bound"], &least["assignment"]["a"]),
        (&json!(1.0), &json!(1.0), &json!(1))
    );
    let request = json!({"problem": costs, "proof": least["proof"]});
    let verified = server.post("/v1/verify", &request.to_string()).json();
    assert_eq!((&verified["value"], &verified["bound"]), (&json!(1.0), &json!(1.0)));
    let request = json!({"problem": costs, "methods": ["ad3"]});
    let traced = server.post("/v1/trace", &request.to_string()).json();
    assert_eq!(traced["runs"][0]["proven"]["value"], 1.0, "{traced}");
    let points = traced["runs"][0]["trace"].as_array().unwrap();
    assert!(
        !points.is_empty() && points.iter().all(|point| point["bound"].as_f64() >= Some(-1e-9)),
        "{traced}"
    );
    let text = server.post_as("/v1/solve", "text/plain", "", "MARKOV\n1\n2\n1\n1 0\n2\n0.25 0.75\n").json();
    assert_eq!(text["assignment"]["0"], 1, "{text}");
    let unknown = server.post("/v1/solve?method=magic", &problem.to_string());
    assert_eq!(unknown.status, 400);
    assert!(unknown.problem().contains("magic"));
    let malformed = server.post("/v1/solve", r#"{"variables": [], "factors": [{"kind": "no"}]}"#);
    assert_eq!(malformed.status, 422);
}

#[test]
fn summaries_keep_their_budget_and_are_the_same_again() {
    let server = Running::plain();
    let documents = json!([
        {"id": "one", "text": "The storm hit the northern coast on Monday, and thousands of homes lost power. Officials said that repairs would take days."},
        {"id": "two", "text": "Thousands of homes lost power when the storm hit the northern coast. Schools stayed closed on Tuesday."},
    ]);
    let ask = |words: usize| {
        let answer =
            server.post("/v1/summarize", &json!({"documents": documents, "words": words}).to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let first = ask(14);
    assert!(first["word_count"].as_u64().unwrap() <= 14);
    assert_eq!(first["places"].as_array().unwrap().len(), 2);
    let longer = ask(30);
    assert!(longer["value"].as_f64() >= first["value"].as_f64());
    assert_eq!(ask(14)["summary"], first["summary"]);
    let wrong = server.post("/v1/summarize", &json!({"documents": documents, "wrods": 5}).to_string());
    assert_eq!(wrong.status, 400);
    assert!(wrong.problem().contains("wrods"), "{wrong:?}");
}

#[test]
fn names_agree_more_the_stronger_agreement_is() {
    let server = Running::plain();
    let text = "Marlow left at noon. Nobody in Leeds had told Marlow. MARLOW SHINES FOR EVERTON.";
    let ask = |strength: f64| {
        server.post("/v1/agreement", &json!({"text": text, "strength": strength}).to_string()).json()
    };
    let none = ask(0.0);
    for sentence in none["sentences"].as_array().unwrap() {
        assert_eq!(sentence["alone"], sentence["agreed"]);
    }
    let strong = ask(10.0);
    assert!(strong["ties"].as_array().unwrap().iter().any(|tie| tie["text"] == "Marlow"));
    assert_eq!(strong["units"][0]["status"], "optimal");
    let kind = |sentence: usize, word: &str| {
        let sentence = &strong["sentences"][sentence];
        let place = sentence["words"].as_array().unwrap().iter().position(|w| w == word).unwrap();
        sentence["agreed"][place].as_str().unwrap().split('-').next_back().unwrap().to_owned()
    };
    assert_eq!(kind(0, "Marlow"), kind(1, "Marlow"));
}

#[test]
fn methods_are_traced_on_trees_names_and_ones_own_problems() {
    let server = Running::plain();
    let tree = json!({"text": "The old man the boats near Kiel.", "methods": ["ad3", "subgradient", "exact", "two-slave"]});
    let tree = server.post("/v1/trace", &tree.to_string());
    assert_eq!(tree.status, 200, "{tree:?}");
    let tree = tree.json();
    let runs = tree["runs"].as_array().unwrap();
    assert_eq!(runs[2]["proven"]["status"], "optimal");
    assert!(runs[3]["refused"].as_str().unwrap().contains("two-slave"));
    assert_eq!(runs[2]["chosen"].as_array().unwrap().len(), tree["words"].as_array().unwrap().len());
    let names = json!({"text": "Kiel won. Kiel lost.", "of": "names", "methods": ["two-slave", "ad3"]});
    let names = server.post("/v1/trace", &names.to_string()).json();
    assert_eq!(names["runs"][0]["proven"]["status"], "optimal", "{names}");
    let exact = json!({"problem": {"variables": [{"name": "a", "score": 1}], "factors": []}, "methods": ["exact", "ad3"]});
    let exact = server.post("/v1/trace", &exact.to_string()).json();
    assert_eq!(exact["runs"][0]["cases"], json!([{"depth": 0, "fixed": "", "ruled_out": 0}]), "{exact}");
    assert!(exact["runs"][1].get("cases").is_none(), "only exact search has branches: {exact}");
    let alone = json!({"text": "Kiel won.", "of": "names", "methods": ["two-slave"]});
    assert_eq!(server.post("/v1/trace", &alone.to_string()).status, 422);
}

#[test]
fn predictions_are_scored_and_words_explained() {
    let server = Running::plain();
    let gold = "1\tAnn\t_\tPROPN\t_\t_\t_\t_\t_\t_\n2\truns\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n";
    let ask = |predicted: &str| {
        server
            .post("/v1/evaluate", &json!({"what": "tags", "gold": gold, "predicted": predicted}).to_string())
    };
    assert_eq!(ask(&gold.replace("VERB", "NOUN")).json()["scores"]["accuracy"], 0.5);
    let differs = ask(&gold.replace("Ann", "Bob"));
    assert_eq!(differs.status, 422);
    assert!(differs.problem().contains("`Ann` at gold:1"), "{differs:?}");
    let explained = server.post("/v1/explain", r#"{"text": "Ann runs."}"#).json();
    assert_eq!(explained["sentences"][0][0]["word"], "Ann");
    assert!(!explained["sentences"][0][1]["features"].as_array().unwrap().is_empty());
}

#[test]
fn a_log_is_read_and_linked() {
    let server = Running::plain();
    let log = "[10:03] <ann> which modem is it?\n[10:04] <bob> ann: the blue one\n";
    let answer = server.post("/v1/link", &json!({"id": "x", "log": log}).to_string()).json();
    assert_eq!(
        (&answer["units"][1]["author"], &answer["links"]),
        (&json!("bob"), &json!([[1, 0]])),
        "{answer}"
    );
    let units = json!({"units": answer["units"]}).to_string();
    assert_eq!(server.post("/v1/link", &units).json()["links"], answer["links"]);
    assert_eq!(server.post("/v1/link", "{}").status, 422);
}

#[test]
fn what_there_is_no_model_for_is_said_plainly() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::start(|options| options.models = Some(folder.path().to_owned()));
    let link = server.post("/v1/link", r#"{"units": [{"text": "hello"}]}"#);
    assert_eq!(link.status, 501);
    assert!(link.problem().contains("threads.model"));
    let tree = server.post("/v1/annotate", r#"{"text": "Ann.", "layers": ["tree"]}"#);
    assert_eq!(tree.status, 501);
    // Rules still find sentences, and problems need no model.
    let bare = server.post("/v1/annotate", r#"{"text": "Ann sleeps. Bob wakes."}"#).json();
    assert_eq!(bare["sentences"].as_array().unwrap().len(), 2);
    assert_eq!(server.get("/v1/training").status, 404);
}

#[test]
fn a_training_is_followed_as_its_log_grows() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    std::fs::write(&log, "{\"event\":\"epoch\",\"epoch\":1}\n{\"event\":\"ep").unwrap();
    let server = Running::start(|options| options.log = Some(log.clone()));
    let first = server.get("/v1/training").json();
    assert_eq!(first["events"].as_array().unwrap().len(), 1);
    std::fs::write(&log, "{\"event\":\"epoch\",\"epoch\":1}\n{\"event\":\"epoch\",\"epoch\":2}\n").unwrap();
    let next = server.get(&format!("/v1/training?from={}", first["next"])).json();
    assert_eq!(next["events"][0]["epoch"], 2);
    std::fs::write(&log, "{\"event\":\"note\"}\n").unwrap();
    let anew = server.get(&format!("/v1/training?from={}", next["next"])).json();
    assert_eq!((&anew["restarted"], anew["events"].as_array().unwrap().len()), (&json!(true), 1));
}

#[test]
fn health_metrics_and_models_are_told() {
    let server = Running::plain();
    assert_eq!(server.get("/healthz").text(), "ok\n");
    server.post("/v1/annotate", r#"{"text": "Ann sleeps."}"#);
    let metrics = server.get("/metrics").text();
    assert!(
        metrics.contains("consonant_requests_total{path=\"/v1/annotate\",status=\"200\"} 1"),
        "{metrics}"
    );
    assert!(metrics.contains("consonant_words_total 2"), "{metrics}");
    let models = server.get("/v1/models").json();
    let tasks: Vec<&str> =
        models["models"].as_array().unwrap().iter().map(|model| model["task"].as_str().unwrap()).collect();
    assert!(["tagger", "ner", "parser"].iter().all(|task| tasks.contains(task)), "{tasks:?}");
}
