//! What programs see and what becomes of what they return.

use serde_json::json;

use crate::support::value;

#[test]
fn smoke() {
    assert_eq!(
        value("module.exports = (a) => ({ x: 1, y: [1.5, 'ä', null, true], t: typeof a })"),
        json!({"x":1,"y":[1.5,"ä",null,true],"t":"object"})
    );
}
