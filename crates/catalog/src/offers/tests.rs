//! Merging what servers offer, and the way back from what clients see.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use toolwright_exec::mcp::{ListKind, ServerDescription};
use toolwright_exec::{ExecutorContext, Log};
use toolwright_mcp::Revision;
use toolwright_model::{Connection, ServerSettings};

use super::*;

fn server(name: &str) -> Arc<Server> {
    Arc::new(Server {
        connection: Connection::Stdio { command: vec!["same".to_owned()] },
        shown: None,
        environment: Vec::new(),
        headers: Vec::new(),
        directory: None,
        health_check: None,
        settings: ServerSettings { source: name.to_owned(), ..ServerSettings::default() },
    })
}

/// A source with these lists, which is never started.
fn source(name: &str, resources: Json, templates: Json, prompts: Json) -> OfferSource {
    let context = ExecutorContext::new(Vec::new(), Log::default());
    let mut offers = ServerOffers::default();
    let mut notes = Vec::new();
    let list = |json: Json| json.as_array().unwrap().clone();
    offers.set(ListKind::Resources, list(resources), &mut notes);
    offers.set(ListKind::ResourceTemplates, list(templates), &mut notes);
    offers.set(ListKind::Prompts, list(prompts), &mut notes);
    offers.description = Some(Arc::new(ServerDescription {
        revision: Revision::V2025_11_25,
        capabilities: json!({"resources": {"subscribe": name == "a"}, "logging": {}}),
        info: Json::Null,
        instructions: Some(format!("Instructions of {name}.")),
    }));
    assert_eq!(notes, Vec::<String>::new());
    OfferSource {
        name: name.to_owned(),
        namespace: Some(name.to_owned()),
        upstream: context.upstreams.get(&server(name)),
        offers: Arc::new(offers),
    }
}

fn uris(items: &[Json], key: &str) -> Vec<String> {
    items.iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// The source and own URI that a lookup leads to.
fn place(item: Option<OfferedItem>) -> String {
    item.map_or_else(String::new, |item| {
        format!("{} {}", item.upstream.server().settings.source, item.own)
    })
}

fn two_servers() -> Offers {
    let a = source(
        "a",
        json!([{"uri": "x://1"}, {"uri": "x://shared"}, {"uri": "ui://app"}]),
        json!([{"uriTemplate": "t://{id}"}, {"uriTemplate": "only-a://{+path}"}]),
        json!([{"name": "ask"}, {"name": "only.a"}]),
    );
    let b = source(
        "B_2",
        json!([{"uri": "x://2"}, {"uri": "x://shared"}, {"uri": "ui://app",
               "_meta": {"ui": {"resourceUri": "ui://app"}}}]),
        json!([{"uriTemplate": "t://{id}"}, {"uriTemplate": "{+anything}"}]),
        json!([{"name": "ask", "title": "Ask B"}]),
    );
    Offers::merge(vec![a, b], false, &Arc::default())
}

#[test]
fn unique_uris_are_kept_and_shared_ones_renamed() {
    let offers = two_servers();
    assert_eq!(
        uris(&offers.resources, "uri"),
        [
            "x://1",
            "toolwright+a:x://shared",
            "ui://toolwright+a/app",
            "x://2",
            "toolwright+b-2:x://shared",
            "ui://toolwright+b-2/app",
        ]
    );
    assert_eq!(
        uris(&offers.templates, "uriTemplate"),
        ["toolwright+a:t://{id}", "only-a://{+path}", "toolwright+b-2:t://{id}", "{+anything}"]
    );
    assert_eq!(offers.resources[5]["_meta"]["ui"]["resourceUri"], "ui://toolwright+b-2/app");
    for (exposed, found) in [
        ("x://1", "a x://1"),
        ("toolwright+a:x://shared", "a x://shared"),
        ("toolwright+b-2:x://shared", "B_2 x://shared"),
        ("ui://toolwright+a/app", "a ui://app"),
        ("toolwright+a:t://7", "a t://7"),
        ("only-a://x/y", "a only-a://x/y"),
        ("other://x", "B_2 other://x"),
    ] {
        assert_eq!(place(offers.resource(exposed)), found, "{exposed}");
    }
    assert_eq!(place(offers.template("toolwright+b-2:t://{id}")), "B_2 t://{id}");
    assert_eq!(place(offers.template("t://{id}")), "");
}

#[test]
fn prompts_are_named_like_tools() {
    let offers = two_servers();
    let names = uris(&offers.prompts, "name");
    assert_eq!((names[0].as_str(), names[2].as_str()), ("a__ask", "B_2__ask"));
    assert!(names[1].starts_with("a__only_a_"), "{names:?}");
    assert_eq!(place(offers.prompt(&names[1])), "a only.a");
    assert_eq!(place(offers.prompt("B_2__ask")), "B_2 ask");
    assert_eq!(place(offers.prompt("ask")), "");
    assert_eq!(uris(&offers.prompts, "title"), ["ask", "only.a", "Ask B"]);
}

#[test]
fn capabilities_and_instructions_are_those_of_all() {
    let offers = two_servers();
    let expected = OfferedCapabilities {
        resources: true,
        subscribe: true,
        prompts: true,
        completions: false,
        tasks: false,
        task_calls: false,
        task_list: false,
        task_cancel: false,
        logging: true,
    };
    assert_eq!(offers.capabilities, expected);
    let text = "## a\n\nInstructions of a.\n\n## B_2\n\nInstructions of B_2.";
    assert_eq!(offers.instructions.as_deref(), Some(text));
}

#[test]
fn withheld_instructions_are_left_out() {
    let mut a = source("a", json!([]), json!([]), json!([]));
    let offers = ServerOffers { instructions_give_orders: true, ..(*a.offers).clone() };
    a.offers = Arc::new(offers);
    let b = source("b", json!([]), json!([]), json!([]));
    let offers = Offers::merge(vec![a, b], true, &Arc::default());
    assert_eq!(offers.instructions.as_deref(), Some("## b\n\nInstructions of b."));
}

#[test]
fn references_in_results_follow() {
    let offers = two_servers();
    let mut value = json!({
        "content": [
            {"type": "resource_link", "uri": "x://shared", "name": "s"},
            {"type": "resource_link", "uri": "x://1", "name": "kept"},
            {"type": "resource_link", "uri": "x://2", "name": "listed by the other"},
            {"type": "resource", "resource": {"uri": "t://9", "text": "x://shared"}},
            {"type": "text", "text": "x://shared", "uri": "x://shared"},
        ],
        "contents": [{"uri": "x://shared"}],
        "structuredContent": {"rows": [["x://shared", "x://1", "see x://shared"]], "x://shared": 1},
        "_meta": {
            "ui": {"resourceUri": "ui://app"}, "ui/resourceUri": "ui://app",
            "of": {"others": [{"source": "x://shared"}]},
        },
    });
    offers.expose(&server("a"), &mut value);
    let expected = json!({
        "content": [
            {"type": "resource_link", "uri": "toolwright+a:x://shared", "name": "s"},
            {"type": "resource_link", "uri": "x://1", "name": "kept"},
            {"type": "resource_link", "uri": "toolwright+a:x://2", "name": "listed by the other"},
            {"type": "resource", "resource": {"uri": "toolwright+a:t://9", "text": "x://shared"}},
            {"type": "text", "text": "x://shared", "uri": "x://shared"},
        ],
        "contents": [{"uri": "toolwright+a:x://shared"}],
        "structuredContent": {
            "rows": [["toolwright+a:x://shared", "x://1", "see x://shared"]], "x://shared": 1,
        },
        "_meta": {
            "ui": {"resourceUri": "ui://toolwright+a/app"},
            "ui/resourceUri": "ui://toolwright+a/app",
            "of": {"others": [{"source": "toolwright+a:x://shared"}]},
        },
    });
    assert_eq!(value, expected);
    assert_eq!(place(offers.resource("toolwright+a:x://2")), "a x://2");
    assert_eq!(offers.exposed_uri(&server("a"), "x://shared"), "toolwright+a:x://shared");
    assert_eq!(offers.exposed_uri(&server("unknown"), "x://shared"), "x://shared");
    // A part of a resource that was renamed.
    assert_eq!(offers.exposed_uri(&server("a"), "x://shared/7"), "toolwright+a:x://shared/7");
}

#[test]
fn a_link_that_nobody_lists_leads_to_its_server() {
    let a = source("a", json!([{"uri": "x://1"}]), json!([]), json!([]));
    let b = source("b", json!([{"uri": "x://2"}]), json!([]), json!([]));
    let offers = Offers::merge(vec![a, b], false, &Arc::default());
    assert_eq!(place(offers.resource("x://new")), "");
    let link = |of: &str, uri: &str| {
        let mut value = json!({"type": "resource_link", "uri": uri});
        offers.expose(&server(of), &mut value);
        value["uri"].as_str().unwrap().to_owned()
    };
    assert_eq!(link("b", "x://new"), "x://new");
    assert_eq!(link("b", "x://new"), "x://new");
    assert_eq!(place(offers.resource("x://new")), "b x://new");
    // The other server means something else by it.
    assert_eq!(link("a", "x://new"), "toolwright+a:x://new");
    assert_eq!(place(offers.resource("toolwright+a:x://new")), "a x://new");
    for own in ["file:///tmp/x", "https://example.com/page"] {
        assert_eq!((link("b", own).as_str(), link("a", own).as_str()), (own, own));
        assert_eq!(place(offers.resource(own)), format!("b {own}"));
    }
    assert_eq!(link("a", "x://2"), "toolwright+a:x://2", "the other lists it");
    assert_eq!(link("a", "toolwright+a:x://3"), "toolwright+a:toolwright+a:x://3");
    let long = format!("x://{}", "y".repeat(4_000));
    assert_eq!(link("a", &long), format!("toolwright+a:{long}"));
    // A server makes only its own URIs unknown.
    (0..2_000).for_each(|n| drop(link("a", &format!("a://{n}"))));
    assert_eq!(place(offers.resource("a://0")), "");
    assert_eq!(place(offers.resource("a://1999")), "a a://1999");
    assert_eq!(place(offers.resource("x://new")), "b x://new");
}

#[test]
fn uris_in_arguments_are_those_of_the_server() {
    let offers = two_servers();
    let mut arguments = json!({
        "uri": "toolwright+a:x://shared",
        "others": ["toolwright+b-2:x://shared", "ui://toolwright+a/app", "see toolwright+a:x"],
    });
    assert!(Offers::may_have_renamed(&arguments.to_string()));
    assert!(offers.own_arguments(&server("a"), &mut arguments));
    let expected = json!({
        "uri": "x://shared",
        "others": ["toolwright+b-2:x://shared", "ui://app", "see toolwright+a:x"],
    });
    assert_eq!(arguments, expected);
    assert!(!offers.own_arguments(&server("a"), &mut arguments));
}

#[test]
fn the_only_server_with_resources_gets_every_uri_as_it_is() {
    let offers = Offers::merge(
        vec![source("a", json!([{"uri": "x://1"}]), json!([]), json!([]))],
        false,
        &Arc::default(),
    );
    assert_eq!(place(offers.resource("x://unlisted")), "a x://unlisted");
    let mut value = json!({"type": "resource_link", "uri": "y://z"});
    offers.expose(&server("a"), &mut value);
    assert_eq!(value["uri"], "y://z");
    assert_eq!(place(Offers::default().resource("x://1")), "");
}

#[test]
fn names_that_look_alike_have_different_prefixes() {
    let shared = json!([{"uri": "x://1"}]);
    let names = ["A.b", "a.b", "a_b", "a-b"];
    let sources = names.map(|name| source(name, shared.clone(), json!([]), json!([])));
    let offers = Offers::merge(sources.into_iter().collect(), false, &Arc::default());
    let exposed = uris(&offers.resources, "uri");
    let found: Vec<String> = exposed.iter().map(|uri| place(offers.resource(uri))).collect();
    assert_eq!(found, names.map(|name| format!("{name} x://1")));
}

#[test]
fn walks_are_bounded() {
    let offers = two_servers();
    let mut deep = json!({"type": "resource_link", "uri": "x://shared"});
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let before = deep.clone();
    offers.expose(&server("a"), &mut deep);
    assert_eq!(deep, before, "too deep to be a reference");
    let many: Vec<Json> = (0..200_000).map(|n| json!([n])).collect();
    offers.expose(&server("a"), &mut Json::Array(many));
}
