//! Where the state of a service is: options that every command has which works on it directly.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::config::Config;
use crate::config::load::Sources;

/// Where the state is.
#[derive(Args)]
pub(super) struct InstanceOptions {
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder for everything that this node stores.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// A postgres:// URL; without it SQLite in the data folder.
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

impl InstanceOptions {
    /// Where settings come from.
    pub(super) fn sources(self, mut more: Vec<(&'static str, String)>) -> Sources {
        more.extend(self.data_dir.map(|folder| ("data_dir", folder)));
        more.extend(self.database.map(|url| ("database", url)));
        Sources::of_process(self.config, more)
    }

    pub(super) fn config(self) -> Result<Config> {
        self.sources(Vec::new()).config()
    }
}
