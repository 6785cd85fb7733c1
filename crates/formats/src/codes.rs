//! The codes that shape findings carry. Codes of the text itself are in `toolwright_source`.

toolwright_source::codes! {
    MISSING_REQUIRED_FIELD Error "A field that the format requires is absent, null or blank."
    INVALID_TYPE Error "A field holds another type of value than its format says."
    INVALID_ENUM_VALUE Error "A field takes one of a few words, and this is none of them."
    INVALID_SEMVER Error "A version is not a semantic version: MAJOR.MINOR.PATCH, no leading zeros."
    INVALID_PATTERN Error "A text does not have the form its format prescribes."
    INVALID_LENGTH Error "A text or list is shorter or longer than its format allows; lengths count Unicode code points."
    OUT_OF_RANGE Error "A number is smaller or larger than its format allows."
    INVALID_FORMAT Warning "A text should be an address (a URI, an e-mail address) and is not."
    INVALID_SCHEMA Error "A JSON Schema is not one: it must be an object, valid in its dialect."
    UNSUPPORTED_PROTOCOL Error "The document asks for a version of its format that is not supported."
    UNKNOWN_FIELD Info "The format does not know this field. It is kept and written back, and means nothing."
    MISSPELLED_FIELD Warning "The format does not know this field, but one that is spelled almost like it."
    EXTRA_ROOT_KEY Error "An AIOS document has one root key, `tool`; everything else belongs under it."
    UNKNOWN_FORMAT Error "The document is in none of the formats that can be read. `--format` names one."
    AMBIGUOUS_FORMAT Error "The document could be in more than one format. `--format` names one."
    NAMING_CONVENTION Warning "A name works, but does not follow the convention of its format."
}
