//! What `/metrics` tells, in Prometheus' text form.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::gate::Gate;

/// Upper ends of the buckets, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

#[derive(Debug, Default)]
pub struct Metrics {
    /// By path and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    seconds: Mutex<BTreeMap<&'static str, Histogram>>,
    pub words: AtomicU64,
    pub connections: AtomicUsize,
    pub reloads: AtomicU64,
}

#[derive(Debug, Default)]
struct Histogram {
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

impl Metrics {
    /// Counts a request; `path` is a route, never what a client made up.
    pub fn request(&self, path: &'static str, status: u16, took: Duration) {
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry((path, status)).or_default() += 1;
        let mut seconds = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = seconds.entry(path).or_default();
        let took = took.as_secs_f64();
        if let Some(bucket) = BUCKETS.iter().position(|&end| took <= end) {
            histogram.counts[bucket] += 1;
        }
        histogram.count += 1;
        histogram.sum += took;
    }

    /// Everything, as text.
    pub fn text(&self, gates: &[(&str, &Gate)]) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP consonant_{name} {help}\n# TYPE consonant_{name} {kind}");
        };
        head(&mut text, "requests_total", "counter", "Requests answered.");
        for ((path, status), count) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(text, "consonant_requests_total{{path=\"{path}\",status=\"{status}\"}} {count}");
        }
        head(&mut text, "request_seconds", "histogram", "Seconds from a request's head to its answer's.");
        for (path, histogram) in self.seconds.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let mut sum = 0;
            for (end, count) in BUCKETS.iter().zip(histogram.counts) {
                sum += count;
                let _ =
                    writeln!(text, "consonant_request_seconds_bucket{{path=\"{path}\",le=\"{end}\"}} {sum}");
            }
            let Histogram { count, sum, .. } = histogram;
            let _ = writeln!(
                text,
                "consonant_request_seconds_bucket{{path=\"{path}\",le=\"+Inf\"}} {count}\n\
                 consonant_request_seconds_sum{{path=\"{path}\"}} {sum}\n\
                 consonant_request_seconds_count{{path=\"{path}\"}} {count}"
            );
        }
        head(&mut text, "running", "gauge", "Requests that are worked on.");
        for (name, gate) in gates {
            let _ = writeln!(text, "consonant_running{{lane=\"{name}\"}} {}", gate.load().0);
        }
        head(&mut text, "waiting", "gauge", "Requests that wait for their turn.");
        for (name, gate) in gates {
            let _ = writeln!(text, "consonant_waiting{{lane=\"{name}\"}} {}", gate.load().1);
        }
        let numbers = [
            ("words_total", "counter", "Words annotated.", self.words.load(Ordering::Relaxed)),
            ("connections", "gauge", "Open connections.", self.connections.load(Ordering::Relaxed) as u64),
            ("model_reloads_total", "counter", "Reloads of models.", self.reloads.load(Ordering::Relaxed)),
        ];
        for (name, kind, help, number) in numbers {
            head(&mut text, name, kind, help);
            let _ = writeln!(text, "consonant_{name} {number}");
        }
        text
    }
}
