//! The usual end of a piece of work: pictures are fetched from where the vendor says, and made into what was asked for.

use crate::backend::{Fault, Made, Work};
use crate::downloads::Downloads;
use crate::fit;
use crate::http::VendorHttp;
use crate::pictures::{Finish, finished};

impl Made {
    /// Pictures at addresses that the vendor gave, in the size and format that was asked for.
    pub async fn fetched(
        http: &VendorHttp,
        work: &Work,
        addresses: &[&str],
    ) -> Result<Self, Fault> {
        let mut downloads = Downloads::new(http);
        let mut pictures = Vec::with_capacity(addresses.len());
        for address in addresses {
            pictures.push(downloads.file(address).await?);
        }
        let finish = Finish {
            size: fit::target(&work.brief, None),
            ..Finish::default()
        };
        finished(work, pictures, finish).await
    }
}
