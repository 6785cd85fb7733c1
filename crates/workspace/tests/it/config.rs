//! The configuration file: its sources and limits, and the findings of one with mistakes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};
use toolwright_model::{
    CallLimits, FunctionLimits, Isolation, OutputCheck, ServerSettings, StartMode,
};
use toolwright_source::render::{Colour, full};
use toolwright_source::{Diagnostic, Source};
use toolwright_workspace::{Config, ServeSettings, SourceKind, config_schema};

use crate::expand::variables;

/// Parses a text, and compares what is found with what the schema for editors says about it: every
/// configuration of these tests is a test of the schema, too.
fn parse(text: impl Into<Vec<u8>>) -> (Config, Vec<Diagnostic>) {
    let source = Source::decode("toolwright.toml", text.into()).expect("this is UTF-8");
    let source = Arc::new(source);
    let (config, problems) = Config::parse(&source, Path::new("/project"), &variables);
    if let Some(json) = json_of(source.text()) {
        let refused = problems.iter().any(|problem| schema_can_express(problem, &json));
        let expected = if problems.is_empty() { Some(true) } else { refused.then_some(false) };
        let matches = matches_schema(&json);
        assert!(expected.is_none_or(|it| it == matches), "{}\n{problems:#?}", source.text());
    }
    (config, problems)
}

/// Whether a value matches the schema of the configuration.
fn matches_schema(json: &Json) -> bool {
    static SCHEMA: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| jsonschema::draft7::new(&config_schema()).expect("the schema is valid"));
    SCHEMA.is_valid(json)
}

/// Whether a schema can find this mistake.
fn schema_can_express(problem: &Diagnostic, json: &Json) -> bool {
    let value = json.pointer(&problem.path.to_string());
    match problem.code.name {
        // These are about two places, about the environment, or about the host of a URL.
        "UNSET_VARIABLE" | "INVALID_REFERENCE" | "DUPLICATE_SOURCE" => false,
        "OUT_OF_RANGE" => !problem.message.contains("more than"),
        // To a schema, 5.0 is an integer.
        "INVALID_TYPE" => !value.is_some_and(|n| n.is_f64() && n.to_string().ends_with(".0")),
        // The words of a command line.
        "INVALID_PATTERN" | "MISSING_REQUIRED_FIELD" => {
            !problem.path.to_string().ends_with("/command")
                || value.and_then(Json::as_str).is_none_or(|line| line.trim().is_empty())
        }
        _ => true,
    }
}

/// The text as JSON; `None` if it is not TOML.
fn json_of(text: &str) -> Option<Json> {
    fn value(toml: &DeValue<'_>) -> Json {
        match toml {
            DeValue::String(text) => Json::from(text.as_ref()),
            // A number that does not fit is outside of every range of the schema.
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
                .map_or_else(|_| Json::from(f64::MAX), Json::from),
            DeValue::Float(n) => Json::from(n.as_str().parse::<f64>().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Json::from(*flag),
            DeValue::Datetime(time) => Json::from(time.to_string()),
            DeValue::Array(items) => items.iter().map(|item| value(item.get_ref())).collect(),
            DeValue::Table(members) => table(members),
        }
    }
    fn table(members: &DeTable<'_>) -> Json {
        let member = |(key, item): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
            (AsRef::<str>::as_ref(key.get_ref()).to_owned(), value(item.get_ref()))
        };
        Json::Object(members.iter().map(member).collect())
    }
    DeTable::parse(text).ok().map(|root| table(root.get_ref()))
}

fn good(text: &str) -> Config {
    let (config, problems) = parse(text);
    let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
    assert!(messages.is_empty(), "{text}\n{messages:?}");
    config
}

/// `line:column CODE path`, and the text at that location.
fn places(text: &str) -> Vec<String> {
    let place = |d: &Diagnostic| {
        let (line, column) = d.line_column().expect("every diagnostic has a place");
        let shown = d.source.slice(d.span.expect("it has one"));
        format!("{line}:{column} {} {} {shown}", d.code.name, d.path)
    };
    parse(text).1.iter().map(place).collect()
}

fn rendered(text: impl Into<Vec<u8>>) -> String {
    parse(text).1.iter().map(|d| full(d, Colour::Off)).collect::<Vec<_>>().join("\n\n")
}

/// A valid source, with further lines.
fn with(line: &str) -> String {
    format!("[[source]]\nname = \"a\"\n{line}\n")
}

#[test]
fn every_kind_of_source_is_read() {
    let absolute = if cfg!(windows) { "C:/x" } else { "/x" };
    let in_project = |path: &str| Path::new("/project").join(path);
    let words = |list: &[&str]| list.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let command = |list: &[&str]| SourceKind::Command { words: words(list), directory: None };
    let cases = [
        (
            "path = 'tools/'\nformat = 'btcp'".to_owned(),
            SourceKind::Definitions { path: in_project("tools/"), format: Some("btcp".to_owned()) },
        ),
        (
            format!("path = '{absolute}'"),
            SourceKind::Definitions { path: PathBuf::from(absolute), format: None },
        ),
        ("executables = 'bin/'".to_owned(), SourceKind::Executables { folder: in_project("bin/") }),
        (
            "builtin = 'web'\nenv = { A = 'b' }".to_owned(),
            SourceKind::Builtin { toolset: "web".to_owned() },
        ),
        ("mcp = '.mcp.json'".to_owned(), SourceKind::ServersFile { path: in_project(".mcp.json") }),
        ("command = ['npx', '', 'a b']".to_owned(), command(&["npx", "", "a b"])),
        ("command = \"npx -y 'a b'\"".to_owned(), command(&["npx", "-y", "a b"])),
        (
            "command = 'x'\ndirectory = 'sub'".to_owned(),
            SourceKind::Command { words: words(&["x"]), directory: Some(in_project("sub")) },
        ),
        (
            "url = 'https://h/mcp'\nheaders = { B = 'x', A = 'Bearer ${TOKEN}' }".to_owned(),
            SourceKind::Url {
                url: "https://h/mcp".to_owned(),
                headers: vec![
                    ("B".to_owned(), "x".to_owned()),
                    ("A".to_owned(), "Bearer s3cret".to_owned()),
                ],
            },
        ),
    ];
    for (line, kind) in cases {
        let config = good(&with(&line));
        assert_eq!(config.sources.len(), 1, "{line}");
        assert_eq!(config.sources[0].kind, kind, "{line}");
        assert_eq!(config.sources[0].name.as_str(), "a");
    }
}

#[test]
fn sources_keep_their_order_and_location() {
    let text = "\
[[source]]
name = 'z'
path = 'z'
compat = true

[[source]]
name = 'b'
command = 'b'
env = { B = '1', A = '${TOKEN}', C = '${NONE:-x}' }
";
    let config = good(text);
    let names: Vec<&str> = config.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["z", "b"]);
    assert_eq!(config.sources.iter().map(|s| s.compat).collect::<Vec<_>>(), [true, false]);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        config.sources[1].environment,
        [pair("B", "1"), pair("A", "s3cret"), pair("C", "x")]
    );
    let span = config.sources[1].span.range();
    assert_eq!(
        (&text[span.clone()], span.start),
        ("[[source]]", text.rfind("[[").expect("it is there"))
    );
}

#[test]
fn other_spellings_of_toml_give_the_same_sources() {
    let plain =
        good("[[source]]\nname = 'a'\ncommand = 'x'\nenv = { A = '1' }\n[limits]\ntimeout = 5\n");
    for text in [
        "limits.timeout = 5\n[[source]]\nname = 'a'\ncommand = 'x'\nenv.A = '1'\n",
        "limits = { timeout = 0x5 }\nsource = [{ name = 'a', command = ['x'], env = { A = '1' } }]\n",
        "[[source]]\r\nname = \"a\"\r\ncommand = '''x'''\r\n[source.env]\r\nA = '1'\r\n[limits]\r\ntimeout = +5\r\n",
        "\u{feff}[[source]]\n\"name\" = 'a'\ncommand = 'x'\nenv.\"A\" = '1'\n[limits]\ntimeout = 5",
    ] {
        let mut config = good(text);
        config.sources[0].span = plain.sources[0].span;
        assert_eq!(
            (config.sources, config.limits),
            (plain.sources.clone(), plain.limits.clone()),
            "{text}"
        );
    }
}

/// The examples, and the configurations that pages show.
#[test]
fn configurations_of_the_repository_match_the_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &Path| std::fs::read_to_string(path).expect("a file of the repository");
    let mut texts = vec![read(&root.join("examples/toolwright.toml"))];
    let pages = std::fs::read_dir(root.join("docs")).expect("the pages").flatten();
    let pages = pages.map(|page| page.path()).chain([root.join("README.md")]);
    for page in pages.filter(|page| page.extension().is_some_and(|end| end == "md")) {
        let page = read(&page);
        let blocks = page.split("```toml\n").skip(1);
        texts.extend(blocks.map(|block| block.split("```").next().unwrap_or("").to_owned()));
    }
    assert!(texts.len() > 2, "the pages show configurations");
    for text in texts {
        let json = json_of(&text).unwrap_or_else(|| panic!("not TOML:\n{text}"));
        assert!(matches_schema(&json), "{text}");
    }
}

#[test]
fn an_empty_file_has_no_sources_and_default_limits() {
    for text in ["", "\n", "# nothing yet\n", "\u{feff}", "source = []", "[limits]"] {
        assert_eq!(good(text), Config::default(), "{text:?}");
    }
    assert_eq!(
        CallLimits::default(),
        CallLimits {
            timeout: Duration::from_millis(30_000),
            server_timeout: Duration::from_millis(60_000),
            max_timeout: Duration::from_millis(300_000),
            output: 1_048_576,
            media: 16 << 20,
            defaults: false,
            output_check: OutputCheck::Enforce,
            max_concurrent: 64,
            queue: 1024,
            functions: FunctionLimits {
                validator: Duration::from_millis(500),
                function: Duration::from_secs(1),
                memory: 8 << 20,
                body_memory: 64 << 20,
                output: 1 << 20,
            },
        }
    );
}

#[test]
fn limits_are_read() {
    let text = "[limits]\ntimeout = 1\nmax_timeout = 3_600_000\noutput = 1024\noutput_schema = 'warn'\nmax_concurrent = 1\nqueue = 0\n";
    let limits = good(text).limits;
    assert_eq!(limits.timeout, Duration::from_millis(1));
    assert_eq!(limits.max_timeout, Duration::from_secs(3600));
    assert_eq!((limits.output, limits.output_check), (1024, OutputCheck::Warn));
    assert_eq!((limits.max_concurrent, limits.queue), (1, 0));
    let text = "[limits]\nvalidator_timeout = 20\nfunction_timeout = 30\nfunction_memory = 2_000_000\nbody_memory = 3_000_000\n";
    let functions = good(text).limits.functions;
    assert_eq!(
        (functions.validator, functions.function),
        (Duration::from_millis(20), Duration::from_millis(30))
    );
    assert_eq!((functions.memory, functions.body_memory), (2_000_000, 3_000_000));
    // The cap also bounds the default.
    assert_eq!(good("limits.max_timeout = 7").limits.timeout, Duration::from_millis(7));
}

#[test]
fn settings_of_servers_are_read() {
    let text = "command = 'x'\nstart_timeout = 1\ntimeout = 2\nmax_timeout = 3\nisolation = 'session'\nstart = 'lazy'";
    let time = |ms| Duration::from_millis(ms);
    let expected = ServerSettings {
        source: String::new(),
        start_timeout: time(1),
        timeout: Some(time(2)),
        max_timeout: Some(time(3)),
        isolation: Isolation::Session,
        start: StartMode::Lazy,
    };
    assert_eq!(good(&with(text)).sources[0].server, expected);
    for kind in ["path = 'x'", "mcp = 'x.json'", "command = 'x'", "url = 'http://h'"] {
        let config = good(&with(&format!("{kind}\nisolation = 'shared'\nstart = 'eager'")));
        assert_eq!(config.sources[0].server, ServerSettings::default(), "{kind}");
    }
    let default = ServerSettings::default();
    assert_eq!((default.start_timeout, default.timeout), (time(60_000), None));
}

#[test]
fn settings_of_serve_are_read() {
    let text = "[serve]\nsession_idle = 1000\nlist_wait = 0\nanswer_tokens = 0\nallowed_hosts = ['a.example', 'b:80']\nallowed_origins = ['https://a.example']\n";
    let texts = |list: &[&str]| list.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    let expected = ServeSettings {
        session_idle: Duration::from_secs(1),
        list_wait: Duration::ZERO,
        answer_tokens: 0,
        allowed_hosts: texts(&["a.example", "b:80"]),
        allowed_origins: texts(&["https://a.example"]),
    };
    assert_eq!(good(text).serve, expected);
    let default = ServeSettings {
        session_idle: Duration::from_secs(24 * 60 * 60),
        list_wait: Duration::from_secs(30),
        answer_tokens: 20_000,
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
    };
    assert_eq!(good("[serve]").serve, default);
}

#[test]
fn mistakes_in_settings_have_their_place() {
    for (text, found) in [
        (with("executables = 'x'\nstart = 'lazy'"), "4:1 INVALID_SOURCE /source/0/start start"),
        (with("command = 'x'\nstart = 'later'"), "4:9 INVALID_ENUM_VALUE /source/0/start 'later'"),
        (
            with("command = 'x'\ntimeout = 9\nmax_timeout = 8"),
            "4:11 OUT_OF_RANGE /source/0/timeout 9",
        ),
        (with("command = 'x'\nstart_timeout = 0"), "4:17 OUT_OF_RANGE /source/0/start_timeout 0"),
        ("[serve]\nlist_wait = 600001".to_owned(), "2:13 OUT_OF_RANGE /serve/list_wait 600001"),
        (
            "[serve]\nallowed_hosts = ['http://h']".to_owned(),
            "2:18 INVALID_PATTERN /serve/allowed_hosts/0 'http://h'",
        ),
        (
            "[serve]\nallowed_origins = ['h']".to_owned(),
            "2:20 INVALID_PATTERN /serve/allowed_origins/0 'h'",
        ),
        (
            "[serve]\nallowed_origins = 'http://h'".to_owned(),
            "2:19 INVALID_TYPE /serve/allowed_origins 'http://h'",
        ),
        ("[limits]\nstartup = 5".to_owned(), "2:1 UNKNOWN_KEY /limits/startup startup"),
    ] {
        assert_eq!(places(&text), [found], "{text}");
    }
    // A key that was renamed names the new one, and not the nearest or a list of all.
    let (_, problems) = parse("[limits]\nstartup = 5");
    assert_eq!(problems[0].help, ["write `list_wait` under `[serve]`"]);
}

#[test]
fn limits_have_bounds() {
    let ranges = [
        ("timeout", 1, 300_000),
        ("max_timeout", 1, 3_600_000),
        ("output", 1024, 67_108_864),
        ("max_concurrent", 1, 1024),
        ("queue", 0, 65_536),
    ];
    for (name, min, max) in ranges {
        let line = |value: &str| match name {
            "timeout" => format!("limits.max_timeout = 3600000\nlimits.timeout = {value}"),
            _ => format!("limits.{name} = {value}"),
        };
        let bound = |value: i64| line(&value.to_string());
        good(&bound(min));
        good(&bound(max));
        let huge = "9".repeat(400);
        let texts = [bound(min - 1), bound(max + 1), line(&huge), line("-9223372036854775808")];
        for text in texts {
            let (config, problems) = parse(text.as_str());
            let codes: Vec<&str> = problems.iter().map(|p| p.code.name).collect();
            assert_eq!(codes, ["OUT_OF_RANGE"], "{text}");
            assert!(problems[0].message.len() < 200, "{}", problems[0].message);
            assert_eq!(config.limits.queue, 1024, "a bad limit keeps its default");
        }
        for other in ["nan", "-inf", "5.0", "'5'", "true", "1979-05-27", "[1]", "{}"] {
            assert_eq!(parse(line(other)).1[0].code.name, "INVALID_TYPE", "{name} = {other}");
        }
    }
}

#[test]
fn every_mistake_has_its_finding_at_its_place() {
    let cases: &[(&str, &[&str])] = &[
        ("souce = []", &["1:1 UNKNOWN_KEY /souce souce"]),
        ("source = 5", &["1:10 INVALID_TYPE /source 5"]),
        ("source = [5]", &["1:11 INVALID_TYPE /source/0 5"]),
        ("limits = 5", &["1:10 INVALID_TYPE /limits 5"]),
        ("[[limits]]", &["1:1 INVALID_TYPE /limits [[limits]]"]),
        ("[limits]\nx.y = 1", &["2:1 UNKNOWN_KEY /limits/x x"]),
        (
            "[limits]\noutput_schema = 'wran'",
            &["2:17 INVALID_ENUM_VALUE /limits/output_schema 'wran'"],
        ),
        ("[limits]\nmax_timeout = 10\ntimeout = 20", &["3:11 OUT_OF_RANGE /limits/timeout 20"]),
        (
            "[[source]]",
            &[
                "1:1 MISSING_REQUIRED_FIELD /source/0 [[source]]",
                "1:1 MISSING_REQUIRED_FIELD /source/0/name [[source]]",
            ],
        ),
        // A misspelled key is one mistake, not two.
        ("[[source]]\nnmae = 'a'\npath = 'x'", &["2:1 UNKNOWN_KEY /source/0/nmae nmae"]),
        (
            "[[source]]\nname = 'a'\nexecutable = 'x'",
            &["3:1 UNKNOWN_KEY /source/0/executable executable"],
        ),
        ("[[source]]\nname = 5\npath = 'x'", &["2:8 INVALID_TYPE /source/0/name 5"]),
        ("ignore = 5", &["1:10 INVALID_TYPE /ignore 5"]),
        ("ignore = [5]", &["1:11 INVALID_TYPE /ignore/0 5"]),
        ("[ignore]\ncode = 'OPEN_OBJECT'\nreason = 'x'", &["1:1 INVALID_TYPE /ignore [ignore]"]),
        (
            "[[ignore]]",
            &[
                "1:1 MISSING_REQUIRED_FIELD /ignore/0/code [[ignore]]",
                "1:1 MISSING_REQUIRED_FIELD /ignore/0/reason [[ignore]]",
            ],
        ),
        (
            "[[ignore]]\ncode = 'OPEN_OBJEKT'\nreason = ' '",
            &[
                "2:8 INVALID_ENUM_VALUE /ignore/0/code 'OPEN_OBJEKT'",
                "3:10 MISSING_REQUIRED_FIELD /ignore/0/reason ' '",
            ],
        ),
        (
            "[[ignore]]\ncode = 'OPEN_OBJECT'\nraeson = 'x'\ntool = 5",
            &["3:1 UNKNOWN_KEY /ignore/0/raeson raeson", "4:8 INVALID_TYPE /ignore/0/tool 5"],
        ),
        ("[[source]]\nname = ''\npath = 'x'", &["2:8 INVALID_PATTERN /source/0/name ''"]),
        ("[[source]]\nname = 'a:b'\npath = 'x'", &["2:8 INVALID_PATTERN /source/0/name 'a:b'"]),
    ];
    for (text, expected) in cases {
        assert_eq!(places(text), *expected, "{text}");
        let config = parse(*text).0;
        assert_eq!((config.sources.len(), config.ignores.len()), (0, 0), "{text}");
    }
    let cases: &[(&str, &[&str])] = &[
        ("path = ' '", &["3:8 MISSING_REQUIRED_FIELD /source/0/path ' '"]),
        ("path = ['x']", &["3:8 INVALID_TYPE /source/0/path ['x']"]),
        ("path = 'x'\nformat = 'btpc'", &["4:10 INVALID_ENUM_VALUE /source/0/format 'btpc'"]),
        ("path = 'x'\ncompat = 'yes'", &["4:10 INVALID_TYPE /source/0/compat 'yes'"]),
        ("path = 'x'\nheaders = {}", &["4:1 INVALID_SOURCE /source/0/headers headers"]),
        ("mcp = 'x'\nformat = 'mcp'", &["4:1 INVALID_SOURCE /source/0/format format"]),
        (
            "executables = 'x'\ndirectory = 'y'",
            &["4:1 INVALID_SOURCE /source/0/directory directory"],
        ),
        ("builtin = 'wbe'", &["3:11 INVALID_ENUM_VALUE /source/0/builtin 'wbe'"]),
        ("builtin = 'web'\nstart = 'lazy'", &["4:1 INVALID_SOURCE /source/0/start start"]),
        ("builtin = 'web'\nurl = 'http://h'", &["4:1 INVALID_SOURCE /source/0/url url"]),
        ("url = 'http://h'\nenv = {}", &["4:1 INVALID_SOURCE /source/0/env env"]),
        ("url = 'http://h'\npath = 'x'", &["4:1 INVALID_SOURCE /source/0/path path"]),
        ("url = 'ftp://h'", &["3:7 INVALID_PATTERN /source/0/url 'ftp://h'"]),
        ("url = 'h/mcp'", &["3:7 INVALID_PATTERN /source/0/url 'h/mcp'"]),
        ("command = []", &["3:11 MISSING_REQUIRED_FIELD /source/0/command []"]),
        ("command = ['']", &["3:12 MISSING_REQUIRED_FIELD /source/0/command/0 ''"]),
        ("command = ['x', 5]", &["3:17 INVALID_TYPE /source/0/command/1 5"]),
        ("command = 5", &["3:11 INVALID_TYPE /source/0/command 5"]),
        ("command = ''", &["3:11 MISSING_REQUIRED_FIELD /source/0/command ''"]),
        ("command = \"''\"", &["3:11 MISSING_REQUIRED_FIELD /source/0/command \"''\""]),
        ("command = \"x 'y\"", &["3:11 INVALID_PATTERN /source/0/command \"x 'y\""]),
        ("command = 'x'\nenv = 5", &["4:7 INVALID_TYPE /source/0/env 5"]),
        ("command = 'x'\nenv.A = 5", &["4:9 INVALID_TYPE /source/0/env/A 5"]),
        ("command = 'x'\nenv.'A=B' = ''", &["4:5 INVALID_PATTERN /source/0/env/A=B 'A=B'"]),
        ("command = 'x'\nenv.A = '${NONE}'", &["4:9 UNSET_VARIABLE /source/0/env/A '${NONE}'"]),
        ("command = 'x'\nenv.A = '${x:y}'", &["4:9 INVALID_REFERENCE /source/0/env/A '${x:y}'"]),
        (
            "url = 'http://h'\nheaders.'A B' = ''",
            &["4:9 INVALID_PATTERN /source/0/headers/A B 'A B'"],
        ),
        (
            "url = 'http://h'\nheaders.A = '${NONE}'",
            &["4:13 UNSET_VARIABLE /source/0/headers/A '${NONE}'"],
        ),
    ];
    for (line, expected) in cases {
        let text = with(line);
        assert_eq!(places(&text), *expected, "{text}");
        assert_eq!(parse(text).0.sources.len(), 0, "{line}: a bad source is left out");
    }
}

#[test]
fn all_mistakes_are_found_in_one_pass() {
    let text = r#"
timeout = 5

[[source]]
name = "good"
path = "tools/"

[[source]]
name = "my tools"
executable = "bin/"
compat = 1

[[source]]
name = "good"
path = "more/"
url = "https://host/mcp"

[[source]]
command = ["npx", 7]
headers = { Authorization = "Bearer abc" }
env = { TOKEN = "${GITHUB_TOKEN}", PORT = 8080, ASKED = "${input:api-key}" }
colour = "red"

[[source]]
name = "last"
path = "last/"
format = "btpc"

[[source]]
name = "kept"
mcp = ".mcp.json"

[limits]
timeout = 99999999999999999999
output = nan
output_schema = "of"
max_concurent = 3
"#;
    let (config, _) = parse(text);
    let names: Vec<&str> = config.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["good", "kept"]);
    assert_eq!(config.limits, CallLimits::default());
    insta::assert_snapshot!(rendered(text));
}

#[test]
fn a_missing_bracket_of_a_source_is_explained() {
    insta::assert_snapshot!(rendered("[source]\nname = 'a'\npth = 'x'\n"));
}

#[test]
fn columns_count_characters_behind_other_alphabets() {
    let text = "# Ünïcödé 🦀\r\n[[source]]\r\nname = \"日本\"\r\nenv = { \"ключ\" = \"é\", B = \"${NONE}\" }\r\ncommand = 'x'\r\n";
    let plain = rendered(text);
    assert_eq!(rendered(format!("\u{feff}{text}")), plain);
    insta::assert_snapshot!(plain);
    assert_eq!(
        places(text),
        [
            "3:8 INVALID_PATTERN /source/0/name \"日本\"",
            "4:27 UNSET_VARIABLE /source/0/env/B \"${NONE}\"",
        ]
    );
}

#[test]
fn text_that_is_not_toml_is_one_finding() {
    let text = "[[source]]\nname = \nenv = { A = 'x' B = 'y' }\nurl = \"https://h\n\n[[source]\nname = 'b'\n";
    assert_eq!(parse(text).0, Config::default());
    insta::assert_snapshot!(rendered(text));
}

#[test]
fn reading_continues_after_a_duplicate_key() {
    let text =
        "[[source]]\nname = 'a'\nname = 'b'\npath = 'x'\nfoo = 1\n[limits]\nqueue = 1\n[limits]\n";
    assert_eq!(
        places(text),
        [
            "3:1 DUPLICATE_KEY  name",
            "5:1 UNKNOWN_KEY /source/0/foo foo",
            "8:2 DUPLICATE_KEY  limits"
        ]
    );
}

#[test]
fn hostile_text_is_bounded() {
    let broken = "= \n".repeat(5_000);
    assert_eq!(parse(broken).1.len(), toolwright_source::MAX_PROBLEMS);
    let deep = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(!parse(deep).1.is_empty());
    let long = format!("{} = 1", "k".repeat(100_000));
    assert!(parse(long).1[0].message.len() < 300);
}

#[test]
fn secrets_are_never_in_messages() {
    let text = "[[source]]
name = 'a'
url = 'https://h'
headers = { A = 'hunter2 ${NONE}', B = 'hunter2 ${hunter2!}', C = 'hunter2 ${hunter2', 'x y' = 'hunter2' }
env = { A = ['hunter2'] }
";
    for problem in parse(text).1 {
        let shown = format!("{} {:?} {:?}", problem.message, problem.help, problem.labels);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn the_nearest_configuration_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("a/b/c");
    std::fs::create_dir_all(&deep).expect("folders");
    assert_eq!(Config::find(&deep), None);
    let file = folder.path().join("a/toolwright.toml");
    std::fs::write(&file, "").expect("a file");
    // A folder of that name is not a configuration.
    std::fs::create_dir(deep.join("toolwright.toml")).expect("a folder");
    assert_eq!(Config::find(&deep), Some(file.clone()));
    assert_eq!(Config::find(&folder.path().join("a")), Some(file));
    assert_eq!(Config::find(folder.path()), None);
}
