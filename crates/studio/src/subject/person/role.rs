//! Who a person is: what is worn, carried and chosen for one figure.

use crate::paint::colour::{Rgb, hex};

/// What a person wears.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Dress {
    Trousers,
    Skirt,
    Robe,
    Armour,
    Suit,
}

/// What is on the head.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Hat {
    None,
    Pointed,
    Helmet,
    Bubble,
    Brim,
    Crown,
    Hood,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Gear {
    None,
    Staff,
    Sword,
    Pack,
}

#[derive(Clone, Copy)]
pub(super) struct PersonRole {
    pub(super) dress: Dress,
    pub(super) hat: Hat,
    pub(super) gear: Gear,
    pub(super) long_hair: bool,
    pub(super) beard: bool,
    pub(super) cloth: Rgb,
    pub(super) tall: f32,
    pub(super) cape: Option<Rgb>,
}

#[rustfmt::skip]
pub(super) fn role(name: &str) -> Option<PersonRole> {
    let base = PersonRole { dress: Dress::Trousers, hat: Hat::None, gear: Gear::None, long_hair: false, beard: false, cloth: hex(0x3f6fa8), tall: 1.0, cape: None };
    Some(match name {
        "man" | "person" => base,
        "woman" => PersonRole { dress: Dress::Skirt, long_hair: true, cloth: hex(0xc14b5d), ..base },
        "child" => PersonRole { tall: 0.62, cloth: hex(0xe0a132), ..base },
        "wanderer" => PersonRole { hat: Hat::Brim, gear: Gear::Pack, cloth: hex(0x6d5a3c), cape: Some(hex(0x7a3b2c)), ..base },
        "knight" => PersonRole { dress: Dress::Armour, hat: Hat::Helmet, gear: Gear::Sword, cloth: hex(0x9aa4b2), cape: Some(hex(0xa32f2f)), ..base },
        "wizard" => PersonRole { dress: Dress::Robe, hat: Hat::Pointed, gear: Gear::Staff, beard: true, long_hair: true, cloth: hex(0x4a3f8f), ..base },
        "witch" => PersonRole { dress: Dress::Robe, hat: Hat::Pointed, gear: Gear::Staff, long_hair: true, cloth: hex(0x3a2d4a), ..base },
        "monk" => PersonRole { dress: Dress::Robe, hat: Hat::Hood, gear: Gear::Staff, cloth: hex(0xb5692c), ..base },
        "astronaut" => PersonRole { dress: Dress::Suit, hat: Hat::Bubble, gear: Gear::Pack, cloth: hex(0xe9ecf0), ..base },
        "princess" => PersonRole { dress: Dress::Robe, hat: Hat::Crown, long_hair: true, cloth: hex(0xd77fb0), ..base },
        "king" => PersonRole { dress: Dress::Robe, hat: Hat::Crown, gear: Gear::Staff, beard: true, cloth: hex(0x8f2437), cape: Some(hex(0xd9b45a)), ..base },
        "samurai" => PersonRole { dress: Dress::Robe, hat: Hat::Brim, gear: Gear::Sword, cloth: hex(0x2f3f5f), ..base },
        _ => return None,
    })
}

/// Everything chosen for one figure.
pub(super) struct PersonLook {
    pub(super) role: PersonRole,
    pub(super) skin: Rgb,
    pub(super) hair: Rgb,
    pub(super) cloth: Rgb,
    pub(super) stride: f32,
}
