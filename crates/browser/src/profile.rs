//! The folder in which the browser keeps its data, and the user who owns it.
//!
//! Chromium gives up its own sandbox when root starts it. So root starts it as the owner of the
//! configured profile, or as `nobody`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::{PageError, PageErrorCode};

/// The ids of a user and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrowserUser {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// The folder of a profile.
#[derive(Debug)]
pub(crate) struct ProfileFolder {
    path: PathBuf,
    is_temporary: bool,
    /// Whom the browser runs as; `None`: as we do.
    pub(crate) user: Option<BrowserUser>,
}

impl ProfileFolder {
    /// The configured folder, made if it is missing, or a new temporary one.
    pub(crate) fn open(configured: Option<&Path>) -> Result<ProfileFolder, PageError> {
        let is_root = rustix::process::geteuid().is_root();
        match configured {
            None => {
                let folder = tempfile::Builder::new()
                    .prefix("toolwright-browser-")
                    .permissions(fs::Permissions::from_mode(0o700))
                    .tempdir()
                    .map_err(|error| failed(Path::new("a temporary folder"), &error))?;
                let profile = ProfileFolder {
                    path: folder.keep(),
                    is_temporary: true,
                    user: is_root.then(nobody),
                };
                profile.give_to_user()?;
                Ok(profile)
            }
            Some(path) => {
                fs::create_dir_all(path).map_err(|error| failed(path, &error))?;
                let path = fs::canonicalize(path).map_err(|error| failed(path, &error))?;
                let owner = fs::metadata(&path).map_err(|error| failed(&path, &error))?;
                let owner = BrowserUser { user: owner.uid(), group: owner.gid() };
                let user = if owner.user == 0 { nobody() } else { owner };
                let profile =
                    ProfileFolder { path, is_temporary: false, user: is_root.then_some(user) };
                profile.give_to_user()?;
                profile.check_reachable()?;
                Ok(profile)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// Makes everything in the folder that belongs to root belong to the browser's user.
    fn give_to_user(&self) -> Result<(), PageError> {
        let Some(BrowserUser { user, group }) = self.user else { return Ok(()) };
        let mut folders = vec![self.path.clone()];
        while let Some(path) = folders.pop() {
            let data = fs::symlink_metadata(&path).map_err(|error| failed(&path, &error))?;
            if data.uid() == 0 {
                std::os::unix::fs::lchown(&path, Some(user), Some(group))
                    .map_err(|error| failed(&path, &error))?;
            }
            if data.is_dir() {
                let entries = fs::read_dir(&path).map_err(|error| failed(&path, &error))?;
                folders.extend(entries.flatten().map(|entry| entry.path()));
            }
        }
        Ok(())
    }

    /// Root can enter every folder, the browser's user cannot.
    fn check_reachable(&self) -> Result<(), PageError> {
        let Some(BrowserUser { user, .. }) = self.user else { return Ok(()) };
        let closed = self.path.ancestors().skip(1).find(|folder| {
            fs::metadata(folder).is_ok_and(|data| {
                let bit = if data.uid() == user { 0o100 } else { 0o001 };
                data.permissions().mode() & bit == 0
            })
        });
        match closed {
            None => Ok(()),
            Some(folder) => Err(PageError::new(
                PageErrorCode::BrowserFailed,
                format!(
                    "the profile `{}` cannot be used: the browser runs as user {user}, not as \
                     root, and that user cannot enter `{}`",
                    self.path.display(),
                    folder.display()
                ),
            )),
        }
    }

    /// Removes a temporary folder. The processes of the browser must be gone: they would write it
    /// again.
    pub(crate) fn remove(&self) {
        // A process that was just killed may still be writing.
        for _ in 0..100 {
            if !self.is_temporary || fs::remove_dir_all(&self.path).is_ok() || !self.path.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// The user who has no rights.
fn nobody() -> BrowserUser {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users.lines().find_map(|line| line.strip_prefix("nobody:"));
    let mut ids = line.into_iter().flat_map(|line| line.split(':').skip(1)).map(str::parse::<u32>);
    let mut next = || ids.next().and_then(Result::ok).unwrap_or(65534);
    BrowserUser { user: next(), group: next() }
}

fn failed(path: &Path, error: &std::io::Error) -> PageError {
    let message = format!("cannot make the browser's profile `{}`: {error}", path.display());
    PageError::new(PageErrorCode::BrowserFailed, message)
}
