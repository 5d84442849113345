//! The models of the compiled interface.

use crate::models::models;

#[test]
fn every_model_of_the_interface_is_known_once() {
    let names: Vec<&str> = models().iter().map(|model| &*model.name).collect();
    for name in [
        "image-1",
        "art-2",
        "art-3",
        "designv3",
        "designv2",
        "video-2",
        "video-2-pro",
        "anime-diffusion-4-5-full",
        "motion-v1",
        "motion-v3-reasoning",
    ] {
        let times = names.iter().filter(|one| **one == name).count();
        assert_eq!(times, 1, "{name} among {names:?}");
    }
}

#[test]
fn a_model_of_two_families_has_the_operations_of_both() {
    let video = models().iter().find(|model| model.name == "video-2");
    let submits = &video.expect("a model").submits;
    let names: Vec<&str> = submits.iter().map(|submit| submit.name).collect();
    assert_eq!(names, ["vidgen.generations", "vidgen_partner.generations"]);
}
