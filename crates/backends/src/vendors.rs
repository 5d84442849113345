//! The table of vendors. A vendor is a folder beside this file, declared and listed here.

mod bfl;
mod cog;
mod comfyui;
mod fal;
mod google;
mod ideogram;
mod luma;
mod midjourney;
mod novelai;
mod openai;
mod piapi;
mod recraft;
mod relay;
mod replicate;
mod roletask;
mod runway;
mod sdwebui;
mod xai;

use crate::vendor::Vendor;

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
];

/// The vendor of a name.
pub fn vendor_named(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}
