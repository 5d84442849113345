//! The places scenes play in: what is behind the subjects, what they stand on, what is before them.

mod abstraction;
mod city;
mod cottage;
pub(super) mod country;
mod dry;
pub(super) mod green;
mod heights;
mod indoors;
mod sea;
mod shadows;
mod space;
mod underwater;
mod woods;

use super::stage::Stage;
use super::{cloud, sky};
use crate::choices::kinds::Setting;
use crate::layout::Floor;

/// World height of the horizon; the seed chooses between a low and a high viewpoint.
pub(crate) fn horizon(setting: Setting, dice: &crate::paint::dice::Dice) -> f32 {
    let (low, high) = match setting {
        Setting::Sea | Setting::Clouds => (0.0, 0.16),
        Setting::Beach => (-0.06, 0.06),
        Setting::Lake | Setting::River => (-0.02, 0.12),
        Setting::Room | Setting::Table => (0.14, 0.2),
        Setting::City | Setting::Street => (0.12, 0.24),
        Setting::Mountains | Setting::Volcano => (0.08, 0.2),
        _ => (0.02, 0.18),
    };
    dice.between("horizon", low, high)
}

/// Adds everything behind the subjects and says where they can stand.
pub(crate) fn behind(stage: &mut Stage) -> Floor {
    let setting = stage.scene.setting;
    if setting.is_outdoors() {
        sky::sky(stage);
        cloud::clouds(stage);
        super::weather::behind(stage);
    }
    let near = 0.36;
    let mut floor = Floor {
        horizon: stage.horizon,
        near,
        water: None,
        setting,
    };
    match setting {
        Setting::Meadow => country::meadow(stage),
        Setting::Garden => country::garden(stage),
        Setting::Farm => country::farm(stage),
        Setting::Village => country::village(stage),
        Setting::River => floor.water = Some(country::river(stage)),
        Setting::Mountains => heights::mountains(stage),
        Setting::Snow => heights::snow(stage),
        Setting::Volcano => heights::volcano(stage),
        Setting::Waterfall => floor.water = Some(heights::waterfall(stage)),
        Setting::Clouds => heights::clouds(stage),
        Setting::Lake => floor.water = Some(sea::lake(stage)),
        Setting::Sea => floor.water = Some(sea::open(stage)),
        Setting::Beach => floor.water = Some(sea::beach(stage)),
        Setting::Forest => woods::forest(stage),
        Setting::Jungle => woods::jungle(stage),
        Setting::Desert => dry::desert(stage),
        Setting::Canyon => dry::canyon(stage),
        Setting::City => city::city(stage),
        Setting::Street => city::street(stage),
        Setting::Space => space::space(stage),
        Setting::Underwater => underwater::underwater(stage),
        Setting::Room => indoors::room(stage),
        Setting::Table => indoors::table(stage),
        Setting::Studio => indoors::studio(stage),
        Setting::Abstract => abstraction::abstraction(stage),
    }
    floor
}

/// Adds what is between the viewer and the subjects.
pub(crate) fn before(stage: &mut Stage, floor: Floor) {
    match stage.scene.setting {
        Setting::Meadow
        | Setting::Garden
        | Setting::Farm
        | Setting::Village
        | Setting::Mountains
        | Setting::Volcano
        | Setting::Lake
        | Setting::River
        | Setting::Waterfall => {
            country::foreground(stage, floor);
        }
        Setting::Forest => woods::foreground(stage),
        Setting::Jungle => woods::leaves(stage),
        Setting::Underwater => underwater::foreground(stage),
        Setting::Snow => heights::drifts(stage),
        _ => {}
    }
    super::weather::before(stage);
}
