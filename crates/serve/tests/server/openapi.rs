//! The OpenAPI document says what the server does.

use serde_json::{Value, json};

use crate::client::Running;
use crate::schema::keep;

/// A request for each operation that has a body.
fn examples() -> Vec<(&'static str, Value)> {
    let problem = json!({"variables": [{"name": "a", "score": 1.5}], "factors": []});
    let proof = json!({"consonant_proof": 1, "assignment": [1], "value": 1.5, "bound": 1.5, "steps": [{"bound": {}}]});
    vec![
        ("/v1/annotate", json!({"text": "Ann can't come to Kiel.", "certificate": true, "confidence": true})),
        ("/v1/summarize", json!({"documents": [{"text": "Rain fell in Kiel. Rain fell."}], "words": 10})),
        ("/v1/link", json!({"units": [{"author": "ann", "text": "hello"}]})),
        ("/v1/solve", problem.clone()),
        ("/v1/verify", json!({"problem": problem, "proof": proof})),
        (
            "/v1/evaluate",
            json!({"what": "links", "gold": "{\"id\":\"a\",\"links\":[[1,0]]}\n", "predicted": "{\"id\":\"a\",\"links\":[[1,0]]}\n"}),
        ),
        ("/v1/explain", json!({"text": "Ann sleeps."})),
        ("/v1/agreement", json!({"text": "Kiel won. Kiel lost."})),
        ("/v1/trace", json!({"text": "Ann sleeps.", "methods": ["ad3"]})),
    ]
}

#[test]
fn every_answer_keeps_its_schema() {
    let server = Running::plain();
    let document = server.get("/openapi.json").json();
    assert_eq!(
        document.to_string(),
        serde_json::from_str::<Value>(&consonant_serve::openapi()).unwrap().to_string()
    );
    let paths = document["paths"].as_object().unwrap();
    let mut asked = 0;
    for (path, request) in examples() {
        let described = &paths[path]["post"];
        let schema = &described["requestBody"]["content"]["application/json"]["schema"];
        keep(&request, schema, &document, path);
        let answer = server.post(path, &request.to_string());
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        keep(
            &answer.json(),
            &described["responses"]["200"]["content"]["application/json"]["schema"],
            &document,
            path,
        );
        let refused = server.post(path, "{");
        keep(
            &refused.json(),
            &described["responses"]["default"]["content"]["application/problem+json"]["schema"],
            &document,
            path,
        );
        asked += 1;
    }
    let posts = paths.values().filter(|path| path.get("post").is_some()).count();
    assert_eq!(posts, asked + 1, "the reload is asked elsewhere");
    for (path, methods) in paths.iter().filter(|(_, methods)| methods.get("get").is_some()) {
        let answer = server.get(path);
        assert!([200, 404].contains(&answer.status), "{path}");
        if let Some(schema) =
            methods["get"]["responses"]["200"]["content"].pointer("/application~1json/schema")
            && answer.status == 200
        {
            keep(&answer.json(), schema, &document, path);
        }
    }
}
