//! `toolwright agent`: makes agents, which are known by tokens of their own.
//!
//! The token is printed once and kept nowhere: the configuration has its SHA-256. A token is 32
//! random bytes, so a slow hash would protect nothing.
//!
//! ```text
//! agent add NAME ─▶ tw_ and 64 hexadecimal digits ─▶ stdout, once
//!                   its SHA-256 ─▶ [[agent]] name, token_sha256 ─▶ stdout, or the configuration
//! ```

use anyhow::{Context, anyhow, bail};
use sha2::{Digest, Sha256};
use toolwright_model::Namespace;
use toolwright_workspace::{ReadOptions, SourcePlan, read_file, replace_file};

use crate::args::{AgentAction, AgentArgs};
use crate::environment::variable;
use crate::output::{self, ExitStatus};
use crate::{messages, sources};

/// Runs the command. The token and the `[[agent]]` go to stdout. The names of the agents that every
/// process has (local and HTTP) are taken, too. With `--write` the entry is appended: a table array
/// may stand at the end of any TOML file. The configuration is replaced only if it is still what
/// was read, so an edit meanwhile is not lost. The token is printed after that: a token without an
/// entry would be useless.
///
/// # Errors
/// If the name cannot be that of an agent or is taken, or the configuration cannot be written.
pub(crate) fn run(args: &AgentArgs) -> anyhow::Result<ExitStatus> {
    let AgentAction::Add { name, write, config } = &args.action;
    let is_name = Namespace::parse(name).is_ok_and(|name| name.is_portable());
    if !is_name {
        bail!(
            "`{name}` cannot be the name of an agent: it may have letters, digits, `_`, `.`, `-`"
        );
    }
    let config = sources::find_configuration(config.as_deref())?;
    let plan = config
        .as_ref()
        .map(|path| SourcePlan::from_config(path, ReadOptions::default(), &variable));
    let own = [toolwright_exec::LOCAL_AGENT, toolwright_exec::HTTP_AGENT];
    let taken = plan.iter().flat_map(|plan| &plan.policy.agents);
    if own.contains(&name.as_str()) || taken.into_iter().any(|agent| agent.name == *name) {
        bail!("there is an agent `{name}` already");
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).context("cannot make a token")?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let token = format!("tw_{}", hex(&random));
    let hash = hex(&Sha256::digest(token.as_bytes()));
    let entry = format!("[[agent]]\nname = \"{name}\"\ntoken_sha256 = \"{hash}\"\n");
    if *write {
        let path = config.context(
            "there is no `toolwright.toml` here or above to write to; leave out `--write`",
        )?;
        let before = read_file(&path)?;
        let text = String::from_utf8(before.clone())
            .map_err(|_| anyhow!("`{}` is left as it is: it is not UTF-8", path.display()))?;
        let gap = if text.is_empty() { "" } else { "\n" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let after = format!("{text}{end}{gap}{entry}");
        let diff: String = entry.lines().map(|line| format!("+{line}\n")).collect();
        output::print(&format!("--- {0}\n+++ {0}\n{diff}", path.display()))?;
        replace_file(&path, Some(&before), after.as_bytes()).map_err(|why| anyhow!("{why}"))?;
        messages::print_note(&format!("written: {}", path.display()));
    } else {
        output::print(&format!("{entry}\n"))?;
        messages::print_note("put this into the configuration, or use `--write`");
    }
    output::print(&format!("token: {token}\n"))?;
    messages::print_note("the token is shown once and kept nowhere: give it to the agent now");
    Ok(ExitStatus::Clean)
}
