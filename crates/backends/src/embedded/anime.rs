//! Anime pictures: characters at their places, coloured by reference pictures, or drawn over a base picture.

use atelier_media::Picture;
use atelier_studio::{Anime, Character};
use atelier_studio::{grained, restyle};
use serde_json::Value;

use super::assignment::Assignment;
use super::image_files;
use super::notes::EmbeddedNotes;
use super::reference::ReferenceTraits;
use crate::backend::{Fault, WorkOutput};

/// How far references move a picture where the request does not say.
const USUAL_INFLUENCE: f64 = 0.6;

/// Draws as many anime pictures as asked for.
pub(super) fn anime(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let brief = &assignment.work.brief;
    let over_base = brief.extra.get("base_image").and_then(Value::as_bool) == Some(true);
    let mut references = assignment.sources()?;
    let base = (over_base && !references.is_empty()).then(|| references.remove(0));
    let (width, height) = assignment.size(base.as_ref());
    let noise = number(assignment, "noise").unwrap_or(0.0);
    let base = base.map(|base| {
        grained(
            &base.on([255; 3]).covering(width, height),
            noise,
            assignment.seed,
        )
    });
    let lead = ReferenceTraits::of(assignment, &references);
    let files = image_files::render_files(assignment, assignment.count(), |index| {
        let drawn = described(assignment, &lead, assignment.seed_of(index)).render(width, height);
        Ok(match &base {
            Some(base) => drawn_over(assignment, base, &drawn),
            None => drawn,
        })
    })?;
    let mut made = image_files::work_output(
        files,
        assignment.count(),
        &EmbeddedNotes::Picture {
            seed: assignment.seed,
        },
    );
    made.seed = Some(assignment.seed.to_string());
    Ok(made)
}

/// The base picture, as far towards the drawing as the strength says.
fn drawn_over(assignment: &Assignment, base: &Picture, drawn: &Picture) -> Picture {
    restyle(base, drawn, assignment.work.brief.strength as f32)
}

fn described(assignment: &Assignment, lead: &ReferenceTraits, seed: u64) -> Anime {
    let brief = &assignment.work.brief;
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
    anime.adherence = number(assignment, "scale").unwrap_or(anime.adherence);
    anime.steps = number(assignment, "steps").map_or(anime.steps, |steps| steps as u32);
    if !lead.colours.is_empty() {
        anime.palette.clone_from(&lead.colours);
        anime.influence = influence(assignment) as f32;
        (anime.looks, anime.mood) = (lead.seed, lead.time);
    }
    anime
}

/// A number among what only this family knows of.
fn number(assignment: &Assignment, name: &str) -> Option<f32> {
    let value = assignment.work.brief.extra.get(name)?.as_f64()?;
    Some(value as f32)
}

fn side(character: &Value, name: &str) -> f32 {
    character["center"][name].as_f64().unwrap_or(0.5) as f32
}

/// The strongest wish of any reference.
fn influence(assignment: &Assignment) -> f64 {
    ["vibe_transfer", "character_reference"]
        .iter()
        .filter_map(|field| assignment.work.request.get(*field)?.as_array())
        .flatten()
        .map(|one| one["strength"].as_f64().unwrap_or(USUAL_INFLUENCE))
        .fold(0.0, f64::max)
}
