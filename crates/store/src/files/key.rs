//! What a key may look like: nothing that a file system or a bucket could read in two ways.

use super::error::{FilesError, FilesResult};

/// The longest key that is taken.
const MOST_BYTES: usize = 512;

/// Accepts `[A-Za-z0-9/_.-]` in segments that are neither empty nor begin with a dot.
pub(super) fn check(key: &str) -> FilesResult<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_.-".contains(&byte);
    let fits = key.len() <= MOST_BYTES
        && key.bytes().all(plain)
        && !key.contains("..")
        && key
            .split('/')
            .all(|segment| !segment.is_empty() && !segment.starts_with('.'));
    if fits {
        Ok(())
    } else {
        Err(FilesError::BadKey(key.chars().take(80).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn keys_cannot_leave_the_asset_store() {
        for key in [
            "a",
            "a/b.png",
            "2026/11/15/0190-ab_c/0.webp",
            &"a".repeat(512),
        ] {
            assert!(check(key).is_ok(), "{key}");
        }
        let bad = [
            "", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "a/..b", "a..b", ".", "./a",
            ".tmp/x", "a/.b", "a\\b", "a b", "a\0b", "ä", "a%2e", "a?b", "a:b", "a\n",
        ];
        for key in bad {
            assert!(check(key).is_err(), "{key:?}");
        }
        assert!(check(&"a".repeat(513)).is_err());
    }
}
