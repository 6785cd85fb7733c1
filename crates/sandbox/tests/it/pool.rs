//! Workers: how they start, what they lack, how they end.

use crate::support::POOL;

#[test]
fn jail() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let report = runtime.block_on(POOL.jail()).expect("a worker");
    assert!(report.is_complete(), "{report:?}");
}
