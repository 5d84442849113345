//! One WebUI server, as all files of this vendor see it.

use tokio_util::task::TaskTracker;

use super::settings::SdWebUiSettings;
use crate::http::VendorHttp;

pub(super) struct SdWebUi {
    pub(super) http: VendorHttp,
    pub(super) settings: SdWebUiSettings,
    /// Interrupts that are still to be sent after nobody waits any more.
    pub(super) cleanup_tasks: TaskTracker,
}
