//! The folder in which the browser keeps its data, and the user who owns it.
//!
//! Chromium gives up its own sandbox when root starts it. So root starts it as the owner of the
//! configured profile, or as `nobody`. Only folders that are made here change their owner.
//!
//! A temporary folder is locked as long as its program lives. Those of programs that were killed
//! together with the shell that removes them are removed by the next start.
//!
//! | started by | configured | folder, and the user of the browser |
//! |---|---|---|
//! | a user | nothing | temporary; the same user |
//! | a user | a folder | that folder; the same user |
//! | root | nothing | temporary, given to `nobody` |
//! | root | a folder of a user | that folder; its owner |
//! | root | a folder of root | `toolwright-browser` inside of it, given to `nobody` if it is new |
//! | root | a new folder | that folder, given to `nobody` |

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{PageError, PageErrorCode};

/// How the names of temporary folders begin.
const TEMPORARY: &str = "toolwright-browser-";

/// The folder that root makes in a configured folder of its own.
const OWN_FOLDER: &str = "toolwright-browser";

/// A temporary folder of this age is locked, if its program lives.
const LOCKED_AFTER: Duration = Duration::from_secs(60);

/// The ids of a user and a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrowserUser {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// The folder of a profile.
///
/// Not removed by dropping it: that must wait until the processes are gone, see `remove`.
#[derive(Debug)]
pub(crate) struct ProfileFolder {
    path: PathBuf,
    is_temporary: bool,
    /// The user that the browser runs as; `None`: the user of this process.
    pub(crate) user: Option<BrowserUser>,
    /// The lock of a temporary folder, held as long as this value lives. The system gives it up
    /// when the process is killed, which is how `remove_stale` recognises folders without an owner.
    _lock: Option<fs::File>,
}

impl ProfileFolder {
    /// The configured folder, made if it is missing, or a new temporary one.
    pub(crate) fn open(configured: Option<&Path>) -> Result<ProfileFolder, PageError> {
        let is_root = is_root();
        match configured {
            None => ProfileFolder::new_temporary(&std::env::temp_dir(), is_root),
            Some(path) => ProfileFolder::open_configured(path, is_root),
        }
    }

    /// The folder is locked after it is made. `remove_stale` of another program could come between,
    /// which is why it leaves folders alone that are younger than `LOCKED_AFTER`.
    fn new_temporary(around: &Path, is_root: bool) -> Result<ProfileFolder, PageError> {
        let user = is_root.then(nobody);
        remove_stale(around, user);
        let failed = |error| failed(Path::new("a temporary folder"), &error);
        let folder = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(around)
            .map_err(failed)?;
        let lock = fs::File::open(folder.path()).map_err(failed)?;
        lock.lock().map_err(failed)?;
        if let Some(user) = user {
            user.give(folder.path())?;
        }
        let path = folder.path().to_owned();
        let profile = ProfileFolder { path, is_temporary: true, user, _lock: Some(lock) };
        profile.check_reachable()?;
        let _ = folder.keep();
        Ok(profile)
    }

    /// Prepares the configured folder for the user that the browser runs as; see the table above.
    ///
    /// # Errors
    /// If the folder belongs to root in a way that cannot be worked around, or the browser's user
    /// cannot enter it. The message names the folder.
    fn open_configured(path: &Path, is_root: bool) -> Result<ProfileFolder, PageError> {
        let mut is_new = make_folder(path)?;
        let mut path = fs::canonicalize(path).map_err(|error| failed(path, &error))?;
        if is_root && !is_new && owner_of(&path)?.user == 0 {
            // Root's files keep their owner, so the browser gets a folder inside.
            path.push(OWN_FOLDER);
            is_new = make_folder(&path)?;
        }
        let mut user = None;
        if is_root {
            let owner = if is_new { nobody() } else { owner_of(&path)? };
            if is_new {
                owner.give(&path)?;
            }
            if owner.user == 0 {
                let message = format!(
                    "the profile `{}` cannot be used: it belongs to root, and the browser does \
                     not run as root; name a folder of another user, or one that does not exist",
                    path.display()
                );
                return Err(PageError::new(PageErrorCode::BrowserFailed, message));
            }
            user = Some(owner);
        }
        let profile = ProfileFolder { path, is_temporary: false, user, _lock: None };
        profile.check_reachable()?;
        Ok(profile)
    }

    /// Without links, for configured folders.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// Root can enter every folder, the browser's user cannot. Chromium would only say that it
    /// cannot write its profile, so the folder in the way is named here.
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

impl BrowserUser {
    /// Gives a folder that was just made to this user.
    fn give(self, path: &Path) -> Result<(), PageError> {
        std::os::unix::fs::lchown(path, Some(self.user), Some(self.group))
            .map_err(|error| failed(path, &error))
    }
}

/// Makes a folder for one user, and those around it; returns whether it was missing.
fn make_folder(path: &Path) -> Result<bool, PageError> {
    if let Some(around) = path.parent() {
        fs::create_dir_all(around).map_err(|error| failed(path, &error))?;
    }
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(path, &error)),
    }
}

/// The owner of a folder; not of one that a link leads to.
///
/// A link could be changed between this look and its use, so it is not followed.
fn owner_of(path: &Path) -> Result<BrowserUser, PageError> {
    let data = fs::symlink_metadata(path).map_err(|error| failed(path, &error))?;
    if !data.is_dir() {
        return Err(failed(path, &std::io::ErrorKind::NotADirectory.into()));
    }
    Ok(BrowserUser { user: data.uid(), group: data.gid() })
}

/// Removes temporary folders of our user whose programs are gone. What cannot be removed stays.
///
/// Called before each new temporary folder is made. Only folders of the user that the browser runs
/// as are touched, with the prefix of this program.
fn remove_stale(folder: &Path, user: Option<BrowserUser>) {
    let owner = user.map_or_else(|| rustix::process::geteuid().as_raw(), |user| user.user);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            continue;
        }
        let is_old = entry.metadata().is_ok_and(|data| {
            let age = data.modified().ok().and_then(|time| time.elapsed().ok());
            data.is_dir() && data.uid() == owner && age.is_some_and(|age| age > LOCKED_AFTER)
        });
        let is_free = || fs::File::open(entry.path()).is_ok_and(|it| it.try_lock().is_ok());
        if is_old && is_free() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this program runs as root, and the browser as another user.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The user who has no rights.
///
/// By name, since its number differs between systems; 65534 if it is not listed.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that others can enter.
    fn open_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
        folder
    }

    #[test]
    fn only_folders_that_are_made_here_change_their_owner() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let owner = |path: &Path| owner_of(path).expect("a folder").user;
        let folder = open_folder();
        let own = folder.path().join("own");
        fs::create_dir_all(own.join("inside")).expect("folders");
        let profile = ProfileFolder::open(Some(&own)).expect("a profile");
        assert_eq!(profile.path(), own.join(OWN_FOLDER));
        assert_eq!(owner(profile.path()), nobody().user);
        assert_eq!((owner(&own), owner(&own.join("inside"))), (0, 0));
        // The same one again.
        let again = ProfileFolder::open(Some(&own)).expect("a profile");
        assert_eq!((again.path(), again.user), (profile.path(), Some(nobody())));
        // A new folder is the profile itself, and stays it.
        let new = folder.path().join("around/new");
        for _ in 0..2 {
            let profile = ProfileFolder::open(Some(&new)).expect("a profile");
            assert_eq!((profile.path(), profile.user), (new.as_path(), Some(nobody())));
        }
        assert_eq!(owner(&folder.path().join("around")), 0);
        // Of another user: the browser runs as that one, and nothing changes its owner.
        let other = folder.path().join("other");
        fs::create_dir_all(other.join("inside")).expect("folders");
        let user = BrowserUser { user: 12345, group: 12345 };
        user.give(&other).expect("a change of the owner");
        let profile = ProfileFolder::open(Some(&other)).expect("a profile");
        assert_eq!((profile.path(), profile.user), (other.as_path(), Some(user)));
        assert_eq!(owner(&other.join("inside")), 0);
        // A subfolder that root made itself is not ours.
        let taken = folder.path().join("taken");
        fs::create_dir_all(taken.join(OWN_FOLDER)).expect("folders");
        let error = ProfileFolder::open(Some(&taken)).expect_err("refused");
        assert!(error.message.contains("belongs to root"), "{error}");
        assert_eq!(owner(&taken.join(OWN_FOLDER)), 0);
    }

    #[test]
    fn a_temporary_folder_that_the_user_cannot_enter_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let closed = fs::Permissions::from_mode(0o700);
        fs::set_permissions(folder.path(), closed).expect("permissions");
        let made = ProfileFolder::new_temporary(folder.path(), is_root());
        if is_root() {
            let error = made.expect_err("root does not run it").message;
            let place = folder.path().display().to_string();
            assert!(error.contains("cannot enter") && error.contains(&place), "{error}");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        } else {
            assert!(made.is_ok());
        }
    }

    #[test]
    fn folders_of_dead_programs_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.join("Default")).expect("a folder");
            path
        };
        let age = |path: &Path| {
            let old = std::time::SystemTime::now() - LOCKED_AFTER * 2;
            let file = fs::File::open(path).expect("a folder");
            file.set_modified(old).expect("a time");
            file
        };
        let (stale, young) = (made("toolwright-browser-a"), made("toolwright-browser-b"));
        let (locked, foreign) = (made("toolwright-browser-c"), made("other-d"));
        for path in [&stale, &foreign] {
            age(path);
        }
        let lock = age(&locked);
        lock.lock().expect("a lock");
        remove_stale(folder.path(), None);
        let left = [&stale, &young, &locked, &foreign].map(|path| path.exists());
        assert_eq!(left, [false, true, true, true]);
        drop(lock);
        remove_stale(folder.path(), None);
        assert!(!locked.exists());
    }
}
