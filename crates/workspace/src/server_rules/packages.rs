//! UNPINNED_PACKAGE: programs that fetch a package and run it, without saying which version.
//!
//! `npx -y server` runs whatever its author, or somebody who took over the account, released last.
//! A version is a spec with a digit behind its name. `latest` and other tags are not versions, nor
//! are ranges, which `^`, `~`, `>`, `*` or `x` show: what they run changes with the next release.
//! The first parts of a version (`server@1`) count as one. Packages of a local path are not
//! fetched, and a spec with a reference in it is not known here; both are left alone.
//!
//! ```text
//! npx -y server              reported, help: server@1.2.3
//! npx -y server@1            pinned
//! uvx --from server cmd      reported, help: server==1.2.3
//! docker run -i image:latest reported, help: image:1.2.3
//! npx ./server, npx $PKG     not a package, or not known here
//! ```

use toolwright_source::words::shorten;

use super::{CommandLine, ServerFinding, WrittenServer, masked_text};
use crate::codes::UNPINNED_PACKAGE;

/// Reports the packages that the command runs without a version.
///
/// One finding for each command line: a shell may run several. There is no fix, since nobody here
/// knows which version is meant.
pub(super) fn check<P: Clone>(server: &WrittenServer<P>) -> Vec<ServerFinding<P>> {
    let words: Vec<&str> = server.command.iter().map(|word| word.text.as_str()).collect();
    let mut found = Vec::new();
    for line in CommandLine::all(&words) {
        let Some(package) = unpinned_package(&line) else { continue };
        let UnpinnedPackage { argument, runner, spec, pinned, .. } = package;
        // The address of a repository may have a password.
        let name = shorten(&masked_text(&spec));
        let message = match package.registry {
            Registry::Images => format!("`{runner}` runs whatever image `{name}` is now"),
            _ => format!("`{runner}` runs whatever version of `{name}` is the newest"),
        };
        let help = format!(
            "name a version, as in `{}`: then a new release cannot change what runs here",
            shorten(&masked_text(&pinned))
        );
        found.push(ServerFinding::new(
            &UNPINNED_PACKAGE,
            &server.command[argument].at,
            message,
            help,
        ));
    }
    found
}

/// A package that is run without a version.
struct UnpinnedPackage {
    /// The number of the word that names it.
    argument: usize,
    /// The program that fetches it, as in `npx` or `docker run`.
    runner: String,
    /// The package as it is written.
    spec: String,
    /// The same with a version.
    pinned: String,
    registry: Registry,
}

/// Where a program fetches packages from, which decides how a version is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Registry {
    Npm,
    Python,
    /// Those of Deno, which a prefix names; without one it is a file or an address.
    Deno,
    Images,
}

/// A program that fetches what it runs.
struct PackageRunner {
    /// The program, and the words behind it that make it run a package.
    words: &'static [&'static str],
    registry: Registry,
    /// The options that name the package, instead of the first word that is not an option.
    package_options: &'static [&'static str],
    /// Other options whose value is the next word.
    value_options: &'static [&'static str],
}

/// The options of `uvx` whose value is the next word, apart from the one that names the package.
#[rustfmt::skip]
const UV_OPTIONS: &[&str] = &[
    "--with", "-w", "--with-editable", "--with-requirements", "--python", "-p", "--index",
    "--default-index", "--index-url", "-i", "--extra-index-url", "--find-links", "-f",
    "--constraints", "-c", "--overrides", "--env-file", "--directory", "--project", "--cache-dir",
    "--config-file", "--index-strategy", "--keyring-provider", "--prerelease", "--resolution",
    "--refresh-package", "--link-mode", "--color", "--build-constraints", "-b", "--exclude-newer",
];
/// The same of `npx` and `npm exec`.
const NPX_OPTIONS: &[&str] =
    &["-c", "--call", "-w", "--workspace", "--registry", "--prefix", "--cache"];

/// The programs that are known to fetch what they run.
#[rustfmt::skip]
const RUNNERS: &[PackageRunner] = &[
    PackageRunner { words: &["npx"], registry: Registry::Npm, package_options: &["-p", "--package"], value_options: NPX_OPTIONS },
    PackageRunner { words: &["npm", "exec"], registry: Registry::Npm, package_options: &["--package"], value_options: NPX_OPTIONS },
    PackageRunner { words: &["npm", "x"], registry: Registry::Npm, package_options: &["--package"], value_options: NPX_OPTIONS },
    PackageRunner { words: &["pnpm", "dlx"], registry: Registry::Npm, package_options: &["--package"], value_options: &[] },
    PackageRunner { words: &["pnpx"], registry: Registry::Npm, package_options: &["--package"], value_options: &[] },
    PackageRunner { words: &["yarn", "dlx"], registry: Registry::Npm, package_options: &["-p", "--package"], value_options: &[] },
    PackageRunner { words: &["bunx"], registry: Registry::Npm, package_options: &["-p", "--package"], value_options: &[] },
    PackageRunner { words: &["bun", "x"], registry: Registry::Npm, package_options: &["-p", "--package"], value_options: &[] },
    PackageRunner { words: &["uvx"], registry: Registry::Python, package_options: &["--from"], value_options: UV_OPTIONS },
    PackageRunner { words: &["uv", "tool", "run"], registry: Registry::Python, package_options: &["--from"], value_options: UV_OPTIONS },
    PackageRunner { words: &["pipx", "run"], registry: Registry::Python, package_options: &["--spec"], value_options: &["--python", "--pip-args", "--index-url", "-i", "--with"] },
    PackageRunner { words: &["deno", "run"], registry: Registry::Deno, package_options: &[], value_options: &["-c", "--config", "--import-map", "--env-file", "--cert", "--location", "--seed", "--preload"] },
    PackageRunner { words: &["docker", "run"], registry: Registry::Images, package_options: &[], value_options: &[] },
    PackageRunner { words: &["docker", "container", "run"], registry: Registry::Images, package_options: &[], value_options: &[] },
    PackageRunner { words: &["podman", "run"], registry: Registry::Images, package_options: &[], value_options: &[] },
    PackageRunner { words: &["nerdctl", "run"], registry: Registry::Images, package_options: &[], value_options: &[] },
];

/// The options of `docker run` that have no value. All others have one, in the same word or in the
/// next: there are about a hundred of them, and new ones come with every release.
#[rustfmt::skip]
const DOCKER_FLAGS: &[&str] = &[
    "--detach", "--disable-content-trust", "--help", "--init", "--interactive",
    "--no-healthcheck", "--oom-kill-disable", "--privileged", "--publish-all", "--quiet",
    "--read-only", "--rm", "--sig-proxy", "--tty", "--use-api-socket", "--replace", "--no-hosts",
];

/// The program that fetches a package, and the package as the command line names it: the number of
/// the word, and its text.
///
/// Skips options with their values. An unknown option counts as one without a value, so that its
/// value may be taken for the package; for `docker run` it is the other way round.
///
/// `None` for other programs, and for options that keep anything from being fetched.
fn package_word<'w>(
    program: &str,
    words: &[&'w str],
) -> Option<(&'static PackageRunner, usize, &'w str)> {
    let runner = RUNNERS.iter().find(|runner| {
        program == runner.words[0] && words.get(1..runner.words.len()) == Some(&runner.words[1..])
    })?;
    let mut n = runner.words.len();
    // Options up to the package. Without an option that names it, the package is what follows.
    let (n, spec) = loop {
        let word = *words.get(n)?;
        if word == "--" {
            n += 1;
            continue;
        }
        if !word.starts_with('-') || word == "-" {
            break (n, word);
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, None),
        };
        // `--no-install` and `npx --no` run only what is installed already.
        if runner.registry == Registry::Npm
            && matches!(option, "--no-install" | "--no" | "--offline")
        {
            return None;
        }
        if runner.package_options.contains(&option) {
            match value {
                Some(value) => break (n, value),
                None => break (n + 1, *words.get(n + 1)?),
            }
        }
        let has_value = match runner.registry {
            Registry::Images => is_docker_option(option),
            _ => runner.value_options.contains(&option),
        };
        n += if has_value && value.is_none() { 2 } else { 1 };
    };
    Some((runner, n, spec))
}

/// The runner and the package of a command line, such as `npx pkg@1.2.0`.
pub(super) fn package_of(line: &CommandLine<'_>) -> Option<String> {
    let words: Vec<&str> = line.words.iter().map(|(_, word)| &**word).collect();
    let (runner, _, spec) = package_word(line.program(), &words)?;
    // The address of a repository may have a password, and this is written into the lock.
    Some(format!("{} {}", runner.words.join(" "), masked_text(spec)))
}

/// The package that a command line runs without a version.
/// `None` if the command line runs no package, or one that is pinned or not fetched.
fn unpinned_package(line: &CommandLine<'_>) -> Option<UnpinnedPackage> {
    let words: Vec<&str> = line.words.iter().map(|(_, word)| &**word).collect();
    let (runner, n, spec) = package_word(line.program(), &words)?;
    let pinned = match runner.registry {
        _ if spec.contains('$') || spec.is_empty() => None,
        Registry::Npm => pin_npm(spec),
        Registry::Deno => ["npm:", "jsr:"].into_iter().find_map(|prefix| {
            let name = spec.strip_prefix(prefix)?;
            // `npm:/server` is the same as `npm:server`.
            Some(format!("{prefix}{}", pin_npm(name.trim_start_matches('/'))?))
        }),
        Registry::Python => pin_python(spec),
        Registry::Images => pin_image(spec),
    }?;
    Some(UnpinnedPackage {
        argument: line.words[n].0,
        runner: runner.words.join(" "),
        spec: spec.to_owned(),
        pinned,
        registry: runner.registry,
    })
}

/// Whether an option of `docker run` has a value in the next word: `-it` has none, `-v` has one,
/// `-v/a:/b` has it in the same word.
fn is_docker_option(option: &str) -> bool {
    if option.starts_with("--") {
        return !DOCKER_FLAGS.contains(&option);
    }
    let letters = option.trim_start_matches('-');
    // A group of flags ends at the first letter that takes a value, and the rest is that value.
    match letters.find(|letter: char| !"ditPq".contains(letter)) {
        Some(at) => at + 1 == letters.len(),
        None => false,
    }
}

/// A version has a digit; `latest`, `next` and `*` do not. A range has a sign of one.
///
/// `1`, `v2.0`, `==1.4` are; `latest`, `^1`, `1.x` are not.
fn is_version(text: &str) -> bool {
    let text = text.trim_start_matches("==").trim_start_matches(['=', '@', 'v']);
    // `1.x` and `1.*`, but not the `x` of a name behind the number.
    let is_any = |part: &str| matches!(part, "x" | "X" | "*");
    let is_range =
        text.contains(['^', '~', '>', '<', '|', ' ', ',', '!']) || text.split('.').any(is_any);
    text.bytes().any(|byte| byte.is_ascii_digit()) && !is_range
}

/// Whether a spec is a path and not the name of a package.
///
/// `C:` at the start is a path of Windows.
fn is_local(spec: &str) -> bool {
    spec.starts_with(['.', '/', '~', '\\'])
        || spec.starts_with("file:")
        || [".tgz", ".whl", ".tar.gz", ".py", ".js"].iter().any(|end| spec.ends_with(end))
        || spec.as_bytes().get(1) == Some(&b':')
}

/// The spec of an npm package with a version added; `None` if it has one or needs none.
///
/// ```text
/// server             server@1.2.3
/// @scope/server@1    none: it has one
/// github:a/b         github:a/b#COMMIT
/// ./server           none: it is not fetched
/// ```
fn pin_npm(spec: &str) -> Option<String> {
    let is_git = spec.contains("://")
        || spec.starts_with("git")
        || !spec.starts_with('@') && spec.contains('/');
    if is_local(spec) {
        None
    } else if is_git && (spec.contains(':') || spec.contains('/')) {
        // A branch moves as `latest` does, but a commit and a tag look like each other.
        (!spec.contains('#')).then(|| format!("{spec}#COMMIT"))
    } else {
        // The first `@` of `@scope/name@1.0.0` belongs to the name.
        let (name, version) = match spec.rfind('@').filter(|at| *at > 0) {
            Some(at) => (&spec[..at], &spec[at + 1..]),
            None => (spec, ""),
        };
        (!is_version(version)).then(|| format!("{name}@1.2.3"))
    }
}

/// The spec of a Python package with a version added; `None` if it has one or needs none.
///
/// ```text
/// server                    server==1.2.3
/// server==1.4               none: it has one
/// git+https://host/repo     git+https://host/repo@COMMIT
/// ```
fn pin_python(spec: &str) -> Option<String> {
    if is_local(spec) {
        return None;
    }
    if let Some((_, address)) = spec.split_once("git+") {
        // The reference is behind the last part of the path: `git+https://host/repo@v1`.
        let last = address.rsplit('/').next().unwrap_or(address);
        return (!last.contains('@')).then(|| format!("{spec}@COMMIT"));
    }
    if spec.contains("://") {
        return None;
    }
    let (name, version) =
        spec.find(['=', '@', '<', '>', '~', '!']).map_or((spec, ""), |at| spec.split_at(at));
    (!is_version(version)).then(|| format!("{}==1.2.3", name.trim()))
}

/// An image with a tag; `None` if it has a digest or a tag that does not follow the newest image.
///
/// ```text
/// image, image:latest       image:1.2.3
/// host:5000/image:2         none: it has one
/// image@sha256:…            none: a digest never moves
/// ```
fn pin_image(image: &str) -> Option<String> {
    if image.contains('@') || image.starts_with("sha256:") {
        return None;
    }
    // A colon before the last slash belongs to the port of the registry.
    let name = image.rfind('/').map_or(0, |slash| slash + 1);
    let (image, tag) = match image[name..].find(':') {
        Some(colon) => (&image[..name + colon], &image[name + colon + 1..]),
        None => (image, ""),
    };
    (!is_version(tag)).then(|| format!("{image}:1.2.3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The argument that names a package without a version.
    fn found(line: &str) -> Option<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let lines = CommandLine::all(&words);
        lines.iter().find_map(unpinned_package).map(|package| {
            assert!(words[package.argument].contains(&package.spec) || words.contains(&"-c"));
            format!("{}: {}", package.runner, package.pinned)
        })
    }

    #[test]
    fn packages_without_a_version_are_found() {
        for (line, pinned) in [
            ("npx server", "npx: server@1.2.3"),
            ("npx -y @scope/server", "npx: @scope/server@1.2.3"),
            ("npx -y @scope/server@latest", "npx: @scope/server@1.2.3"),
            ("npx --yes server@next --port 1", "npx: server@1.2.3"),
            ("/usr/bin/npx server@*", "npx: server@1.2.3"),
            ("npx.cmd -y server", "npx: server@1.2.3"),
            ("npx -p @scope/a -- run", "npx: @scope/a@1.2.3"),
            ("npx --package=a b", "npx: a@1.2.3"),
            ("npx github:user/repo", "npx: github:user/repo#COMMIT"),
            ("npx user/repo", "npx: user/repo#COMMIT"),
            ("npx gitlab-mcp", "npx: gitlab-mcp@1.2.3"),
            ("npm exec -- server", "npm exec: server@1.2.3"),
            ("pnpm dlx server", "pnpm dlx: server@1.2.3"),
            ("yarn dlx server", "yarn dlx: server@1.2.3"),
            ("bunx server", "bunx: server@1.2.3"),
            ("bun x server", "bun x: server@1.2.3"),
            ("uvx server", "uvx: server==1.2.3"),
            ("uvx server@latest", "uvx: server==1.2.3"),
            ("uvx --python 3.12 server[cli]", "uvx: server[cli]==1.2.3"),
            ("uvx --with requests==2 server", "uvx: server==1.2.3"),
            ("uvx --from server run", "uvx: server==1.2.3"),
            ("uvx --from git+https://h/u/r run", "uvx: git+https://h/u/r@COMMIT"),
            ("uv tool run server", "uv tool run: server==1.2.3"),
            ("pipx run server", "pipx run: server==1.2.3"),
            ("pipx run --spec server run", "pipx run: server==1.2.3"),
            ("docker run image", "docker run: image:1.2.3"),
            ("docker run -i --rm -e TOKEN ghcr.io/a/b", "docker run: ghcr.io/a/b:1.2.3"),
            ("docker run -it -v /a:/b --network host a/b:latest", "docker run: a/b:1.2.3"),
            ("docker run --env=A=1 -p8080:80 host:5000/b", "docker run: host:5000/b:1.2.3"),
            ("docker container run --rm image", "docker container run: image:1.2.3"),
            ("podman run --rm image:main", "podman run: image:1.2.3"),
            ("npx server@^2", "npx: server@1.2.3"),
            ("npx server@~2.1", "npx: server@1.2.3"),
            ("npx server@1.x", "npx: server@1.2.3"),
            ("npx server@>=1", "npx: server@1.2.3"),
            ("uvx server>=1,<2", "uvx: server==1.2.3"),
            ("uvx server~=1.4", "uvx: server==1.2.3"),
            ("uvx server==1.*", "uvx: server==1.2.3"),
            ("deno run npm:server", "deno run: npm:server@1.2.3"),
            ("deno run -A --env-file x npm:@scope/server", "deno run: npm:@scope/server@1.2.3"),
            ("deno run --allow-net jsr:@scope/server@^1", "deno run: jsr:@scope/server@1.2.3"),
            ("env A=1 npx server", "npx: server@1.2.3"),
            ("cmd /c npx -y server", "npx: server@1.2.3"),
        ] {
            assert_eq!(found(line).unwrap_or_default(), pinned, "{line}");
        }
        let shell = ["bash", "-lc", "cd /srv && npx -y server"];
        let package = CommandLine::all(&shell).iter().find_map(unpinned_package);
        assert_eq!(package.map(|package| package.argument), Some(2));
    }

    #[test]
    fn near_misses_are_not() {
        for line in [
            "npx -y @scope/server@1.0.0",
            "npx server@2.0.0-rc.1",
            "npx server@v2.0.0",
            "npx -y server@${VERSION}",
            "npx --no-install server",
            "npx ./server",
            "npx server-1.0.tgz",
            "npx github:user/repo#abc1234",
            "npx -p a@1 b",
            "npx",
            "npx -y",
            "npm run start",
            "npm install server",
            "node server.js",
            "uvx server==1.0",
            "uvx server@0.3.1",
            "uvx server===1.0",
            "deno run npm:server@1.2.3",
            "deno run -A server.ts",
            "deno run https://deno.land/x/server@v1/main.ts",
            "deno task start",
            "uvx ./server",
            "uvx --from git+https://h/u/r@v1.0 run",
            "uv run server.py",
            "uv pip install server",
            "pipx run server==1.0",
            "docker run image:1.2",
            "docker run -i --rm -e TOKEN ghcr.io/a/b@sha256:0123",
            "docker run --rm host:5000/b:2",
            "docker compose up",
            "docker exec -i box server",
            "python -m server",
            "my-npx server",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
