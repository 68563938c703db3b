//! Two links and a score that counts when both are on.

/// The proximal step of a pair (Martins et al. 2015, section 5.3). `score` is already divided by eta.
pub(super) fn project(point: &mut [f64], score: f64) {
    if score < 0.0 {
        // Negating the second link turns the product x·y into x − x·(1−y): a pair with a positive score.
        point[0] += score;
        point[1] = 1.0 - point[1];
        attract(point, -score);
        point[1] = 1.0 - point[1];
    } else {
        attract(point, score);
    }
}

fn attract(point: &mut [f64], score: f64) {
    let (a, b) = (point[0], point[1]);
    (point[0], point[1]) = if a > b + score {
        (a, b + score)
    } else if b > a + score {
        (a + score, b)
    } else {
        let mean = 0.5 * (a + b + score);
        (mean, mean)
    };
    point[0] = point[0].clamp(0.0, 1.0);
    point[1] = point[1].clamp(0.0, 1.0);
}

pub(super) fn maximize(scores: &[f64], score: f64, best: &mut [f64]) -> f64 {
    let (a, b) = (scores[0], scores[1]);
    let (mut value, mut on) = (0.0, (0.0, 0.0));
    for (candidate, state) in [(a, (1.0, 0.0)), (b, (0.0, 1.0)), (a + b + score, (1.0, 1.0))] {
        if candidate > value {
            (value, on) = (candidate, state);
        }
    }
    (best[0], best[1]) = on;
    value
}
