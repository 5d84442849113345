//! What can be measured in a picture without knowing what it shows.

use atelier_media::Picture;

/// Measures from 0 to 1 unless said otherwise.
pub(super) struct PictureMeasures {
    pub(super) bright: f32,
    spread: f32,
    colourful: f32,
    /// Red against blue, -1 to 1.
    pub(super) warm: f32,
    /// Mean step between neighbouring pixels.
    pub(super) busy: f32,
    /// Height of a horizon, from the top.
    pub(super) horizon: Option<f32>,
    pub(super) green_below: bool,
    /// Detail in the middle against detail at the border.
    pub(super) centred: f32,
    mirrored: bool,
}

impl PictureMeasures {
    /// Measures a small copy.
    pub(super) fn of(picture: &Picture) -> Self {
        let small = picture.resized(64, 64);
        let light: Vec<f32> = small
            .pixels()
            .iter()
            .map(|&[r, g, b, _]| {
                (0.3 * f32::from(r) + 0.59 * f32::from(g) + 0.11 * f32::from(b)) / 255.0
            })
            .collect();
        let count = light.len() as f32;
        let bright = light.iter().sum::<f32>() / count;
        let spread = (light.iter().map(|l| (l - bright).powi(2)).sum::<f32>() / count).sqrt();
        let colourful = small
            .pixels()
            .iter()
            .map(|&[r, g, b, _]| f32::from(r.max(g).max(b) - r.min(g).min(b)) / 255.0)
            .sum::<f32>()
            / count;
        let [r, _, b] = small.mean_colour().map(f32::from);
        let step = |at: usize| {
            let across = if at % 64 < 63 {
                (light[at + 1] - light[at]).abs()
            } else {
                0.0
            };
            let down = if at < 63 * 64 {
                (light[at + 64] - light[at]).abs()
            } else {
                0.0
            };
            across + down
        };
        let busy = (0..light.len()).map(step).sum::<f32>() / count / 2.0;
        let is_middle = |at: usize| (16..48).contains(&(at % 64)) && (14..54).contains(&(at / 64));
        let mean = |wanted: bool| {
            let (sum, count) = (0..light.len())
                .filter(|at| is_middle(*at) == wanted)
                .fold((0.0, 0.0_f32), |(sum, count), at| {
                    (sum + step(at), count + 1.0)
                });
            sum / count.max(1.0)
        };
        let apart: f32 = (0..light.len())
            .map(|at| (light[at] - light[at / 64 * 64 + 63 - at % 64]).abs())
            .sum::<f32>()
            / count;
        let horizon = horizon(&light);
        Self {
            bright,
            spread,
            colourful,
            warm: (r - b) / 255.0,
            busy,
            horizon,
            green_below: horizon.is_some_and(|height| green_below(&small, height)),
            centred: (mean(true) + 0.002) / (mean(false) + 0.002),
            mirrored: apart < 0.05,
        }
    }

    pub(super) fn light(&self) -> &'static str {
        match self.bright {
            bright if bright < 0.2 => "dark, low-key light",
            bright if bright < 0.4 => "subdued light",
            bright if bright < 0.62 => "even, balanced light",
            bright if bright < 0.8 => "bright light",
            _ => "very bright, high-key light",
        }
    }

    pub(super) fn contrast(&self) -> &'static str {
        match self.spread {
            spread if spread < 0.1 => "low contrast",
            spread if spread < 0.22 => "moderate contrast",
            _ => "strong contrast",
        }
    }

    pub(super) fn warmth(&self) -> &'static str {
        match self.warm {
            _ if self.colourful < 0.07 => "almost monochrome",
            warm if warm > 0.1 => "warm colours",
            warm if warm < -0.1 => "cool colours",
            _ => "balanced warm and cool colours",
        }
    }

    pub(super) fn detail(&self) -> &'static str {
        match self.busy {
            busy if busy < 0.012 => "large smooth areas",
            busy if busy < 0.035 => "soft shapes and little texture",
            busy if busy < 0.07 => "fine texture",
            _ => "dense, intricate detail",
        }
    }

    pub(super) fn layout(&self) -> &'static str {
        match self.horizon {
            Some(height) if height < 0.4 => "high horizon",
            Some(height) if height > 0.6 => "low horizon and a large sky area",
            Some(_) => "horizon across the middle",
            None if self.mirrored => "symmetrical layout",
            None if self.centred > 1.35 => "centred layout",
            None => "layout without a horizon",
        }
    }

    pub(super) fn mood(&self) -> &'static str {
        match (self.bright, self.colourful) {
            (bright, _) if bright < 0.25 => "moody",
            (_, colourful) if colourful > 0.42 => "vivid",
            (bright, colourful) if bright > 0.6 && colourful < 0.2 => "airy",
            (_, colourful) if colourful < 0.1 => "restrained",
            _ => "natural",
        }
    }

    pub(super) fn rendering(&self) -> &'static str {
        if self.colourful < 0.04 {
            "monochrome rendering"
        } else if self.busy < 0.012 {
            "smooth, minimal rendering"
        } else {
            "detailed rendering"
        }
    }

    pub(super) fn depth(&self) -> &'static str {
        if self.centred > 1.35 {
            "sharp middle and quiet edges"
        } else {
            "detail spread evenly over the frame"
        }
    }
}

/// The height of the one clear step between two calm bands, when there is one.
fn horizon(light: &[f32]) -> Option<f32> {
    let rows: Vec<f32> = (0..64)
        .map(|y| light[y * 64..][..64].iter().sum::<f32>() / 64.0)
        .collect();
    let step = |y: usize| (rows[y + 2] - rows[y - 1]).abs();
    let best = (12..52).max_by(|a, b| step(*a).total_cmp(&step(*b)))?;
    let usual = (12..52).map(step).sum::<f32>() / 40.0;
    // Most columns must change there in the same direction, or it is only a large dark thing.
    let up = rows[best + 2] > rows[best - 1];
    let agree = (0..64)
        .filter(|x| {
            let change = light[(best + 2) * 64 + x] - light[(best - 1) * 64 + x];
            change.abs() > 0.04 && (change > 0.0) == up
        })
        .count();
    (step(best) > 0.07 && step(best) > usual * 2.2 && agree > 44).then_some(best as f32 / 64.0)
}

fn green_below(small: &Picture, height: f32) -> bool {
    let below = &small.pixels()[(height * 64.0) as usize * 64..];
    let green = below
        .iter()
        .filter(|[r, g, b, _]| {
            u16::from(*g) > u16::from(*r) + 6 && u16::from(*g) > u16::from(*b) + 6
        })
        .count();
    green * 2 > below.len()
}
