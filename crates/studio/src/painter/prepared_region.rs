//! A region ready to be laid.

use std::borrow::Cow;

use crate::paint::colour::Rgb;
use crate::paint::cover::Cover;
use crate::paint::region::Region;

/// One region ready to be laid.
pub(super) struct PreparedRegion<'a> {
    pub(super) region: Cow<'a, Region>,
    pub(super) cover: Option<Cover>,
    pub(super) edge: Option<Vec<u8>>,
    pub(super) line: Option<Cover>,
    pub(super) shadow: Option<Shadow>,
    pub(super) flat: Rgb,
}

/// The soft shadow a cut shape throws on the layers below.
pub(super) struct Shadow {
    pub(super) cover: Cover,
    pub(super) soft: Vec<u8>,
}
