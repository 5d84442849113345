//! Pictures of the same words that differ more than their seeds would make them.

use super::Scene;
use crate::choices::habitat::Habitat;
use crate::choices::kinds::{Season, Setting, StyleName, Time, Weather};
use crate::words;

/// From here on even the style is chosen anew where the words leave it open.
const OTHER_STYLE: f32 = 0.5;

impl Scene {
    /// The scene led by what other pictures show: their time of day and style, where its words leave those open.
    #[must_use]
    pub fn led(&self, time: Option<Time>, style: Option<StyleName>) -> Self {
        let read = words::read(&self.prompt, "", self.tongue);
        let mut scene = self.clone();
        scene.time = time.filter(|_| read.time.is_none()).unwrap_or(self.time);
        scene.style = style.filter(|_| read.style.is_none()).unwrap_or(self.style);
        scene
    }

    /// The scene with whatever its words leave open chosen more freely: 0 as it is, 1 as freely as can be.
    #[must_use]
    pub fn stirred(&self, chaos: f32) -> Self {
        let chaos = chaos.clamp(0.0, 1.0);
        let mut scene = self.clone();
        if chaos <= 0.0 {
            return scene;
        }
        let dice = self.dice.part("chaos", 1);
        let read = words::read(&self.prompt, "", self.tongue);
        let wild = |name: &str, least: f32| dice.roll(name) < (chaos - least) / (1.0 - least);
        if read.time.is_none() && wild("time", 0.0) {
            scene.time = Time::ALL[dice.pick("which time", Time::ALL.len())];
        }
        if read.weather.is_none() && wild("weather", 0.1) {
            const ANY: [Weather; 6] = [
                Weather::Clear,
                Weather::Cloudy,
                Weather::Overcast,
                Weather::Fog,
                Weather::Rain,
                Weather::Rainbow,
            ];
            scene.weather = ANY[dice.pick("which weather", ANY.len())];
        }
        if read.season.is_none() && wild("season", 0.2) {
            const ANY: [Season; 3] = [Season::Spring, Season::Summer, Season::Autumn];
            scene.season = ANY[dice.pick("which season", ANY.len())];
        }
        if read.setting.is_none() && wild("place", 0.3) {
            scene.setting = elsewhere(self, dice.pick("which place", 5));
        }
        if read.style.is_none() && wild("style", OTHER_STYLE) {
            scene.style = StyleName::ALL[dice.pick("which style", StyleName::ALL.len())];
        }
        // A step back and to the side.
        scene.window = scene
            .window
            .zoomed_out(1.0 + 0.6 * chaos * dice.roll("back"));
        let aside = (dice.roll("aside") - 0.5) * 0.3 * chaos * scene.window.width;
        scene.window.left += aside;
        scene
    }
}

/// Another place in which the first subject can be.
fn elsewhere(scene: &Scene, pick: usize) -> Setting {
    let habitat = scene.subjects.first().map(|one| one.kind.habitat);
    let places = match habitat {
        Some(Habitat::Ground) => [
            Setting::Meadow,
            Setting::Forest,
            Setting::Mountains,
            Setting::Beach,
            Setting::Snow,
        ],
        Some(Habitat::Air) => [
            Setting::Clouds,
            Setting::Mountains,
            Setting::Desert,
            Setting::Sea,
            Setting::City,
        ],
        _ => [scene.setting; 5],
    };
    places[pick.min(4)]
}
