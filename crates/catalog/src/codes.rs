//! The codes of mistakes in configurations and servers files, and of what keeps a tool from being
//! loaded. Those about the shape of a value are
//! in `toolwright_formats`, those of the text itself in `toolwright_source`.

toolwright_source::codes! {
    UNKNOWN_KEY Error "The configuration has no such key. A key that is not read would be a wish that nobody hears, so it is an error."
    DUPLICATE_SOURCE Error "Two sources have the same name, and ids start with it. Rename one of them."
    INVALID_SOURCE Error "A source or server does not say one way to its tools: it names none or several, or has a key that does not go with the one it names."
    UNSET_VARIABLE Error "A `${VAR}` refers to an environment variable that is not set. Set it, or write `${VAR:-default}`."
    INVALID_REFERENCE Error "A `${…}` cannot be filled in here. `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${pathSeparator}` and `${/}` can."
    SUSPICIOUS_COMMAND Warning "`command` is the name of one program, spaces included, because no shell takes it apart. Its arguments belong into `args`."
    IGNORED_SETTING Warning "The client this file was written for heeds the setting, and it is not heeded here."
    UNSUPPORTED_DIALECT Error "A JSON Schema names a dialect that is neither draft-07 nor 2020-12."
    EXTERNAL_REF Error "A JSON Schema refers to another document. Nothing is ever fetched: copy what it refers to into `$defs`."
    DUPLICATE_ID Error "Two tools have the same id, so that nobody can say which one is meant. The first stays."
}
