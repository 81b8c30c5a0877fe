//! The token of a client, from its settings, a file or the environment.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use tonic::metadata::{Ascii, MetadataValue};

use crate::BuildError;

pub(crate) type Header = MetadataValue<Ascii>;

#[derive(Debug)]
pub(crate) enum Token {
    None,
    Given(Header),
    File(TokenFile),
}

impl Token {
    pub(crate) fn given(token: &str) -> Result<Self, BuildError> {
        Ok(header(token)?.map_or(Self::None, Self::Given))
    }

    /// Fails for a file that is not there at all, and for one that holds no token.
    pub(crate) fn in_file(path: &Path) -> Result<Self, BuildError> {
        let found = Found::read(path)?;
        Ok(Self::File(TokenFile {
            path: path.to_owned(),
            found: Mutex::new(found),
        }))
    }

    pub(crate) fn header(&self) -> Option<Header> {
        match self {
            Self::None => None,
            Self::Given(header) => Some(header.clone()),
            Self::File(file) => Some(file.header()),
        }
    }
}

/// A file that is read again when it changes, so that a token can be rotated under a running agent.
#[derive(Debug)]
pub(crate) struct TokenFile {
    path: PathBuf,
    found: Mutex<Found>,
}

impl TokenFile {
    /// To look at the file takes microseconds, less than handing that to another thread would. While it is away or
    /// holds no token, which happens for a moment when it is replaced, the last token stays.
    fn header(&self) -> Header {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if stamp(&self.path).is_ok_and(|stamp| stamp != found.stamp)
            && let Ok(changed) = Found::read(&self.path)
        {
            *found = changed;
        }
        found.header.clone()
    }
}

#[derive(Debug)]
struct Found {
    stamp: Stamp,
    header: Header,
}

impl Found {
    fn read(path: &Path) -> Result<Self, BuildError> {
        let unreadable = |source| BuildError::UnreadableFile {
            path: path.to_owned(),
            source,
        };
        let stamp = stamp(path).map_err(unreadable)?;
        let text = fs::read_to_string(path).map_err(unreadable)?;
        let header = header(&text)?.ok_or_else(|| BuildError::NoToken(path.to_owned()))?;
        Ok(Self { stamp, header })
    }
}

/// File attributes that change with the file.
type Stamp = (Option<SystemTime>, u64, u64);

fn stamp(path: &Path) -> std::io::Result<Stamp> {
    let found = fs::metadata(path)?;
    Ok((found.modified().ok(), found.len(), found.ino()))
}

/// Printable ASCII. White space around a token does not count; without one, nothing is shown.
fn header(token: &str) -> Result<Option<Header>, BuildError> {
    let token = token.trim();
    if token.is_empty() {
        return Ok(None);
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(BuildError::BadToken);
    }
    let mut header = Header::try_from(format!("Bearer {token}")).map_err(|_| BuildError::BadToken)?;
    header.set_sensitive(true);
    Ok(Some(header))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(token: &Token) -> Option<String> {
        token.header().map(|header| header.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_file_is_read_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "  one\n\n").unwrap();
        let token = Token::in_file(&path).unwrap();
        assert_eq!(shown(&token).unwrap(), "Bearer one");
        fs::write(&path, "another\n").unwrap();
        assert_eq!(shown(&token).unwrap(), "Bearer another");
        fs::remove_file(&path).unwrap();
        assert_eq!(
            shown(&token).unwrap(),
            "Bearer another",
            "while it is away, the last one stays"
        );
        for none in [&b""[..], b"tw\no", b"two words", "tök".as_bytes(), b"\xff"] {
            fs::write(&path, none).unwrap();
            assert_eq!(
                shown(&token).unwrap(),
                "Bearer another",
                "and so it does while the file holds no token"
            );
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(shown(&token).unwrap(), "Bearer another", "and while it is a folder");
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "third").unwrap();
        assert_eq!(shown(&token).unwrap(), "Bearer third");
    }

    #[test]
    fn a_token_is_not_told_by_debugging() {
        assert!(!format!("{:?}", Token::given("secret").unwrap()).contains("secret"));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for bad in ["a\nb", "half-a secret", "tök", "t\u{7f}"] {
            let refused = Token::given(bad).unwrap_err();
            assert!(matches!(refused, BuildError::BadToken));
            assert!(!refused.to_string().contains("secret"));
        }
        assert!(matches!(Token::given(" \n"), Ok(Token::None)));
        assert!(matches!(
            Token::in_file(Path::new("/nowhere/token")),
            Err(BuildError::UnreadableFile { .. })
        ));
    }
}
