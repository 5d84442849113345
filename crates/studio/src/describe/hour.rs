//! The time of day a picture seems to show.

use atelier_media::Picture;

use super::traits::PictureMeasures;
use crate::choices::kinds::Time;

/// The time of day that the light of a picture suggests.
pub fn seeming_time(picture: &Picture) -> Time {
    let traits = PictureMeasures::of(&picture.on([255; 3]));
    match (traits.bright, traits.warm) {
        (bright, _) if bright < 0.22 => Time::Night,
        (bright, warm) if bright < 0.36 && warm < 0.06 => Time::Dusk,
        (bright, warm) if bright < 0.55 && warm >= 0.06 => Time::Sunset,
        (_, warm) if warm > 0.12 => Time::Golden,
        (bright, _) if bright > 0.72 => Time::Morning,
        _ => Time::Day,
    }
}
