//! The light of a scene: sky colours, where the light comes from, how it colours things, how thick the air is.

use crate::choices::kinds::{Time, Weather};
use crate::paint::colour::{Rgb, filter, from_hsl, hex, mix, saturate, scale, to_hsl};
use crate::paint::dice::Dice;

/// The light of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Light {
    /// Sky colours from straight up to the horizon.
    pub sky: [Rgb; 3],
    /// Colour of the direct light.
    pub key: Rgb,
    /// Colour of the light from everywhere.
    pub ambient: Rgb,
    /// Colour of far air.
    pub fog: Rgb,
    /// How thick the air is, 0..1.
    pub haze: f32,
    /// World place of the sun or moon.
    pub sun: (f32, f32),
    pub disc: Rgb,
    /// Whether it is dark enough for lamps and stars, 0..1.
    pub dark: f32,
    /// How much direct light gets through, 0..1.
    pub direct: f32,
}

struct Hours {
    sky: [u32; 3],
    key: u32,
    ambient: u32,
    disc: u32,
    height: f32,
    dark: f32,
}

#[rustfmt::skip]
const fn hours(time: Time, variant: usize) -> Hours {
    let (sky, key, ambient, disc, height, dark) = match (time, variant) {
        (Time::Dawn, 0) => ([0x4a6fa5, 0xe0a3a8, 0xffdfae], 0xffd2a8, 0x938aa8, 0xfff0c8, 0.05, 0.1),
        (Time::Dawn, _) => ([0x6a7fc0, 0xf0b8c0, 0xffe9c4], 0xffdcc0, 0x9c94b4, 0xfff4d8, 0.09, 0.1),
        (Time::Morning, 0) => ([0x3f8fd6, 0x8cc8f0, 0xfdf0d8], 0xfff4dc, 0x9fb0c8, 0xfffbe8, 0.30, 0.0),
        (Time::Morning, _) => ([0x58a0d8, 0xa8d8ea, 0xffeed8], 0xfff0d4, 0xa4b4c4, 0xfffbe8, 0.24, 0.0),
        (Time::Day, 0) => ([0x2476cf, 0x66b2ee, 0xd6eefb], 0xfffef4, 0x9db2cc, 0xffffff, 0.44, 0.0),
        (Time::Day, _) => ([0x1f8fd0, 0x74c6e8, 0xe4f5ee], 0xfffdf0, 0xa0b8c8, 0xffffff, 0.40, 0.0),
        (Time::Golden, 0) => ([0x5a88ba, 0xe9c184, 0xffe09a], 0xffd890, 0x958898, 0xfff2c4, 0.15, 0.05),
        (Time::Golden, _) => ([0x7fa0b8, 0xf3c88a, 0xffd98a], 0xffce84, 0x9a8c90, 0xfff2c4, 0.19, 0.05),
        (Time::Sunset, 0) => ([0x33306e, 0xc9566f, 0xffab52], 0xff9e5e, 0x7a6488, 0xffe9a0, 0.045, 0.3),
        (Time::Sunset, 1) => ([0x274a7a, 0xe8805a, 0xffcf6e], 0xffac62, 0x7c6c84, 0xfff0b4, 0.07, 0.25),
        (Time::Sunset, _) => ([0x47265f, 0xd1477e, 0xff8c5a], 0xff8f6a, 0x7c5c84, 0xffdc9c, 0.03, 0.3),
        (Time::Dusk, 0) => ([0x161d50, 0x51509a, 0xdc93a6], 0xa890c8, 0x5c5a8c, 0xffe6d0, -0.05, 0.65),
        (Time::Dusk, _) => ([0x0f2748, 0x3a6a94, 0xe0a890], 0x98a4c8, 0x54648c, 0xffe6d0, -0.05, 0.65),
        (Time::Night, 0) => ([0x070b24, 0x11224e, 0x2b4677], 0x8ca4d8, 0x36466e, 0xf4f2de, 0.36, 1.0),
        (Time::Night, _) => ([0x0b0a26, 0x1d1c4a, 0x3f3f78], 0x9c9cdc, 0x403e6c, 0xf6eee0, 0.31, 1.0),
    };
    Hours {
        sky,
        key,
        ambient,
        disc,
        height,
        dark,
    }
}

impl Light {
    /// The light of a time and weather above a horizon.
    pub(crate) fn new(time: Time, weather: Weather, dice: &Dice, horizon: f32) -> Self {
        let variant = dice.pick("light", if time == Time::Sunset { 3 } else { 2 });
        let base = hours(time, variant);
        let turn = dice.between("hue", -0.012, 0.012);
        let warm = |code: u32| {
            let [h, s, l] = to_hsl(hex(code));
            from_hsl([h + turn, s, l])
        };
        let side = if dice.pick("side", 2) == 0 { -1.0 } else { 1.0 };
        let x = side * dice.between("sun", 0.1, 0.38);
        let sky = base.sky.map(warm);
        let mut light = Self {
            sky,
            key: warm(base.key),
            ambient: hex(base.ambient),
            fog: mix(sky[2], sky[1], 0.35),
            haze: dice.between("haze", 0.25, 0.6),
            sun: (
                x,
                horizon - base.height - dice.between("sunup", -0.02, 0.05),
            ),
            disc: hex(base.disc),
            dark: base.dark,
            direct: 1.0,
        };
        light.weathered(weather);
        light
    }

    fn weathered(&mut self, weather: Weather) {
        let (grey, direct, haze) = match weather {
            Weather::Clear | Weather::Aurora | Weather::Meteors => (0.0, 1.0, 0.0),
            Weather::Cloudy | Weather::Wind => (0.08, 0.85, 0.05),
            Weather::Rainbow => (0.22, 0.8, 0.1),
            Weather::Overcast => (0.6, 0.3, 0.2),
            Weather::Rain => (0.7, 0.22, 0.3),
            Weather::Storm => (0.85, 0.15, 0.2),
            Weather::Snowfall => (0.55, 0.35, 0.4),
            Weather::Fog => (0.5, 0.3, 0.9),
        };
        let gloom = if weather == Weather::Storm { 0.5 } else { 0.86 };
        let cloud = scale(
            mix([0.66, 0.7, 0.75], self.sky[2], 0.3),
            gloom * (1.0 - self.dark * 0.75),
        );
        self.sky = [
            mix(self.sky[0], scale(cloud, 0.78), grey),
            mix(self.sky[1], scale(cloud, 0.92), grey),
            mix(self.sky[2], cloud, grey * 0.85),
        ];
        self.key = mix(self.key, saturate(self.ambient, 0.5), grey * 0.7);
        self.ambient = scale(saturate(self.ambient, 1.0 - grey * 0.4), 1.0 - grey * 0.12);
        self.fog = mix(self.fog, cloud, grey);
        self.direct = direct;
        self.haze = (self.haze + haze).min(1.2);
    }

    /// The colour of a surface turned this much (0..1) to the light.
    pub(crate) fn on(&self, surface: Rgb, facing: f32) -> Rgb {
        let strength = facing.clamp(0.0, 1.0) * (0.35 + 0.65 * self.direct);
        let lamp = [
            self.ambient[0] * 0.92 + self.key[0] * strength * 0.62,
            self.ambient[1] * 0.92 + self.key[1] * strength * 0.62,
            self.ambient[2] * 0.92 + self.key[2] * strength * 0.62,
        ];
        filter(surface, lamp)
    }

    /// A colour seen through the air at a depth of 0..1.
    pub(crate) fn through(&self, colour: Rgb, depth: f32) -> Rgb {
        let share = (depth * (0.35 + self.haze * 0.65)).clamp(0.0, 0.96);
        mix(colour, self.fog, share)
    }

    /// -1 when the light comes from the left of a place, 1 from the right.
    pub(crate) fn side(&self, x: f32) -> f32 {
        ((self.sun.0 - x) * 3.0).clamp(-1.0, 1.0)
    }
}
