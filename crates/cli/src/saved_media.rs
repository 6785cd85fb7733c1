//! `call --save DIR`: writes the images, audio and binary resources of a result to files.
//!
//! A file is named by the tool, the number of the block and its MIME type, such as
//! `shots-take-1.png`. A file that is there already is never replaced: the name gets a number.
//!
//! The text of a result is not written: it goes to stdout. A MIME type is what the server claims,
//! and decides the ending only; the bytes are not looked at.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use serde_json::Value as Json;
use toolwright_exec::ResultContent;

/// Endings of files by MIME type. Other types get the second half of the type, if it can be one.
const ENDINGS: &[(&str, &str)] = &[
    ("image/jpeg", "jpg"),
    ("image/svg+xml", "svg"),
    ("image/x-icon", "ico"),
    ("audio/mpeg", "mp3"),
    ("audio/x-wav", "wav"),
    ("audio/wave", "wav"),
    ("text/plain", "txt"),
    ("application/octet-stream", "bin"),
    ("application/gzip", "gz"),
];

/// Names that are tried for one file before it is given up. Each costs one attempt to create a
/// file.
const MAX_NAMES: usize = 10_000;

/// Servers write base64 with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Writes the data of all blocks that have some. Returns the path of each file with the index of
/// its block. The folder is made when the first file is written, so a result without media leaves
/// nothing behind. Files before the one that fails stay.
///
/// # Errors
/// If data is not base64, or a file cannot be written.
pub(crate) fn save(
    folder: &Path,
    tool: &str,
    content: &[ResultContent],
) -> anyhow::Result<Vec<(usize, PathBuf)>> {
    let mut saved = Vec::new();
    for (index, block) in content.iter().enumerate() {
        let Some((data, mime)) = media_of(block) else { continue };
        let number = saved.len() + 1;
        // Some servers break lines, as in mail.
        let text: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let bytes = BASE64.decode(&text).or_else(|_| general_purpose::URL_SAFE.decode(&text));
        let bytes =
            bytes.with_context(|| format!("the data of block {} is not base64", index + 1))?;
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        saved.push((index, write_new(folder, &file_stem(tool, number), ending(mime), &bytes)?));
    }
    Ok(saved)
}

/// The base64 text and the MIME type of a block; `None` if it has no data. A resource with text has
/// none: it is printed.
fn media_of(content: &ResultContent) -> Option<(&str, &str)> {
    let block = content.as_other()?;
    let (holder, key) = match block.get("type")?.as_str()? {
        "image" | "audio" => (block, "data"),
        "resource" => (block.get("resource")?, "blob"),
        _ => return None,
    };
    let mime = holder.get("mimeType").and_then(Json::as_str).unwrap_or("");
    Some((holder.get(key)?.as_str()?, mime))
}

/// The name of a file without its ending. An id may have characters that lead out of the folder. At
/// most 100 characters of the id, since file systems allow 255 bytes for a name.
fn file_stem(tool: &str, number: usize) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = tool.chars().map(allowed).take(100).collect();
    format!("{name}-{number}")
}

/// Examples: `image/png` gives `png`, `image/svg+xml` gives `svg`, `x/a.b` gives `bin`.
fn ending(mime: &str) -> String {
    let mime = mime.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    if let Some((_, ending)) = ENDINGS.iter().find(|(known, _)| *known == mime) {
        return (*ending).to_owned();
    }
    let kind = mime.split_once('/').map_or("", |(_, kind)| kind);
    let is_ending =
        (1..=10).contains(&kind.len()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
    if is_ending { kind.to_owned() } else { "bin".to_owned() }
}

/// Writes a file that does not exist yet, under the first free name. `create_new` asks and creates
/// in one step, so two calls that run at once cannot take one name.
fn write_new(folder: &Path, stem: &str, ending: String, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    for n in 1..MAX_NAMES {
        let more = if n == 1 { String::new() } else { format!("-{n}") };
        let path = folder.join(format!("{stem}{more}.{ending}"));
        // Fails also for a link that leads nowhere, so nothing outside the folder is written.
        let created = std::fs::File::options().write(true).create_new(true).open(&path);
        match created {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            created => {
                created
                    .and_then(|mut file| file.write_all(bytes))
                    .with_context(|| format!("cannot write `{}`", path.display()))?;
                return Ok(path);
            }
        }
    }
    anyhow::bail!("`{}` has too many files of this name", folder.display())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn data_is_written_under_names_of_tool_number_and_type() {
        let folder = tempfile::tempdir().unwrap();
        let content = [
            json!({"type": "text", "text": "hello"}),
            json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
            json!({"type": "audio", "data": "aG\nk", "mimeType": "audio/mpeg; rate=1"}),
            json!({"type": "resource", "resource": {"uri": "a://b", "blob": "aGk="}}),
            json!({"type": "resource", "resource": {"uri": "a://b", "text": "no data"}}),
        ]
        .map(ResultContent::from);
        let save = || {
            let saved = save(&folder.path().join("new"), "../up:take.it", &content).unwrap();
            assert_eq!(saved.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 2, 3]);
            let paths: Vec<PathBuf> = saved.into_iter().map(|(_, path)| path).collect();
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            assert!(paths.iter().all(|path| std::fs::read(path).unwrap() == b"hi"));
            assert!(paths.iter().all(|path| path.parent().unwrap().ends_with("new")));
            paths.iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(save(), ["---up-take-it-1.png", "---up-take-it-2.mp3", "---up-take-it-3.bin"]);
        assert_eq!(save()[0], "---up-take-it-1-2.png", "nothing is replaced");
    }

    #[test]
    fn bad_data_and_strange_types_are_handled() {
        let folder = tempfile::tempdir().unwrap();
        let bad =
            [ResultContent::from(json!({"type": "image", "data": "!", "mimeType": "image/png"}))];
        let error = save(folder.path(), "x", &bad).unwrap_err();
        assert_eq!(error.to_string(), "the data of block 1 is not base64");
        for (mime, expected) in [
            ("image/png", "png"),
            ("IMAGE/JPEG", "jpg"),
            ("", "bin"),
            ("a/../../x", "bin"),
            ("application/vnd.ms-excel", "bin"),
        ] {
            assert_eq!(ending(mime), expected, "{mime}");
        }
    }
}
