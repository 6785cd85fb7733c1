//! `SchemaValidator`: the rules for the schemas of a tool, and every representation of schemas and
//! instances.

use serde_json::{Map, Value, json};
use toolwright_schema::{
    FormatAssertion, Schema, SchemaOptions, SchemaSide, SchemaSource, SchemaValidator,
    ValidateError,
};

fn object() -> Value {
    json!({ "type": "object", "required": ["a"] })
}

/// The error for the schemas of a tool.
fn rejection<'a>(
    input: impl Into<SchemaSource<'a>>,
    output: impl Into<SchemaSource<'a>>,
) -> (SchemaSide, String) {
    let error = SchemaValidator::new(input, output).expect_err("rejected");
    (error.side, error.error.to_string())
}

#[test]
fn the_input_schema_is_required_and_both_are_objects() {
    let object = object();
    let missing = "invalid schema at the root: no input schema".to_owned();
    assert_eq!(rejection(None::<&Value>, None::<&Value>), (SchemaSide::Input, missing));
    let message =
        |word| format!("invalid schema at the root: the {word} schema of a tool is an object");
    for bad in [json!(true), json!(null), json!([]), json!("{}")] {
        assert_eq!(rejection(&bad, None::<&Value>), (SchemaSide::Input, message("input")));
        assert_eq!(rejection(&object, &bad), (SchemaSide::Output, message("output")));
    }
    assert_eq!(rejection("true", None::<&str>), (SchemaSide::Input, message("input")));
    let anything = Schema::compile(&json!(true)).expect("compiles");
    assert_eq!(rejection(&object, anything), (SchemaSide::Output, message("output")));
    let error = SchemaValidator::new(&object, json!({ "type": 1 })).expect_err("rejected");
    assert!(error.to_string().starts_with("`outputSchema`: invalid schema at `/type`"), "{error}");
}

#[test]
fn results_are_validated_only_with_an_output_schema() {
    let object = object();
    let validator = SchemaValidator::new(&object, None::<&Value>).expect("compiles");
    assert!(!validator.has_output());
    assert!(validator.validate_output(json!("anything")).is_ok());
    assert!(validator.validate_output("not JSON").is_ok());
    assert!(validator.validate_input(json!({})).is_err());
    assert!(validator.validate_input(json!({ "a": 1 })).is_ok());
    let validator = SchemaValidator::new(&object, &object).expect("compiles");
    assert!(validator.has_output());
    assert!(validator.validate_output(json!({})).is_err());
    assert!(validator.validate_output(json!({ "a": 1 })).is_ok());
}

#[test]
fn every_representation_of_a_schema_is_accepted() {
    let map: Map<String, Value> = object().as_object().expect("an object").clone();
    let (value, text) = (object(), object().to_string());
    let compiled = Schema::compile(&value).expect("compiles");
    for (name, source) in [
        ("value", SchemaSource::from(value.clone())),
        ("borrowed value", (&value).into()),
        ("map", map.clone().into()),
        ("borrowed map", (&map).into()),
        ("text", text.as_str().into()),
        ("bytes", text.as_bytes().into()),
        ("compiled", compiled.into()),
        ("some text", Some(text.as_str()).into()),
    ] {
        let validator = SchemaValidator::new(source, None::<&str>).expect(name);
        assert!(validator.validate_input(json!({})).is_err(), "{name}");
        assert!(validator.validate_input(json!({ "a": 1 })).is_ok(), "{name}");
    }
}

#[test]
fn every_representation_of_an_instance_is_accepted() {
    let validator = SchemaValidator::new(object(), object()).expect("compiles");
    let good = json!({ "a": 1 });
    let map = good.as_object().expect("an object");
    let text = good.to_string();
    assert_eq!(validator.validate_input(&good), Ok(()));
    assert_eq!(validator.validate_input(good.clone()), Ok(()));
    assert_eq!(validator.validate_input(map), Ok(()));
    assert_eq!(validator.validate_input(map.clone()), Ok(()));
    assert_eq!(validator.validate_input(text.as_str()), Ok(()));
    assert_eq!(validator.validate_output(text.as_bytes()), Ok(()));
    let missing = "the root: the required property `a` is missing";
    for errors in [
        validator.validate_input(json!({})),
        validator.validate_input(Map::new()),
        validator.validate_input("{}"),
        validator.validate_output(&b"{}"[..]),
    ] {
        assert_eq!(errors.expect_err("invalid").to_string(), missing);
    }
}

#[test]
fn text_that_is_not_json_is_an_error_of_its_side() {
    let error = SchemaValidator::validate("{", "1").expect_err("not JSON");
    let ValidateError::Schema(error) = error else { panic!("{error}") };
    assert_eq!((error.code(), error.at()), ("INVALID_SCHEMA", ""));
    let error = SchemaValidator::validate("{}", r#"{"a": 1, "a": 2}"#).expect_err("ambiguous");
    let ValidateError::Instance(errors) = error else { panic!("{error}") };
    assert_eq!(errors.as_slice().len(), 1);
    assert_eq!(errors.first().keyword, "");
    assert!(errors.first().message.contains("the name `a` appears twice"), "{errors}");
}

#[test]
fn one_value_is_validated_against_any_schema() {
    assert_eq!(SchemaValidator::validate(json!(true), json!(1)), Ok(()));
    assert!(SchemaValidator::validate(json!(false), json!(1)).is_err());
    let error = SchemaValidator::validate(None::<&str>, "1").expect_err("no schema");
    assert_eq!(error.to_string(), "invalid schema at the root: no schema");
    let email = json!({ "format": "email" });
    let options = SchemaOptions { formats: FormatAssertion::Assert };
    assert!(SchemaValidator::validate(&email, json!("x")).is_ok());
    assert!(SchemaValidator::validate_with(&email, json!("x"), &options).is_err());
    let object = json!({ "type": "object", "properties": { "to": email } });
    let validator = SchemaValidator::with_options(&object, None::<&str>, &options);
    assert!(validator.expect("compiles").validate_input(json!({ "to": "x" })).is_err());
}
