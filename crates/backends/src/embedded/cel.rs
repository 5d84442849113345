//! Anime pictures: characters at their places, coloured by reference pictures, or drawn over a base picture.

use atelier_media::Picture;
use atelier_studio::{Anime, Character};
use atelier_studio::{grained, restyle};
use serde_json::Value;

use super::album;
use super::desk::Desk;
use super::notes::Notes;
use super::reference::Lead;
use crate::backend::{Fault, Made};

/// How far references move a picture where the request does not say.
const USUAL_INFLUENCE: f64 = 0.6;

/// Draws as many anime pictures as asked for.
pub(super) fn anime(desk: &Desk) -> Result<Made, Fault> {
    let brief = &desk.work.brief;
    let over_base = brief.extra.get("base_image").and_then(Value::as_bool) == Some(true);
    let mut references = desk.sources()?;
    let base = (over_base && !references.is_empty()).then(|| references.remove(0));
    let (width, height) = desk.size(base.as_ref());
    let noise = number(desk, "noise").unwrap_or(0.0);
    let base =
        base.map(|base| grained(&base.on([255; 3]).covering(width, height), noise, desk.seed));
    let lead = Lead::of(desk, &references);
    let files = album::filed(desk, desk.count(), |index| {
        let drawn = described(desk, &lead, desk.seed_of(index)).render(width, height);
        Ok(match &base {
            Some(base) => drawn_over(desk, base, &drawn),
            None => drawn,
        })
    })?;
    let mut made = album::made(files, desk.count(), &Notes::Picture { seed: desk.seed });
    made.seed = Some(desk.seed.to_string());
    Ok(made)
}

/// The base picture, as far towards the drawing as the strength says.
fn drawn_over(desk: &Desk, base: &Picture, drawn: &Picture) -> Picture {
    restyle(base, drawn, desk.work.brief.strength as f32)
}

fn described(desk: &Desk, lead: &Lead, seed: u64) -> Anime {
    let brief = &desk.work.brief;
    let mut anime = Anime::from_prompt(&brief.prompt, &brief.negative, seed);
    let given = brief
        .extra
        .get("character_prompts")
        .and_then(Value::as_array);
    for one in given.into_iter().flatten() {
        if let Some(unwanted) = one.get("uc").and_then(Value::as_str) {
            anime.negative = format!("{}, {unwanted}", anime.negative);
        }
        anime.characters.push(Character {
            prompt: one["prompt"].as_str().unwrap_or_default().to_owned(),
            centre: (side(one, "x"), side(one, "y")),
        });
    }
    anime.adherence = number(desk, "scale").unwrap_or(anime.adherence);
    anime.steps = number(desk, "steps").map_or(anime.steps, |steps| steps as u32);
    if !lead.colours.is_empty() {
        anime.palette.clone_from(&lead.colours);
        anime.influence = influence(desk) as f32;
        (anime.looks, anime.mood) = (lead.seed, lead.time);
    }
    anime
}

/// A number among what only this family knows of.
fn number(desk: &Desk, name: &str) -> Option<f32> {
    let value = desk.work.brief.extra.get(name)?.as_f64()?;
    Some(value as f32)
}

fn side(character: &Value, name: &str) -> f32 {
    character["center"][name].as_f64().unwrap_or(0.5) as f32
}

/// The strongest wish of any reference.
fn influence(desk: &Desk) -> f64 {
    ["vibe_transfer", "character_reference"]
        .iter()
        .filter_map(|field| desk.work.request.get(*field)?.as_array())
        .flatten()
        .map(|one| one["strength"].as_f64().unwrap_or(USUAL_INFLUENCE))
        .fold(0.0, f64::max)
}
