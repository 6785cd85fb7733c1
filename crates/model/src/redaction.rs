//! What logs and messages may show of an address, and which words look like a secret.
//!
//! A word looks random if letters and digits alternate in it more often than in names, versions
//! and dates. That alone does not make it a secret: hashes and ids look the same. So the callers
//! look at where it stands, and what is certainly a hash or an id is not random here.
//!
//! Not here: tokens that show by their prefix, and labels (`toolwright_check`, and the rules about
//! servers in `toolwright_workspace`).

/// A URL as logs and messages may show it: without user, password, query and fragment, where
/// secrets are kept, and with `***` for tokens in its path.
///
/// Works on text and not on a parsed URL, because messages about malformed URLs need it too, and
/// because a parser would normalise the rest, so that users would not recognise what they wrote.
pub fn redacted_url(url: &str) -> String {
    let address = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    let shown = |segment| if is_path_token(segment) { "***" } else { segment };
    let path: Vec<&str> = path.split('/').map(shown).collect();
    format!("{scheme}://{host}{}", path.join("/"))
}

/// Whether a segment of the path of a URL is a token, as in `https://host/s/TOKEN/mcp`: long,
/// random, and neither a UUID nor the name of a page or file.
pub fn is_path_token(segment: &str) -> bool {
    let is_word = |piece: &str| {
        // `Meeting` of `Meeting-Notes-3f2a…` and `json` of `3f2a….json`.
        piece.len() >= 4
            && piece.bytes().all(|byte| byte.is_ascii_alphabetic())
            && piece.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    };
    let is_file = segment.rsplit_once('.').is_some_and(|(_, ending)| {
        ending.len() <= 4 && ending.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    segment.len() >= 20 && !is_file && !pieces(segment).any(is_word) && looks_random(segment)
}

/// Whether a word looks as if a machine had drawn it.
pub fn looks_random(word: &str) -> bool {
    let is_named_hash = ["sha1", "sha256", "sha384", "sha512"].iter().any(|name| {
        word.match_indices(name).any(|(at, _)| word[at + name.len()..].starts_with([':', '-']))
    });
    // `package@9f8a…` is a revision of something that has a name.
    let is_revision = word
        .rsplit_once('@')
        .is_some_and(|(name, _)| !name.is_empty() && !pieces(name).any(is_random_piece));
    let is_path = word.contains('/')
        && word.split('/').any(|part| {
            part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
        });
    !is_uuid(word)
        && !is_named_hash
        && !is_revision
        && !is_path
        && pieces(word).any(is_random_piece)
}

/// The runs of letters and digits.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|piece| !piece.is_empty())
}

/// At least ten characters, in which a letter and a digit are neighbours four times:
/// `8c1f9a2b7e` and `S3cr3tPassw0rd`, but not `projectname2`, `Phone15Pro2024` or `12h30m15s`.
fn is_random_piece(piece: &str) -> bool {
    let bytes = piece.as_bytes();
    let changes =
        bytes.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    piece.len() >= 10 && changes.count() >= 4
}

fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacted_urls_contain_no_secrets() {
        for (url, shown) in [
            ("https://host/mcp", "https://host/mcp"),
            ("https://user:sesame@host:8080/mcp?key=sesame#sesame", "https://host:8080/mcp"),
            ("http://host?sesame", "http://host"),
            ("http://a@sesame@host/x@y", "http://host/x@y"),
            ("https://h/s/9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c/mcp", "https://h/s/***/mcp"),
            ("sesame", "sesame"),
        ] {
            assert_eq!(redacted_url(url), shown);
        }
    }

    #[test]
    fn random_words_are_told_from_names() {
        for word in [
            "8c1f9a2b7e",
            "S3cr3tPassw0rd",
            "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a",
            "aK3/x9Qz71Bf4Wd0+e==",
            "tok-9f8e7d6c5b4a",
        ] {
            assert!(looks_random(word), "{word}");
        }
        for word in [
            "8080",
            "projectname",
            "projectname2",
            "my-project-2024",
            "Phone15Pro2024",
            "12h30m15s",
            "20240115T103000Z",
            "us-east-1",
            "1.2.3-beta4",
            "127.0.0.1:8080:80",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "pkg@9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a",
            "@scope/pkg@9f8a7b6c5d4e",
            "img@sha256:9f8a7b6c5d4e3f2a1b0c",
            "data/9f8a7b6c5d4e/x",
        ] {
            assert!(!looks_random(word), "{word}");
        }
    }

    #[test]
    fn tokens_in_paths_are_told_from_names() {
        for segment in [
            "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c",
            "MzQ1Njc4OTA-aB3dE5fG7hJ9",
            "a1b2c3d4e5f6a7b8c9d0_x",
        ] {
            assert!(is_path_token(segment), "{segment}");
        }
        for segment in [
            "mcp",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "Meeting-Notes-9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c",
            "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c.js",
            "pkg@9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c",
            "9f8a7b6c5d4e",
            "v1alpha2-us-east-1-cluster-0042",
        ] {
            assert!(!is_path_token(segment), "{segment}");
        }
    }
}
