//! The model.

use crate::fields::words;

words! {
    /// The model.
    pub DesignModel = V3 { V3 "designv3", V2 "designv2" }
}
