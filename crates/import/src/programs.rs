//! The programs whose data can be read: for each what its tables are called and what their columns mean.

mod litellm;
mod midjourney_proxy;
mod one_api;
mod tables;

use crate::database::SourceDatabase;
use crate::error::ImportError;
use crate::money::Units;
use crate::records::{SourceAccount, SourceChannel, SourceGroup, SourceKey, SourcePrice};
use crate::report::ReportRow;

use litellm::LiteLlm;
use midjourney_proxy::MidjourneyProxy;
use one_api::{Edition, OneApi};

/// Rows that are read at once.
pub(crate) const PAGE: usize = 500;
/// Channels that are read at most: all of them are looked at together.
pub(crate) const CHANNELS_MOST: usize = 10_000;

/// A program whose data can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// new-api.
    NewApi,
    /// one-api, from which new-api comes.
    OneApi,
    /// LiteLLM's proxy.
    LiteLlm,
    /// midjourney-proxy, from an export.
    MidjourneyProxy,
}

impl Program {
    /// Every program.
    pub const ALL: [Self; 4] = [
        Self::NewApi,
        Self::OneApi,
        Self::LiteLlm,
        Self::MidjourneyProxy,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewApi => "new-api",
            Self::OneApi => "one-api",
            Self::LiteLlm => "litellm",
            Self::MidjourneyProxy => "midjourney-proxy",
        }
    }
}

/// Where a program's data is, and what is needed to read it.
#[derive(Clone, Debug, Default)]
pub struct SourceOptions {
    /// A file, or the address of a database.
    pub from: String,
    /// LiteLLM's salt key, by which it seals what it knows of vendors.
    pub salt_key: Option<String>,
}

/// A program's data, open to be read.
pub struct ImportSource(Reader);

enum Reader {
    OneApi(Box<OneApi>),
    LiteLlm(Box<LiteLlm>),
    MidjourneyProxy(Box<MidjourneyProxy>),
}

impl ImportSource {
    /// Opens it, and refuses what is no whole database of that program.
    pub async fn open(program: Program, options: SourceOptions) -> Result<Self, ImportError> {
        if program == Program::MidjourneyProxy {
            let source = MidjourneyProxy::open(&options.from)?;
            return Ok(Self(Reader::MidjourneyProxy(Box::new(source))));
        }
        let database = SourceDatabase::open(&options.from).await?;
        Ok(Self(match program {
            Program::LiteLlm => {
                Reader::LiteLlm(Box::new(LiteLlm::open(database, options.salt_key).await?))
            }
            Program::OneApi => {
                Reader::OneApi(Box::new(OneApi::open(database, Edition::OneApi).await?))
            }
            _ => Reader::OneApi(Box::new(OneApi::open(database, Edition::NewApi).await?)),
        }))
    }

    /// How many of its units are one of ours, unless somebody says otherwise.
    pub fn usual_exchange(&self) -> Units {
        match &self.0 {
            Reader::OneApi(source) => source.units_per_dollar(),
            Reader::LiteLlm(_) => Units::whole(1),
            // A picture of fast mode is four, and one drawing there.
            Reader::MidjourneyProxy(_) => Units::parse("0.25").unwrap_or_default(),
        }
    }

    /// Its unit, as people call it.
    pub const fn unit(&self) -> &'static str {
        match &self.0 {
            Reader::OneApi(_) => "quota",
            Reader::LiteLlm(_) => "dollars",
            Reader::MidjourneyProxy(_) => "drawings",
        }
    }

    /// Groups of prices.
    pub fn groups(&self) -> Vec<SourceGroup> {
        match &self.0 {
            Reader::OneApi(source) => source.groups(),
            Reader::LiteLlm(_) | Reader::MidjourneyProxy(_) => Vec::new(),
        }
    }

    /// The next page of those who spend; nothing behind the last.
    pub async fn accounts(&mut self) -> Result<Vec<SourceAccount>, ImportError> {
        match &mut self.0 {
            Reader::OneApi(source) => source.accounts().await,
            Reader::LiteLlm(source) => source.accounts().await,
            Reader::MidjourneyProxy(source) => source.accounts(),
        }
    }

    /// The next page of keys; nothing behind the last.
    pub async fn keys(&mut self) -> Result<Vec<SourceKey>, ImportError> {
        match &mut self.0 {
            Reader::OneApi(source) => source.keys().await,
            Reader::LiteLlm(source) => source.keys().await,
            Reader::MidjourneyProxy(source) => source.keys(),
        }
    }

    /// The ways to vendors.
    pub async fn channels(&mut self) -> Result<Vec<SourceChannel>, ImportError> {
        match &mut self.0 {
            Reader::OneApi(source) => source.channels().await,
            Reader::LiteLlm(source) => source.channels().await,
            Reader::MidjourneyProxy(source) => Ok(source.channels()),
        }
    }

    /// What models cost a call.
    pub fn prices(&self) -> Vec<SourcePrice> {
        match &self.0 {
            Reader::OneApi(source) => source.prices(),
            Reader::LiteLlm(source) => source.prices(),
            Reader::MidjourneyProxy(_) => Vec::new(),
        }
    }

    /// What there is besides, and is not taken over.
    pub async fn left_out(&mut self) -> Result<Vec<ReportRow>, ImportError> {
        match &mut self.0 {
            Reader::OneApi(source) => source.left_out().await,
            Reader::LiteLlm(source) => source.left_out().await,
            Reader::MidjourneyProxy(_) => Ok(vec![MidjourneyProxy::left_out()]),
        }
    }
}
