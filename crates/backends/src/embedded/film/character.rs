//! Characters: who is seen in a video, kept so that later videos can show it again.

use atelier_contract::Role;
use atelier_media::{Picture, Scene, first_frame};
use serde::{Deserialize, Serialize};

use super::{caption, frame_file, unreadable};
use crate::backend::{Fault, Made};
use crate::embedded::desk::Desk;
use crate::embedded::notes::Notes;
use crate::embedded::palette;

/// Longest side of a preview.
const PREVIEW: u32 = 512;

/// What is known of a character.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::embedded) struct Character {
    /// What a prompt would call it; empty when only its colours are known.
    pub(super) words: String,
    /// Its colours.
    pub(super) palette: Vec<[u8; 3]>,
}

/// Everyone who plays in a video, by name.
#[derive(Default)]
pub(super) struct Cast {
    named: Vec<(String, Character)>,
    unnamed: Option<Character>,
}

/// Makes a character from the given video.
pub(in crate::embedded) fn character(desk: &Desk) -> Result<Made, Fault> {
    let (character, frame) = seen_in(desk, "url")?;
    let name = character.words.split_whitespace().next_back();
    let name: String = name
        .unwrap_or("someone")
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let alias = format!("{}_{:08x}", name.to_ascii_lowercase(), desk.seed);
    let notes = Notes::Character {
        seed: desk.seed,
        character,
    };
    Ok(Made {
        files: vec![frame_file(&frame.fitted(PREVIEW), Role::Main)],
        alias: Some(alias),
        made: 1,
        notes: notes.write(),
        ..Made::default()
    })
}

/// Who is seen in the given video, and its first frame.
fn seen_in(desk: &Desk, field: &str) -> Result<(Character, Picture), Fault> {
    let bytes = desk.work.video.as_ref();
    let bytes = bytes.ok_or_else(|| Fault::unusable(format!("{field}: is missing")))?;
    let frame = first_frame(bytes).map_err(|error| unreadable(field, &error))?;
    let known = caption::read(bytes);
    let scene = known.map(|known| Scene::from_prompt(&known.prompt, "", known.seed));
    let subject = scene.and_then(|scene| scene.subjects.into_iter().next());
    let words = subject.map_or(String::new(), |subject| {
        let colour = subject.colour_name.unwrap_or_default();
        format!("{colour} {}", subject.name).trim().to_owned()
    });
    let character = Character {
        palette: palette::shared(std::slice::from_ref(&frame)),
        words,
    };
    Ok((character, frame))
}

/// Those the prompt names, and the one of a video given with it.
pub(super) fn cast(desk: &Desk) -> Result<Cast, Fault> {
    let mut cast = Cast::default();
    for job in &desk.work.cited {
        if let Some(output) = job.output()
            && let (Some(alias), Some(Notes::Character { character, .. })) =
                (&output.alias, Notes::read(&output.notes))
        {
            cast.named.push((alias.clone(), character));
        }
    }
    if desk.work.video.is_some() {
        cast.unnamed = Some(seen_in(desk, "character_url")?.0);
    }
    Ok(cast)
}

impl Cast {
    /// The scene of a prompt in which everyone appears.
    pub(super) fn scene(&self, prompt: &str, negative: &str, seed: u64) -> Scene {
        let mut words = prompt.to_owned();
        let mut colours = Vec::new();
        for (name, character) in &self.named {
            words = replaced(&words, name, &character.words);
            colours.extend(character.palette.iter().take(1));
        }
        if let Some(character) = &self.unnamed {
            if !character.words.is_empty() {
                words = format!("{} {words}", character.words);
            }
            colours.extend(character.palette.iter().take(1));
        }
        let mut scene = Scene::from_prompt(&words, negative, seed);
        if scene.subjects.is_empty() && scene.palette.is_empty() {
            scene.palette = colours;
        }
        scene
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
    fn a_named_character_takes_the_place_of_its_name() {
        let prompt = "@Fox_1 meets @fox_1 on a beach";
        assert_eq!(
            replaced(prompt, "fox_1", "red fox"),
            "red fox meets red fox on a beach"
        );
    }
}
