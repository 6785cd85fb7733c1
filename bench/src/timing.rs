//! Rounds, medians and percentiles. Medians, because the mean of a few rounds is that of its worst.

use std::time::{Duration, Instant};

/// How long `work` takes, in wall-clock time.
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Measures both in turn, `rounds` times after one that warms up. Returns the median time of ours,
/// that of the peer, and the median of the ratios ours / peer: a round in which the machine was
/// slow slows both, so the ratios vary less than the times.
pub(crate) fn compare(
    rounds: usize,
    mut ours: impl FnMut(),
    mut peer: impl FnMut(),
) -> (Duration, Duration, f64) {
    ours();
    peer();
    let pairs: Vec<_> = (0..rounds).map(|_| (time(&mut ours), time(&mut peer))).collect();
    let ratio = |(a, b): &(Duration, Duration)| a.as_secs_f64() / b.as_secs_f64();
    (
        median(pairs.iter().map(|p| p.0).collect()),
        median(pairs.iter().map(|p| p.1).collect()),
        median(pairs.iter().map(ratio).collect()),
    )
}

/// The middle value, the upper one of an even number.
pub(crate) fn median<T: PartialOrd + Copy>(values: Vec<T>) -> T {
    quantile(values, 0.5)
}

/// The value that a share `q` (0 to 1) of all values lies below. `values` must not be empty.
pub(crate) fn quantile<T: PartialOrd + Copy>(mut values: Vec<T>, q: f64) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("times and ratios are ordered"));
    values[((values.len() as f64 * q) as usize).min(values.len() - 1)]
}

pub(crate) fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The last word of a line that has a bound.
pub(crate) fn verdict(holds: bool) -> &'static str {
    if holds { "ok" } else { "MISSED" }
}
