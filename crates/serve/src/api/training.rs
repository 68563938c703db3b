//! `GET /v1/training`: the log of a training (`consonant train … --log FILE`) as it grows.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::problem::Problem;
use crate::shared::Shared;

/// From where.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingQuery {
    /// The byte at which to go on, as the last answer said in `next`.
    #[serde(default)]
    from: u64,
}

/// What was added to the log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrainingAnswer {
    /// The file.
    file: String,
    /// Where to go on.
    next: u64,
    /// Whether the file was begun anew, so that what was told before is void.
    restarted: bool,
    /// The lines that are complete.
    events: Vec<Value>,
}

/// Bytes that are read at a time.
const MOST: u64 = 1 << 20;

/// Reads what was added.
pub fn read(shared: &Shared, query: TrainingQuery) -> Result<TrainingAnswer, Problem> {
    let path = shared.log.as_ref().ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "no training is watched; name its log (`consonant serve --log FILE`)",
        )
    })?;
    let failed =
        |error: std::io::Error| Problem::new(StatusCode::NOT_FOUND, format!("{}: {error}", path.display()));
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let restarted = query.from > length;
    let from = if restarted { 0 } else { query.from };
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).map_err(failed)?;
    let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let lines = bytes[..complete].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let event = |line: &[u8]| {
        serde_json::from_slice(line)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(line).into_owned()))
    };
    Ok(TrainingAnswer {
        file: path.display().to_string(),
        next: from + complete as u64,
        restarted,
        events: lines.map(event).collect(),
    })
}
