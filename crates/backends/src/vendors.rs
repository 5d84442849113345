//! The table of vendors. A vendor is a folder beside this file, declared and listed here.

mod bedrock;
mod bfl;
mod cog;
mod comfyui;
mod fal;
mod google;
mod http;
mod ideogram;
mod jimeng;
mod luma;
mod midjourney;
mod new_api;
mod novelai;
mod openai;
mod piapi;
mod recraft;
mod relay;
mod replicate;
mod roletask;
mod runway;
mod sdwebui;
mod stability;
mod vertex;
mod vidu;
mod xai;

use serde_json::Value;

use crate::field_error::FieldError;
use crate::vendor::{Setup, Vendor};

/// Every vendor, in the order of the documents.
pub static VENDORS: &[Vendor] = &[
    relay::VENDOR,
    midjourney::VENDOR,
    openai::VENDOR,
    sdwebui::VENDOR,
    comfyui::VENDOR,
    google::VENDOR,
    roletask::VENDOR,
    replicate::VENDOR,
    cog::VENDOR,
    fal::VENDOR,
    runway::VENDOR,
    recraft::VENDOR,
    bfl::VENDOR,
    xai::VENDOR,
    luma::VENDOR,
    ideogram::VENDOR,
    piapi::VENDOR,
    novelai::VENDOR,
    new_api::VENDOR,
    vertex::VENDOR,
    bedrock::VENDOR,
    vidu::VENDOR,
    jimeng::VENDOR,
    stability::VENDOR,
    http::VENDOR,
];

/// What each answer means that is kept with the settings of a vendor; there are some only with a description of one.
pub(crate) fn recorded_meanings(vendor: &Vendor, setup: Setup) -> Result<Vec<Value>, FieldError> {
    if vendor.name == http::VENDOR.name {
        return http::meanings(setup);
    }
    Ok(Vec::new())
}

/// The vendor of a name.
pub fn vendor_named(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}
