//! Who plays in a video: characters seen in other videos, made known and shown again.

use atelier_contract::FileRole;
use atelier_media::{Label, Picture, cut_out, frame_at};
use atelier_studio::{Habitat, Kind, Place, RequestedSubject, Scene, vectorize};

use super::character::Character;
use super::frames::{frame_file, unreadable};
use crate::backend::{Fault, WorkOutput};
use crate::embedded::assignment::Assignment;
use crate::embedded::notes::EmbeddedNotes;
use crate::embedded::palette;

/// Longest side of a preview.
const PREVIEW: u32 = 512;

/// More subjects than these have no room in a scene.
const MOST_SUBJECTS: usize = 6;
/// A character is traced from a picture of this side, so that its drawing stays small.
const TRACED: u32 = 160;
/// Longer drawings are not kept with a job.
const MOST_BYTES: usize = 48 * 1024;

/// Everyone who plays in a video, by name.
#[derive(Default)]
pub(super) struct Cast {
    named: Vec<(String, Character)>,
    unnamed: Option<Character>,
}

/// Makes a character from the given video.
pub(in crate::embedded) fn character(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let (character, frame) = seen_in(assignment, "url")?;
    let name = character.words.split_whitespace().next_back();
    let name: String = name
        .unwrap_or("someone")
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let alias = format!("{}_{:08x}", name.to_ascii_lowercase(), assignment.seed);
    let notes = EmbeddedNotes::Character {
        seed: assignment.seed,
        character,
    };
    Ok(WorkOutput {
        files: vec![frame_file(&frame.fitted(PREVIEW), FileRole::Main)],
        alias: Some(alias),
        made: 1,
        notes: notes.write(),
        ..WorkOutput::default()
    })
}

/// Who is seen in the given video, and the frame in the middle of the part that shows it.
fn seen_in(assignment: &Assignment, field: &str) -> Result<(Character, Picture), Fault> {
    let bytes = assignment.work.video.as_ref();
    let bytes = bytes.ok_or_else(|| Fault::unusable(format!("{field}: is missing")))?;
    let (from, to) = assignment.work.brief.span.unwrap_or_default();
    let frame =
        frame_at(bytes, f64::midpoint(from, to)).map_err(|error| unreadable(field, &error))?;
    let looks = known(bytes).or_else(|| traced(&frame));
    let words = looks.as_ref().map_or(String::new(), |one| {
        let colour = one.colour_name.clone().unwrap_or_default();
        format!("{colour} {}", one.name).trim().to_owned()
    });
    let character = Character {
        palette: palette::shared(std::slice::from_ref(&frame)),
        words,
        looks,
    };
    Ok((character, frame))
}

/// The first subject of a video that was made here, as it looked there.
fn known(bytes: &[u8]) -> Option<RequestedSubject> {
    let label = Label::read(bytes)?;
    let scene = serde_json::from_str::<Scene>(&label.scene).ok();
    let scene = scene.or_else(|| Some(Scene::from_prompt(&label.prompt, "", label.seed?)))?;
    let mut subject = scene.subjects.first()?.clone();
    subject.look.get_or_insert(scene.seed());
    (subject.count, subject.at) = (1, None);
    Some(subject)
}

/// What stands out in a frame, as a drawing of paths.
fn traced(frame: &Picture) -> Option<RequestedSubject> {
    let alone = cut_out(&frame.fitted(TRACED));
    let drawing = vectorize(&alone);
    let kept = drawing.contains("<path") && drawing.len() <= MOST_BYTES;
    kept.then(|| RequestedSubject {
        key: "character".to_owned(),
        name: String::new(),
        count: 1,
        colour: None,
        colour_name: None,
        place: Place::Any,
        scale: 1.0,
        kind: Kind {
            habitat: Habitat::Ground,
            size: 0.62,
        },
        at: None,
        look: None,
        drawing: Some(drawing),
    })
}

/// Those the prompt names, and the one of a video given with it.
pub(super) fn cast(assignment: &Assignment) -> Result<Cast, Fault> {
    let mut cast = Cast::default();
    for job in &assignment.work.cited {
        if let Some(output) = job.output()
            && let (Some(alias), Some(EmbeddedNotes::Character { character, .. })) =
                (&output.alias, EmbeddedNotes::read(&output.notes))
        {
            cast.named.push((alias.clone(), character));
        }
    }
    if assignment.work.video.is_some() {
        cast.unnamed = Some(seen_in(assignment, "character_url")?.0);
    }
    Ok(cast)
}

impl Cast {
    /// The scene of a prompt in which everyone appears as they look.
    pub(super) fn scene(&self, prompt: &str, negative: &str, seed: u64) -> Scene {
        let mut words = prompt.to_owned();
        for (name, character) in &self.named {
            words = replaced(&words, name, &character.words);
        }
        if let Some(character) = &self.unnamed
            && !character.words.is_empty()
        {
            words = format!("{} {words}", character.words);
        }
        let mut scene = Scene::from_prompt(&words, negative, seed);
        for character in self.everyone() {
            if let Some(looks) = &character.looks {
                appear(&mut scene, looks);
            }
        }
        if scene.subjects.is_empty() && scene.palette.is_empty() {
            let main = |one: &Character| one.palette.first().copied();
            scene.palette = self.everyone().filter_map(main).collect();
        }
        scene
    }

    fn everyone(&self) -> impl Iterator<Item = &Character> {
        self.named.iter().map(|(_, one)| one).chain(&self.unnamed)
    }
}

/// Lets one who is known by sight take the place of its namesake, or join the others.
fn appear(scene: &mut Scene, looks: &RequestedSubject) {
    let namesake = |one: &&mut RequestedSubject| one.key == looks.key && one.drawing.is_none();
    let room = scene.subjects.len() < MOST_SUBJECTS;
    match scene.subjects.iter_mut().find(namesake) {
        Some(one) => {
            (one.look, one.drawing) = (looks.look, looks.drawing.clone());
            one.colour = looks.colour.or(one.colour);
        }
        None if room => scene.subjects.insert(0, looks.clone()),
        None => {}
    }
}

/// The prompt with `@name`, in any case, replaced by words.
fn replaced(prompt: &str, name: &str, words: &str) -> String {
    let mention = format!("@{name}");
    let mut out = String::with_capacity(prompt.len());
    let mut rest = prompt;
    while let Some(at) = rest.to_ascii_lowercase().find(&mention) {
        out.push_str(&rest[..at]);
        out.push_str(words);
        rest = &rest[at + mention.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_known_by_sight_takes_the_place_of_its_namesake_or_joins() {
        let fox = Scene::from_prompt("a red fox", "", 77).subjects[0].clone();
        let looks = RequestedSubject {
            look: Some(77),
            ..fox
        };
        let cast = Cast {
            named: vec![(
                "fox_1".into(),
                Character {
                    words: "red fox".into(),
                    looks: Some(looks),
                    ..Character::default()
                },
            )],
            unnamed: None,
        };
        let named = cast.scene("@fox_1 on a beach", "", 5);
        assert_eq!(named.subjects.len(), 1);
        assert_eq!(named.subjects[0].look, Some(77));
        let beside = cast.scene("a castle", "", 5);
        assert_eq!(beside.subjects.len(), 2);
    }

    #[test]
    fn a_named_character_takes_the_place_of_its_name() {
        let prompt = "@Fox_1 meets @fox_1 on a beach";
        assert_eq!(
            replaced(prompt, "fox_1", "red fox"),
            "red fox meets red fox on a beach"
        );
    }
}
