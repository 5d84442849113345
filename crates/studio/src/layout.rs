//! Where the subjects of a scene stand, how large they are and which way they look.

use crate::choices::RequestedSubject;
use crate::choices::habitat::Habitat;
use crate::choices::kinds::{Place, Setting};
use crate::paint::dice::Dice;
use crate::subject::art::Art;
use crate::subject::writing::has_writing;

/// A subject with its place in the world.
#[derive(Clone, Debug)]
pub(crate) struct PlacedSubject {
    /// Which of the wanted subjects it is.
    pub index: usize,
    pub art: Art,
    /// Where the middle of its feet is.
    pub foot: (f32, f32),
    /// World units for one unit of its picture.
    pub scale: f32,
    /// Looks the other way.
    pub flip: bool,
    /// 0 right before the camera, 1 at the horizon.
    pub depth: f32,
    pub habitat: Habitat,
}

impl PlacedSubject {
    /// Its height in the world.
    pub(crate) fn height(&self) -> f32 {
        self.art.bounds.height() * self.scale
    }

    /// Moves it as time passes: what floats bobs, what flies or swims goes on the way it looks.
    pub(crate) fn moved_by(&mut self, clock: f32) {
        if clock <= 0.0 {
            return;
        }
        let phase = self.foot.0 * 9.0 + self.index as f32;
        let wave = |turns: f32| (clock * turns * std::f32::consts::TAU + phase).sin() - phase.sin();
        match self.habitat {
            Habitat::Water => {
                self.foot.1 += wave(9.0) * self.height() * 0.012;
                self.foot.0 += self.ahead() * clock * 0.12;
            }
            Habitat::Air | Habitat::Sea => {
                self.foot.1 += wave(7.0) * self.height() * 0.03;
                self.foot.0 += self.ahead() * clock * 0.35;
            }
            Habitat::Ground | Habitat::Sky | Habitat::Table => {}
        }
    }

    /// The way it looks: to the left, or to the right when it is mirrored.
    fn ahead(&self) -> f32 {
        if self.flip { 1.0 } else { -1.0 }
    }

    /// Its width in the world.
    pub(crate) fn width(&self) -> f32 {
        self.art.bounds.width() * self.scale
    }
}

/// Where things can stand in a setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor {
    /// World height of the horizon or the back of the table.
    pub horizon: f32,
    /// World height of the ground right before the viewer.
    pub near: f32,
    /// World height of the nearest water, if there is any.
    pub water: Option<f32>,
    pub setting: Setting,
}

/// Places all subjects, farthest first.
pub(crate) fn placed(wanted: &[RequestedSubject], floor: Floor, dice: &Dice) -> Vec<PlacedSubject> {
    let total: usize = wanted.iter().map(|w| w.count as usize).sum();
    if total == 0 {
        return Vec::new();
    }
    let crowd = 1.0 / (1.0 + 0.30 * (total as f32 - 1.0)).powf(0.72);
    let mut spots = spots(total, dice);
    let mut all = Vec::new();
    for (index, want) in wanted.iter().enumerate() {
        let looks = want.look.map_or(*dice, Dice::new);
        let Some(art) = crate::subject::drawn(want, &looks) else {
            continue;
        };
        for copy in 0..want.count {
            let own = dice.part(&want.key, i32::from(copy) + index as i32 * 100);
            let x = spots.pop().unwrap_or(0.0);
            let slot = Slot { index, x, crowd };
            let mut one = place(want, art.clone(), slot, floor, &own);
            // All of them must fit beside each other.
            if total > 1 && want.at.is_none() {
                one.scale *= (0.84 / total as f32 / one.width()).min(1.0);
            }
            all.push(one);
        }
    }
    if wanted.iter().all(|want| want.at.is_none()) {
        separate(&mut all);
    }
    mount(wanted, &mut all);
    // A rider is painted after what carries it, everything else from far to near.
    all.sort_by(|a, b| b.depth.total_cmp(&a.depth));
    all
}

/// Places across the picture, in the order they are handed out from the end.
fn spots(total: usize, dice: &Dice) -> Vec<f32> {
    if total == 1 {
        let x = [-0.17, 0.0, 0.17, 0.05][dice.pick("third", 4)];
        return vec![x + dice.between("step", -0.03, 0.03)];
    }
    let width = 0.3 + 0.10 * (total as f32 - 1.0).min(3.5);
    let mut all: Vec<f32> = (0..total)
        .map(|i| ((i as f32 + 0.5) / total as f32 - 0.5) * width * (1.0 + 1.0 / total as f32))
        .map(|x| {
            x + dice
                .part("slot", (x * 100.0) as i32)
                .between("x", -0.02, 0.02)
        })
        .collect();
    if dice.pick("order", 2) == 0 {
        all.reverse();
    }
    all
}

fn size_of(want: &RequestedSubject, art: &Art, floor: Floor, crowd: f32) -> f32 {
    let tall = match floor.setting {
        Setting::Table => 0.26 + 0.45 * want.kind.size,
        Setting::Studio if want.key.starts_with("portrait") => 0.98,
        Setting::Studio => 0.62,
        _ => 0.26 + 0.42 * want.kind.size,
    };
    let (w, h) = (art.bounds.width(), art.bounds.height());
    // Wide things are measured by their width, so that a ship and a snake both fit.
    let measure = h.max(w * 0.8);
    tall * crowd * want.scale / measure
}

/// What a copy of a subject gets before the words move it.
#[derive(Clone, Copy)]
struct Slot {
    /// Which of the wanted subjects it is.
    index: usize,
    x: f32,
    /// How much smaller everything is because there are many.
    crowd: f32,
}

/// Where a subject stands and how large it is.
#[derive(Clone, Copy)]
struct Stand {
    x: f32,
    y: f32,
    scale: f32,
}

fn place(
    want: &RequestedSubject,
    art: Art,
    slot: Slot,
    floor: Floor,
    dice: &Dice,
) -> PlacedSubject {
    let Slot { index, x, crowd } = slot;
    let scale = size_of(want, &art, floor, crowd);
    let tall = art.bounds.height() * scale;
    let ground = floor.near - floor.horizon;
    let mut habitat = want.kind.habitat;
    if habitat == Habitat::Water && floor.water.is_none() {
        habitat = Habitat::Ground;
    }
    let y = match habitat {
        Habitat::Ground | Habitat::Table => floor.near - ground * dice.between("back", 0.04, 0.22),
        Habitat::Water => {
            let near = floor.water.unwrap_or(floor.near);
            floor.horizon + (near - floor.horizon) * dice.between("back", 0.34, 0.62) + 0.02
        }
        Habitat::Sea | Habitat::Air | Habitat::Sky => {
            floor.horizon.min(0.24) - dice.between("up", 0.04, 0.2) + tall * 0.3
        }
    };
    let stand = moved(want, floor, Stand { x, y, scale }, habitat, tall);
    let Stand {
        mut x,
        mut y,
        mut scale,
    } = stand;
    if floor.setting == Setting::Studio {
        // A portrait is cut by the lower edge; anything else stands free before the backdrop.
        let bust = want.key.starts_with("portrait");
        y = if bust {
            0.56
        } else {
            art.bounds.height() * scale * 0.5 + 0.03
        };
        x *= 0.4;
    }
    if let Some([fx, fy, tall]) = want.at {
        let scale = tall / art.bounds.height();
        let flip = dice.pick("flip", 2) == 1 && !has_writing(&want.key);
        return PlacedSubject {
            index,
            art,
            foot: (fx, fy),
            scale,
            flip,
            depth: 0.2,
            habitat,
        };
    }
    // What stands lower is nearer, and a little larger.
    let near = ((y - floor.horizon) / ground.max(0.05)).clamp(0.0, 1.2);
    if matches!(habitat, Habitat::Ground | Habitat::Water) && want.place != Place::Far {
        scale *= 0.78 + 0.24 * near;
    }
    let depth = match habitat {
        Habitat::Air | Habitat::Sky | Habitat::Sea => 0.3,
        _ => (0.45 - 0.35 * near).clamp(0.05, 0.6),
    };
    let flip = dice.pick("flip", 2) == 1 && want.place != Place::On && !has_writing(&want.key);
    PlacedSubject {
        index,
        art,
        foot: (x, y),
        scale,
        flip,
        depth,
        habitat,
    }
}

/// Moves a subject to where the words want it.
fn moved(
    want: &RequestedSubject,
    floor: Floor,
    mut stand: Stand,
    habitat: Habitat,
    tall: f32,
) -> Stand {
    let ground = floor.near - floor.horizon;
    match want.place {
        Place::Left => stand.x = -0.27,
        Place::Right => stand.x = 0.27,
        Place::Middle => stand.x = 0.0,
        Place::Top => stand.y = -0.18 + tall * 0.3,
        Place::Bottom | Place::Front => stand.y = floor.near,
        Place::Far => {
            stand.scale *= 0.45;
            let grounded = habitat == Habitat::Ground;
            stand.y = if grounded {
                floor.horizon + ground * 0.25
            } else {
                stand.y - 0.12
            };
        }
        Place::Any | Place::On => {}
    }
    stand
}

/// Sets those who ride or sit onto the subject named after them.
fn mount(wanted: &[RequestedSubject], all: &mut [PlacedSubject]) {
    for at in 0..all.len() {
        if wanted[all[at].index].place != Place::On {
            continue;
        }
        let Some(bearer) = all
            .iter()
            .find(|one| one.index == all[at].index + 1)
            .cloned()
        else {
            continue;
        };
        // A rider is smaller than what carries it.
        let fit = (bearer.height().max(bearer.width()) * 0.62 / all[at].height()).min(1.0);
        let rider = &mut all[at];
        rider.scale *= fit;
        rider.foot = (bearer.foot.0, bearer.foot.1 - bearer.height() * 0.55);
        rider.depth = bearer.depth - 0.01;
        rider.habitat = Habitat::Air;
    }
}

/// Moves neighbours apart when they would hide each other.
fn separate(all: &mut [PlacedSubject]) {
    for _ in 0..8 {
        for i in 0..all.len() {
            for j in i + 1..all.len() {
                let (a, b) = (&all[i], &all[j]);
                let stacked = (a.foot.1 - b.foot.1).abs() > a.height().min(b.height()) * 0.45;
                let wish = (a.width() + b.width()) * 0.52;
                let gap = b.foot.0 - a.foot.0;
                if stacked || gap.abs() >= wish {
                    continue;
                }
                let push = (wish - gap.abs()) * 0.25 * if gap < 0.0 { -1.0 } else { 1.0 };
                all[i].foot.0 = (all[i].foot.0 - push).clamp(-0.42, 0.42);
                all[j].foot.0 = (all[j].foot.0 + push).clamp(-0.42, 0.42);
            }
        }
    }
}

#[cfg(test)]
mod tests;
