//! The model.

use crate::fields::words;

words! {
    /// The model that makes the image.
    pub DesignModel = V3 { V3 "designv3", V2 "designv2" }
}
