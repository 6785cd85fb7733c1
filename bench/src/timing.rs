//! Rounds, medians and percentiles.

use std::time::{Duration, Instant};

/// How long `work` takes.
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Times both in turn, `rounds` times; the median time of each and the median of the ratios.
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

pub(crate) fn median<T: PartialOrd + Copy>(values: Vec<T>) -> T {
    quantile(values, 0.5)
}

/// The value that the share `q` of all values is below.
pub(crate) fn quantile<T: PartialOrd + Copy>(mut values: Vec<T>, q: f64) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("times and ratios are ordered"));
    values[((values.len() as f64 * q) as usize).min(values.len() - 1)]
}

pub(crate) fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The last word of a line with a bound.
pub(crate) fn verdict(holds: bool) -> &'static str {
    if holds { "ok" } else { "MISSED" }
}
