//! `toolwright grants`: lists, gives and takes back what agents may do. Also makes the policy of
//! the commands that make calls.
//!
//! ```text
//! grants add TOOLSET ─ --hash, else the hash of its definition ─▶ store ─▶ the next call
//! ```
//!
//! A toolset is looked up in files only: nothing is started to grant something.
//!
//! A grant is for a content hash wherever one is known, so that a definition which changes asks
//! again. `--by-name` gives that up. The hash that is computed here must be the one that the
//! catalog computes; both use `ContentHasher` with the code files of the definition.
//!
//! A grant that would never be used is refused where that can be known: an agent, a capability or a
//! toolset that is spelled nearly like an existing one is an error with the nearest name.

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use serde_json::json;
use toolwright_catalog::grants::{GrantPolicy, now_in_micros};
use toolwright_catalog::store::{GrantFilter, Store, StoredGrant};
use toolwright_model::{Capability, ContentHash, FieldValue};
use toolwright_source::render::visible;
use toolwright_source::words::nearest_word;
use toolwright_workspace::code_files::code_files;
use toolwright_workspace::content_hash::ContentHasher;
use toolwright_workspace::{PolicySettings, ReadOptions, SourceArgument, SourcePlan, SourceTarget};

use crate::args::{GrantAddArgs, GrantsAction, GrantsArgs, GrantsFormat};
use crate::environment::{self, variable};
use crate::output::{self, ExitStatus};
use crate::{messages, sources};

/// The characters of a content hash that lists show.
const SHOWN_HASH: usize = 15;

/// The policy of this run: what `--allow` grants, the configuration and the user's store.
///
/// Never fails: without a store, lasting grants cannot be used or given, and a question says why.
/// `allowed` holds for this run only and is never stored.
pub(crate) fn open_policy(settings: PolicySettings, allowed: &[Capability]) -> GrantPolicy {
    let fail = |error: anyhow::Error| format!("{error:#}");
    let folder = match environment::state_folder() {
        Ok(folder) => folder,
        Err(error) => return GrantPolicy::new(settings, allowed.to_vec(), Err(fail(error))),
    };
    let store = Store::open(&folder).map_err(|error| fail(error.into()));
    GrantPolicy::new(settings, allowed.to_vec(), store).with_store_folder(folder)
}

/// Runs the command.
///
/// # Errors
/// If the store cannot be used, or there is no such toolset or grant.
pub(crate) fn run(args: &GrantsArgs) -> anyhow::Result<ExitStatus> {
    let store = Store::open(&environment::state_folder()?)?;
    match &args.action {
        GrantsAction::List { agent, output_format, config } => {
            let plan = sources::find_configuration(config.as_deref())?
                .map(|path| SourcePlan::from_config(&path, ReadOptions::default(), &variable));
            let settings = plan.map(|plan| plan.policy).unwrap_or_default();
            list(&store, &settings, agent.as_deref(), *output_format)
        }
        GrantsAction::Add(add) => add_grants(&store, add),
        GrantsAction::Revoke { toolset, capabilities, agent, origin, .. } => {
            let filter = GrantFilter {
                toolset: toolset.clone(),
                capabilities: capabilities.clone(),
                agent: agent.clone(),
                origin: origin.clone(),
            };
            revoke(&store, &filter)
        }
    }
}

/// Prints the grants of the store, of the sessions of running processes, and of the configuration.
///
/// Rows of all three kinds have the same columns, so that `grep` finds all about an agent. A
/// capability that this version does not know is shown with a high risk: it may be one of a host.
/// The hash is cut in the text; JSON has all of it.
///
/// ```text
/// agent      toolset              capability                   risk      term        content
/// local      notes                process:spawn                critical  always      v1:3fa9c0…
/// local      browser              dom:read                     low       session     by name …
/// ```
///
/// A grant of a session names its process. The origin of pages, if there is one, comes last.
fn list(
    store: &Store,
    settings: &PolicySettings,
    agent: Option<&str>,
    format: GrantsFormat,
) -> anyhow::Result<ExitStatus> {
    let stored = store.grants()?.into_iter().map(|grant| (grant, "always", None));
    let sessions = store.session_grants()?.into_iter();
    let sessions = sessions.map(|row| (row.grant, "session", Some(row.process)));
    // A `[[grant]]` may have several capabilities and origins; each pair is a row here.
    let configured = settings.grants.iter().flat_map(|grant| {
        grant.capabilities.iter().flat_map(move |capability| {
            let origins = grant.origins.iter().filter(|_| capability.needs_page());
            let origins: Vec<Option<&String>> = match origins.clone().next() {
                Some(_) => origins.map(Some).collect(),
                None => vec![None],
            };
            origins.into_iter().map(move |origin| StoredGrant {
                agent: grant.agent.clone(),
                toolset: grant.toolset.clone(),
                hash: None,
                capability: capability.to_string(),
                origin: origin.cloned(),
                time: 0,
            })
        })
    });
    let all = stored.chain(sessions).chain(configured.map(|grant| (grant, "configured", None)));
    let all: Vec<_> = all.filter(|(it, ..)| agent.is_none_or(|agent| agent == it.agent)).collect();
    if all.is_empty() && format == GrantsFormat::Text {
        messages::print_note("nothing is granted");
    }
    for (grant, term, process) in &all {
        let StoredGrant { agent, toolset, hash, capability, origin, time } = grant;
        let line = match format {
            GrantsFormat::Text => {
                let risk = Capability::parse(capability).map_or("high", |it| it.risk().name());
                let mut content = match hash {
                    Some(hash) => hash.chars().take(SHOWN_HASH).collect::<String>() + "…",
                    None => "by name".to_owned(),
                };
                if let Some(process) = process {
                    content += &format!(" process {process}");
                }
                let place = origin.as_ref().map(|it| format!("  {}", visible(it)));
                let place = place.unwrap_or_default();
                format!(
                    "{:<10} {:<20} {:<28} {risk:<9} {term:<11} {content}{place}",
                    visible(agent),
                    visible(toolset),
                    visible(capability),
                )
            }
            GrantsFormat::Json => {
                let time = (*time > 0).then(|| messages::utc_time(time / 1_000_000));
                json!({
                    "agent": agent, "toolset": toolset, "hash": hash, "capability": capability,
                    "origin": origin, "term": term, "time": time, "process": process,
                })
                .to_string()
            }
        };
        output::print(&(line + "\n"))?;
    }
    Ok(ExitStatus::Clean)
}

/// Puts grants into the store. With `--hash` nothing has to be found: the refusal of a call names
/// the hash, also that of a server. Otherwise the toolset is looked up in files.
///
/// An origin is stored only for capabilities that need a page. A capability that needs one is
/// stored without it too, but with a note: it allows nothing until an origin is named. The note
/// repeats in words what was granted, so that a person sees a capability that they did not mean.
///
/// # Errors
/// If agent, toolset or capability are not known, with the nearest name.
fn add_grants(store: &Store, args: &GrantAddArgs) -> anyhow::Result<ExitStatus> {
    check_agent(args)?;
    let (toolset, hash) = match &args.hash {
        Some(hash) => {
            let is_hash = hash.strip_prefix("v1:").is_some_and(|digits| {
                digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            });
            if !is_hash {
                bail!("`{hash}` is not a content hash: `v1:` and 64 hexadecimal digits");
            }
            // It may be that of a server, or of a file that is elsewhere.
            let toolsets = all_toolsets(args)?.unwrap_or_default();
            if let Some(found) = toolsets.iter().find(|it| it.hash.as_str() == hash) {
                check_capabilities(args, found)?;
            }
            (args.toolset.clone(), Some(hash.clone()))
        }
        None => {
            let found = find_toolset(args)?;
            check_capabilities(args, &found)?;
            (found.name, (!args.by_name).then(|| found.hash.to_string()))
        }
    };
    for capability in &args.capabilities {
        let origin = args.origin.clone().filter(|_| capability.needs_page());
        store.add_grant(&StoredGrant {
            agent: args.agent.clone(),
            toolset: toolset.clone(),
            hash: hash.clone(),
            capability: capability.to_string(),
            origin: origin.clone(),
            time: now_in_micros(),
        })?;
        let place = match origin.as_deref() {
            Some("*") => " on every page".to_owned(),
            Some(origin) => format!(" on {origin}"),
            None if capability.needs_page() => {
                " on no page yet: name the origin of its pages with `--origin`".to_owned()
            }
            None => String::new(),
        };
        messages::print_note(&format!(
            "`{}` may {} with the tools of `{toolset}` ({capability}, {} risk){place}",
            args.agent,
            capability.meaning(),
            capability.risk().name()
        ));
    }
    Ok(ExitStatus::Clean)
}

/// Refuses an agent that does not exist: a grant to it would never be used.
fn check_agent(args: &GrantAddArgs) -> anyhow::Result<()> {
    let own = [toolwright_exec::LOCAL_AGENT, toolwright_exec::HTTP_AGENT];
    if own.contains(&args.agent.as_str()) {
        return Ok(());
    }
    let plan = sources::find_configuration(args.config.as_deref())?
        .map(|path| SourcePlan::from_config(&path, ReadOptions::default(), &variable));
    // Without a configuration here, the agent may be that of another one.
    let Some(plan) = plan else { return Ok(()) };
    let agents = plan.policy.agents.iter().map(|agent| agent.name.as_str()).chain(own);
    if agents.clone().any(|agent| agent == args.agent) {
        return Ok(());
    }
    match nearest_word(&args.agent, agents) {
        Some(near) => bail!("there is no agent `{}`; did you mean `{near}`?", args.agent),
        None => bail!(
            "there is no agent `{}`; `toolwright agent add {}` makes one",
            args.agent,
            args.agent
        ),
    }
}

/// Refuses a capability that only hosts know and that is spelled nearly like one of the toolset: a
/// grant of it would never be used.
///
/// Other unknown words pass: hosts may define capabilities that no definition at hand declares.
fn check_capabilities(args: &GrantAddArgs, toolset: &FoundToolset) -> anyhow::Result<()> {
    let declared = || toolset.declared.iter().map(Capability::as_str);
    for capability in args.capabilities.iter().map(Capability::as_str) {
        let is_known = Capability::all_grantable().any(|it| it == capability)
            || declared().any(|it| it == capability);
        if let Some(near) = nearest_word(capability, declared()).filter(|_| !is_known) {
            bail!("no tool of `{}` needs `{capability}`; did you mean `{near}`?", toolset.name);
        }
    }
    Ok(())
}

/// A toolset of a file.
///
/// `tools` are ids: a person may name a tool and means its toolset.
struct FoundToolset {
    /// The name by which grants know it, see `toolset_of`.
    name: String,
    /// Of the definition and of the files with its code, as the catalog computes it.
    hash: ContentHash,
    /// Ids with the namespace.
    tools: Vec<String>,
    /// What it and its tools declare.
    declared: Vec<Capability>,
}

/// The toolsets of all files among the sources; `None` if there are no sources.
///
/// `--from` takes precedence over the configuration. Sources that are servers or programs are left
/// out, because they would have to be started. Files that cannot be read are left out, too: the
/// caller then reports that the toolset is not found.
fn all_toolsets(args: &GrantAddArgs) -> anyhow::Result<Option<Vec<FoundToolset>>> {
    let plan = match args.from.as_slice() {
        [] => match sources::find_configuration(args.config.as_deref())? {
            Some(path) => SourcePlan::from_config(&path, ReadOptions::default(), &variable),
            None => return Ok(None),
        },
        paths => {
            let named: Vec<SourceArgument> =
                paths.iter().cloned().map(SourceArgument::Path).collect();
            SourcePlan::from_arguments(&named, ReadOptions::default(), &variable)
        }
    };
    let mut toolsets = Vec::new();
    for spec in &plan.specs {
        let SourceTarget::Definitions(path) = &spec.target else { continue };
        let load = sources::workspace().load(std::slice::from_ref(path), spec.options);
        for reading in load.documents.iter().filter_map(|document| document.reading.as_ref()) {
            toolsets.extend(toolset_of(reading, spec.implementations.clone()));
        }
    }
    Ok(Some(toolsets))
}

/// The toolset that the arguments name, by its own name or by the id of one of its tools.
///
/// ```text
/// notes        the namespace of a toolset
/// notes:add    the id of a tool: its toolset is meant
/// nots         an error that suggests `notes`
/// ```
///
/// # Errors
/// If there is none, with the nearest name, or more than one: then a person has to choose the file.
fn find_toolset(args: &GrantAddArgs) -> anyhow::Result<FoundToolset> {
    let Some(toolsets) = all_toolsets(args)? else {
        bail!(
            "there is no `toolwright.toml` here or above to find `{}` in; name its file with \
             `--from FILE`, or its content with `--hash HASH`",
            args.toolset
        )
    };
    let is_it = |it: &FoundToolset| it.name == args.toolset || it.tools.contains(&args.toolset);
    let mut found = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for toolset in toolsets {
        names.push(toolset.name.clone());
        names.extend(toolset.tools.iter().cloned());
        if is_it(&toolset) {
            found.push(toolset);
        }
    }
    match (found.len(), found.pop()) {
        (1, Some(toolset)) => Ok(toolset),
        (0, _) => match nearest_word(&args.toolset, names.iter().map(String::as_str)) {
            Some(near) => {
                bail!("there is no toolset or tool `{}`; did you mean `{near}`?", args.toolset)
            }
            None => bail!(
                "no definition here has the toolset or tool `{}`; for that of a server, use the \
                 command that the refusal of its call names",
                args.toolset
            ),
        },
        (count, _) => {
            bail!("{count} definitions have the toolset `{}`: name one with `--from`", args.toolset)
        }
    }
}

/// The toolset of a document, by the name that its tools have in grants: the namespace, else the
/// first part of the id of the first tool.
///
/// `None` for a document without namespace and without a tool that has an id: no grant could name
/// it. `implementations` is the folder with the code of its tools, if the source names one.
fn toolset_of(
    reading: &toolwright_formats::Reading,
    implementations: Option<PathBuf>,
) -> Option<FoundToolset> {
    let toolset = &reading.toolset;
    let namespace = toolset.namespace.ok();
    let ids = toolset.tools.iter().filter_map(|tool| tool.id(namespace));
    let tools: Vec<String> = ids.map(|id| id.to_string()).collect();
    let name = match &toolset.namespace {
        FieldValue::Valid(namespace) => namespace.to_string(),
        _ => tools.first()?.split(':').next()?.to_owned(),
    };
    let files = code_files(reading, implementations.as_deref());
    let hash = ContentHasher::new(reading).toolset(&files);
    let declared = toolset.declared_capabilities().cloned().collect();
    Some(FoundToolset { name, hash, tools, declared })
}

/// Removes grants from the store, and those that people gave for sessions of running programs.
/// Takes effect with the next call there. The suggestion is a toolset or, if the toolset is known,
/// a capability of it.
///
/// # Errors
/// If nothing matches: a person who misspells a name must not believe that the grant is gone.
fn revoke(store: &Store, filter: &GrantFilter) -> anyhow::Result<ExitStatus> {
    let mut revoked = store.revoke_grants(filter)?;
    revoked.extend(store.revoke_session_grants(filter)?.into_iter().map(|row| row.grant));
    if revoked.is_empty() {
        let grants = store.grants()?;
        let wanted = filter.toolset.as_deref().unwrap_or_default();
        let names = grants.iter().map(|grant| grant.toolset.as_str());
        let near = nearest_word(wanted, names.clone()).filter(|near| *near != wanted);
        let capabilities = || {
            let of_toolset = grants.iter().filter(|grant| grant.toolset == wanted);
            of_toolset.map(|grant| grant.capability.as_str())
        };
        let near_capability = filter.capabilities.iter().find_map(|capability| {
            nearest_word(capability, capabilities().collect::<Vec<_>>().into_iter())
        });
        return Err(match near.or(near_capability) {
            Some(near) => anyhow!("nothing was revoked; did you mean `{near}`?"),
            None => anyhow!("nothing was revoked: there is no such grant"),
        });
    }
    for grant in revoked {
        messages::print_note(&format!(
            "revoked: `{}` of `{}` for `{}`",
            grant.capability, grant.toolset, grant.agent
        ));
    }
    Ok(ExitStatus::Clean)
}
