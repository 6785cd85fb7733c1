//! Rounds and medians.

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

pub(crate) fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("times and ratios are ordered"));
    values[values.len() / 2]
}
