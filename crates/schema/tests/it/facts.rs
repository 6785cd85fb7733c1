//! The checked cases of the project's research, where they are at hand.

use serde_json::Value;
use toolwright_schema::Schema;

/// Cases about JSON text, which is read elsewhere.
const ABOUT_TEXT: [&str; 2] = ["duplicate keys", "trailing garbage"];

#[test]
fn facts_hold() {
    let Ok(shared) = std::env::var("TOOLWRIGHT_SHARED") else {
        eprintln!("SKIPPED: facts/validator.json is not checked, TOOLWRIGHT_SHARED is not set");
        return;
    };
    let text = std::fs::read_to_string(format!("{shared}/facts/validator.json"))
        .expect("the facts are readable");
    let facts: Value = serde_json::from_str(&text).expect("the facts are JSON");
    let mut checked = 0;
    for case in facts["cases"].as_array().expect("a list of cases") {
        let text = |key: &str| case[key].as_str().expect("a string");
        if ABOUT_TEXT.contains(&text("name")) {
            continue;
        }
        let schema = serde_json::from_str(text("schema")).expect("a schema");
        let instance = serde_json::from_str(text("instance")).expect("an instance");
        let actual = match Schema::compile(&schema) {
            Ok(schema) if schema.is_valid(&instance) => "valid",
            Ok(_) => "invalid",
            Err(error) => error.code(),
        };
        let expected = match text("recommended").split(['+', ' ']).next() {
            Some("ErrInvalidSchema" | "no") => "INVALID_SCHEMA",
            Some("ErrUnsupportedSchema") => "UNSUPPORTED_DIALECT",
            Some("ErrExternalRef") => "EXTERNAL_REF",
            Some(answer) => answer,
            None => unreachable!("split yields something"),
        };
        assert_eq!(actual, expected, "{}", text("name"));
        checked += 1;
    }
    eprintln!("facts/validator.json: {checked} cases hold");
    assert!(checked > 70, "only {checked} cases");
}
