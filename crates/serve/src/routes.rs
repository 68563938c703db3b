//! Which address does what. Operations are listed once, in `each_operation`, for the router and for the OpenAPI document.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::api::annotate::{Annotate, AnnotateQuery};
use crate::api::bulk::{self, Lines, Source as _, Table};
use crate::api::training::TrainingQuery;
use crate::api::{self, Operation, Written, content_type};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::{assets, guard};

/// Calls a macro or a method with every operation.
macro_rules! each_operation {
    ($call:ident) => {
        $call!(crate::api::annotate::Annotate);
        $call!(crate::api::summarize::Summarize);
        $call!(crate::api::link::Link);
        $call!(crate::api::solve::Solve);
        $call!(crate::api::verify::Verify);
        $call!(crate::api::evaluate::Evaluate);
        $call!(crate::api::explain::Explain);
        $call!(crate::api::agreement::Agreement);
        $call!(crate::api::trace::Trace);
    };
}
pub(crate) use each_operation;

/// Everything that the server answers.
pub fn router(shared: Arc<Shared>) -> Router {
    let mut router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi))
        .route("/v1/models", get(models))
        .route("/v1/models/reload", post(reload))
        .route("/v1/training", get(training));
    macro_rules! add {
        ($operation:ty) => {
            router = router.route(<$operation>::PATH, post(run::<$operation>));
        };
    }
    each_operation!(add);
    for path in assets::paths() {
        router =
            router.route(path, get(move |headers: HeaderMap| async move { assets::respond(path, &headers) }));
    }
    router
        .fallback(|uri: Uri| async move {
            Problem::new(StatusCode::NOT_FOUND, format!("there is nothing at {}", uri.path()))
        })
        .method_not_allowed_fallback(|| async {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this address takes another method; see /openapi.json",
            )
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::check))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), measure))
        .with_state(shared)
}

/// Counts requests, and puts on every answer what browsers must know.
async fn measure(State(shared): State<Arc<Shared>>, request: Request<Body>, next: Next) -> Response {
    let start = Instant::now();
    let path = request.uri().path();
    let path = crate::openapi::paths().into_iter().find(|known| *known == path);
    let path = path.unwrap_or(if assets::paths().any(|known| known == request.uri().path()) {
        "page"
    } else {
        "other"
    });
    let mut response = next.run(request).await;
    guard::harden(response.headers_mut());
    shared.metrics.request(path, response.status().as_u16(), start.elapsed());
    response
}

/// Any operation: reads the request, waits for a turn, does the work, writes the answer.
async fn run<O: Operation>(
    State(shared): State<Arc<Shared>>,
    query: RawQuery,
    headers: HeaderMap,
    request: Request<Body>,
) -> Result<Response, Problem> {
    let kind = content_type(&headers).to_owned();
    let query = query.0.as_deref().unwrap_or_default();
    if O::PATH == Annotate::PATH && kind == Lines::KIND {
        return Ok(bulk::respond(Lines::new(shared, request.into_body()), None));
    }
    if O::PATH == Annotate::PATH && kind == Table::KIND {
        let AnnotateQuery { text } = read_query(query)?;
        let mut table = Table::new(shared, request.into_body(), text);
        // What is wrong with the beginning can still be told.
        let first = table.next().await?;
        return Ok(bulk::respond(table, first));
    }
    let query: O::Query = read_query(query)?;
    let body = read_body(&shared, &headers, request.into_body()).await?;
    let accept: Vec<&str> =
        headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let accept = accept.join(",");
    let written =
        shared.work(O::LANE, move |work| O::answer(work, query, O::read(&body, &kind)?, &accept)).await?;
    Ok(respond(written))
}

fn respond(Written { kind, bytes }: Written) -> Response {
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn read_query<Q: serde::de::DeserializeOwned>(query: &str) -> Result<Q, Problem> {
    let uri: Uri = format!("/?{query}").parse().map_err(|_| Problem::bad("the address is malformed"))?;
    let Query(query) = Query::try_from_uri(&uri).map_err(|error| Problem::bad(error.body_text()))?;
    Ok(query)
}

/// The whole body, unless it is too large or too slow.
async fn read_body(shared: &Shared, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    let most = shared.limits.max_bytes;
    let too_large = || {
        Problem::too_large(format!(
            "the body has more than {most} bytes (--max-bytes); send several requests, or a stream of NDJSON"
        ))
    };
    let told = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if told.is_some_and(|told| told > most as u64) {
        return Err(too_large());
    }
    let mut body = Limited::new(body, most);
    let mut bytes = Vec::with_capacity(told.unwrap_or(0) as usize);
    loop {
        let frame = timeout(shared.limits.silence(), body.frame()).await.map_err(|_| {
            Problem::new(StatusCode::REQUEST_TIMEOUT, "no more of the body came (--patience)")
        })?;
        match frame {
            None => return Ok(bytes.into()),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    bytes.extend_from_slice(&data);
                }
            }
            Some(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
            Some(Err(error)) => return Err(Problem::bad(format!("the body ended early: {error}"))),
        }
    }
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let gates = [("sentences", &shared.sentences), ("solvers", &shared.solvers)];
    let text = shared.metrics.text(&gates);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

async fn openapi(State(shared): State<Arc<Shared>>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], shared.openapi.clone()).into_response()
}

async fn models(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let written =
        shared.work(api::Lane::Solvers, |work| Written::json(&api::models::list(&work.models))).await?;
    Ok(respond(written))
}

async fn reload(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    if shared.token.is_none() {
        let text = "models are reloaded by who has the token (--token), or by the signal HUP";
        return Err(Problem::new(StatusCode::FORBIDDEN, text));
    }
    let reload = |work: &api::Work| {
        work.shared.reload()?;
        Written::json(&api::models::list(&work.shared.models()))
    };
    Ok(respond(shared.work(api::Lane::Solvers, reload).await?))
}

async fn training(State(shared): State<Arc<Shared>>, query: RawQuery) -> Result<Response, Problem> {
    let query: TrainingQuery = read_query(query.0.as_deref().unwrap_or_default())?;
    let read = |work: &api::Work| Written::json(&api::training::read(&work.shared, query)?);
    Ok(respond(shared.work(api::Lane::Solvers, read).await?))
}
