//! An order is held against the right to make it with its first bytes, at every vendor.

use std::sync::Arc;

use atelier_backends::backend::Acceptance;
use atelier_backends::http::with_fence;

use crate::formats::FORMATS;
use crate::local::{Local, request};
use crate::studio::Studio;

#[tokio::test]
async fn nothing_is_ordered_at_any_vendor_once_the_right_to_is_gone() {
    // A swap of faces needs pictures of its own, and goes the way of the others.
    let alone = |operation: &str| operation != "facegen.swap";
    for format in FORMATS.iter().filter(|one| alone(one.operation)) {
        let label = format!("{} {}", format.vendor, format.dialect);
        let local = Local::speaking(format);
        let worker = local.stand.worker(format.vendor, (format.settings)());
        let body = request(format.operation, &local.stand.url("/made.png"));
        let (work, _) = Studio::new().work(format.operation, &body, None);
        let gone = with_fence(Arc::new(|| false), worker.start(work.clone())).await;
        let fault = gone.err().unwrap_or_else(|| panic!("{label}: it began"));
        assert_eq!(fault.taken, Acceptance::No, "{label}: {}", fault.detail);
        assert!(fault.class.may_pass(), "{label}: {}", fault.detail);
        assert_eq!(local.taken(), 0, "{label}");
        let begun = with_fence(Arc::new(|| true), worker.start(work)).await;
        begun.unwrap_or_else(|fault| panic!("{label}: {}", fault.detail));
        assert_eq!(local.taken(), 1, "{label}");
    }
}
