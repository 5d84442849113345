//! Settings: small named texts the nodes share.

use crate::{Result, Store};

impl Store {
    /// The value of a setting.
    pub async fn setting(&self, _name: &str) -> Result<Option<String>> {
        Err(crate::Error::NotFound)
    }
    /// Stores a setting.
    pub async fn put_setting(&self, _name: &str, _value: &str) -> Result<()> {
        Err(crate::Error::NotFound)
    }
    /// Stores a setting unless there is one; the value that stands.
    pub async fn put_setting_if_absent(&self, _name: &str, _value: &str) -> Result<String> {
        Err(crate::Error::NotFound)
    }
    /// Every setting whose name begins so, by name.
    pub async fn settings(&self, _prefix: &str) -> Result<Vec<(String, String)>> {
        Err(crate::Error::NotFound)
    }
}
