//! What can be drawn: a name, the coloured parts of its picture, where it belongs and how large it is.

pub(crate) mod art;
mod beast;
mod bird;
pub(crate) mod build;
pub(crate) mod built_in;
mod emoji;
mod person;
mod plant;
mod portrait;
mod twemoji;
mod vector;
pub(crate) mod writing;

use crate::choices::RequestedSubject;
use crate::paint::dice::Dice;
use art::Art;

/// The picture of a wanted subject.
pub(crate) fn drawn(want: &RequestedSubject, dice: &Dice) -> Option<Art> {
    if let Some(drawing) = &want.drawing {
        return Art::new(vector::parts(drawing));
    }
    let cloth = want.colour.map(|c| c.map(|v| f32::from(v) / 255.0));
    let own = dice.part(&want.key, 3);
    beast::art(&want.key, &own)
        .or_else(|| bird::art(&want.key, &own))
        .or_else(|| person::art(&want.key, cloth, &own))
        .or_else(|| plant::art(&want.key, &own))
        .or_else(|| portrait::art(&want.key, cloth, &own))
        .or_else(|| svg(&want.key).and_then(|svg| Art::new(vector::parts(svg))))
        .or_else(|| emoji::art(&want.key))
}

/// The drawings we keep as vector files.
fn svg(key: &str) -> Option<&'static str> {
    Some(match key {
        "sailboat" => include_str!("../assets/subjects/sailboat.svg"),
        "galleon" => include_str!("../assets/subjects/galleon.svg"),
        "steamship" => include_str!("../assets/subjects/steamship.svg"),
        "lighthouse" => include_str!("../assets/subjects/lighthouse.svg"),
        "house" => include_str!("../assets/subjects/house.svg"),
        "windmill" => include_str!("../assets/subjects/windmill.svg"),
        "hot air balloon" => include_str!("../assets/subjects/balloon.svg"),
        "vase of flowers" => include_str!("../assets/subjects/vase.svg"),
        "bowl of fruit" => include_str!("../assets/subjects/fruit_bowl.svg"),
        "robot" => include_str!("../assets/subjects/robot.svg"),
        "bridge" => include_str!("../assets/subjects/bridge.svg"),
        "pagoda" => include_str!("../assets/subjects/temple.svg"),
        _ => return None,
    })
}
