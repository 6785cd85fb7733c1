//! `toolwright install`: writes the entry that starts `toolwright serve` into the file of an MCP
//! client, after showing what changes, and takes it out again with `--undo`.
//!
//! ```text
//! file ─ ClientText::with_entry ─▶ new text ─ diff, question ─ backup ─ atomic write
//!   backup ◀──────────────── --undo: the backup as it is, or the entry alone ─┘
//! ```
//!
//! The backup holds the file as it was before. Clients change their files all the time, so `--undo`
//! puts the backup back only if nothing but the entry differs; otherwise it edits the entry.
//!
//! Files of clients are edited and never generated: comments, order and layout stay, because the
//! file belongs to the person. What cannot be edited in this way is refused.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde_json::Value as Json;
use toolwright_workspace::{
    Client, ClientFile, ClientFolders, ClientText, ReadOptions, SourcePlan, entry_diff,
    replace_file,
};

use crate::args::InstallArgs;
use crate::environment::{self, variable};
use crate::messages::print_note;
use crate::output::{self, ExitStatus};
use crate::question::{Answer, ask};
use crate::sources;

/// The name of the entry in all clients. `--undo` finds the entry by it, so it cannot be chosen.
const ENTRY: &str = "toolwright";

/// Adds `toolwright serve` to a client's file, after the person has agreed. The entry of a project
/// does not name the path of this program: the file is shared, and the program is elsewhere on
/// other machines.
///
/// # Errors
/// If there is no configuration to serve, the file cannot be read, edited or written, or the person
/// does not want it.
pub(crate) fn run(args: &InstallArgs) -> anyhow::Result<ExitStatus> {
    let client = Client::find(&args.client).expect("clap accepts only the clients of the table");
    let config = match sources::find_configuration(args.config.as_deref())? {
        Some(config) => Some(std::path::absolute(&config).unwrap_or(config)),
        // Undoing needs none.
        None if args.undo => None,
        None => bail!(
            "there is no `toolwright.toml` here or above to serve; `toolwright init` writes one"
        ),
    };
    let here = std::env::current_dir().context("cannot find the working directory")?;
    let project = config.as_deref().and_then(Path::parent).unwrap_or(&here).to_owned();
    let folders = environment::client_folders(project)?;
    let Some(file) = client.installed_in(args.project) else {
        bail!("{} has no file for a project; leave out `--project`", client.name);
    };
    let target = InstallTarget::open(client, file, &folders)?;
    if args.undo {
        return target.undo(args.yes);
    }
    let program = environment::own_path().context("cannot find this program")?;
    let config = config.expect("only undoing, which has returned, goes on without one");
    let entry = client.entry((!args.project).then_some(program.as_path()), &config);
    let status = target.install(&entry, args.yes)?;
    target.warn_of_duplicates(&config);
    Ok(status)
}

/// The file of a client, as it was read.
///
/// Read once: what is shown to the person and what is written are made from the same text, and a
/// file that changed since is refused when it is replaced.
struct InstallTarget<'f> {
    /// From the table of clients, for its name in messages.
    client: &'static Client,
    /// Which of the client's files: that of the user, or that of the project.
    file: &'static ClientFile,
    /// Where clients keep their files for this user and this project.
    folders: &'f ClientFolders,
    path: PathBuf,
    /// The path as people write it.
    name: String,
    /// The text; `None` if there is no file.
    text: Option<String>,
}

impl<'f> InstallTarget<'f> {
    fn open(
        client: &'static Client,
        file: &'static ClientFile,
        folders: &'f ClientFolders,
    ) -> anyhow::Result<InstallTarget<'f>> {
        let path = file.path(folders);
        let name = folders.display(&path);
        let text = read_text(&path)?;
        Ok(InstallTarget { client, file, folders, path, name, text })
    }

    /// The text of the file, or another one in its place. `text` is used in place of the file's, to
    /// find out what an edit of another text would give.
    fn client_text<'t>(&self, text: &'t str) -> ClientText<'t> {
        ClientText::new(self.file, self.folders, text)
    }

    /// The text with this entry, or without any. The rest stays byte by byte, comments included.
    fn edited(&self, text: &str, entry: Option<&Json>) -> anyhow::Result<String> {
        let edited = self.client_text(text).with_entry(ENTRY, entry);
        edited.map_err(|error| anyhow!("`{}` is left as it is: {error}", self.name))
    }

    /// The present entry of this name; `None` if there is none.
    fn entry(&self, text: &str) -> anyhow::Result<Option<Json>> {
        let entry = self.client_text(text).entry(ENTRY);
        entry.map_err(|error| anyhow!("`{}` is left as it is: {error}", self.name))
    }

    /// Beside the file, also where that is a link: the folder it leads to may be a repository.
    fn backup(&self) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".before-toolwright");
        self.path.with_file_name(name)
    }

    /// Puts the entry into the file. The backup is written first, and never over an older one that
    /// is from before the entry.
    ///
    /// An entry that is there already is replaced, for example after the configuration has moved.
    fn install(&self, entry: &Json, yes: bool) -> anyhow::Result<ExitStatus> {
        let before = self.text.as_deref().unwrap_or_default();
        let present = self.entry(before)?;
        if present.as_ref() == Some(entry) {
            output::print(&format!(
                "{} has this entry already: {}\n",
                self.client.name, self.name
            ))?;
            return Ok(ExitStatus::Clean);
        }
        let after = self.edited(before, Some(entry))?;
        self.confirm(before, &after, "Write it?", yes)?;
        let backup = self.backup();
        // With an entry of ours in it, the file is not the one before, and an older backup counts.
        if self.text.is_some() && (present.is_none() || !backup.exists()) {
            std::fs::copy(&self.path, &backup)
                .with_context(|| format!("cannot write `{}`", backup.display()))?;
        }
        self.write(Some(&after))?;
        let mut said = format!("written: {}\n", self.name);
        if backup.exists() {
            said += &format!("the file as it was: {}\n", self.folders.display(&backup));
        }
        output::print(&(said + &self.next_step()))?;
        Ok(ExitStatus::Clean)
    }

    /// Writes which servers the client now starts by itself and through `toolwright serve`. It
    /// reads its file for this project as well as the one for all of them.
    ///
    /// Names are compared, not commands: `init` takes the names from the clients, so they agree.
    fn warn_of_duplicates(&self, config: &Path) {
        let plan = SourcePlan::from_config(config, ReadOptions::default(), &variable);
        for file in self.client.files {
            let path = file.path(self.folders);
            // A file that cannot be read is not one that the client can read either.
            let Ok(Some(text)) = read_text(&path) else { continue };
            let text = ClientText::new(file, self.folders, &text);
            let names = plan.live_specs().map(|spec| spec.name.as_str());
            let has = |name: &&str| matches!(text.entry(name), Ok(Some(_)));
            let twice: Vec<String> = names.filter(has).map(|name| format!("`{name}`")).collect();
            if !twice.is_empty() {
                print_note(&format!(
                    "{} sees the tools of {} twice: `{}` lists them, too; take them out of one of \
                     the two",
                    self.client.name,
                    twice.join(", "),
                    self.folders.display(&path)
                ));
            }
        }
    }

    fn next_step(&self) -> String {
        format!(
            "restart {} to use it; `toolwright install {} --undo{}` takes it out again\n",
            self.client.name,
            self.client.id,
            if self.file.is_of_project() { " --project" } else { "" }
        )
    }

    /// Takes the entry out of the file, or puts the one back that was there before.
    ///
    /// Three cases: nothing but the entry has changed since the backup, so that is the file again;
    /// there was no file before and only the entry is in it, so it is removed; otherwise only the
    /// entry is edited.
    fn undo(&self, yes: bool) -> anyhow::Result<ExitStatus> {
        let now = self.text.as_deref().unwrap_or_default();
        let Some(entry) = self.entry(now)? else {
            bail!("there is nothing to undo: `{}` has no entry `{ENTRY}`", self.name);
        };
        let backup = self.backup();
        let earlier = read_text(&backup)?;
        // What the file would be if only the entry had been changed since the backup.
        let is_untouched = |earlier: &str| {
            self.edited(earlier, Some(&entry)).is_ok_and(|installed| installed == now)
        };
        let after = match earlier.as_deref() {
            Some(earlier) if is_untouched(earlier) => Some(earlier.to_owned()),
            None if is_untouched("") => None,
            earlier => {
                let before = earlier.map(|text| self.entry(text)).transpose()?.flatten();
                Some(self.edited(now, before.filter(|before| *before != entry).as_ref())?)
            }
        };
        self.confirm(now, after.as_deref().unwrap_or_default(), "Undo it?", yes)?;
        self.write(after.as_deref())?;
        if earlier.is_some() {
            // Its content is in the file again, or no longer what the file was.
            let _ = std::fs::remove_file(&backup);
        }
        let verb = if after.is_some() { "restored" } else { "removed" };
        output::print(&format!("{verb}: {}\n", self.name))?;
        Ok(ExitStatus::Clean)
    }

    /// Shows what changes, and asks. Other values of the file may be secrets, so `entry_diff` masks
    /// them or leaves them out.
    ///
    /// # Errors
    /// If the person says no, or nobody can be asked and `--yes` is not given.
    fn confirm(&self, before: &str, after: &str, question: &str, yes: bool) -> anyhow::Result<()> {
        let diff =
            entry_diff(&self.name, &self.client_text(before), &self.client_text(after), ENTRY);
        output::print(&(output::visible_lines(&diff) + "\n"))?;
        if yes {
            return Ok(());
        }
        match ask("", question) {
            Answer::Yes => Ok(()),
            Answer::No => bail!("nothing was written"),
            Answer::NotATerminal => bail!("nothing was written: add `--yes` to write it"),
        }
    }

    /// Writes the file, or removes it.
    ///
    /// # Errors
    /// If the file is not the one that was read any more: clients write to it while they run.
    fn write(&self, after: Option<&str>) -> anyhow::Result<()> {
        let before = self.text.as_deref().map(str::as_bytes);
        match after {
            Some(after) => {
                // A client that was never started has no folder for its settings yet.
                if let Some(folder) = self.path.parent() {
                    std::fs::create_dir_all(folder)
                        .with_context(|| format!("cannot make `{}`", folder.display()))?;
                }
                replace_file(&self.path, before, after.as_bytes()).map_err(|why| anyhow!("{why}"))
            }
            None => std::fs::remove_file(&self.path)
                .with_context(|| format!("cannot remove `{}`", self.name)),
        }
    }
}

/// The text of a file; `None` if there is none.
fn read_text(path: &Path) -> anyhow::Result<Option<String>> {
    // A link that leads nowhere is not a missing file: writing would replace the link.
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let bytes = toolwright_workspace::read_file(path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| anyhow!("`{}` is left as it is: it is not UTF-8", path.display()))?;
    Ok(Some(text))
}
