//! The usual end of a piece of work: pictures are fetched from where the vendor says, and made into what was asked for.

use crate::backend::{Fault, Work, WorkOutput};
use crate::downloads::Downloader;
use crate::fit;
use crate::http::VendorHttp;
use crate::images::{FinishOptions, finish_images};

impl WorkOutput {
    /// Pictures at addresses that the vendor gave, in the size and format that was asked for.
    pub async fn fetched(
        http: &VendorHttp,
        work: &Work,
        addresses: &[&str],
    ) -> Result<Self, Fault> {
        let mut downloads = Downloader::new(http);
        let mut pictures = Vec::with_capacity(addresses.len());
        for address in addresses {
            pictures.push(downloads.file(address).await?);
        }
        let finish = FinishOptions {
            size: fit::target(&work.brief, None),
            ..FinishOptions::default()
        };
        finish_images(work, pictures, finish).await
    }
}
