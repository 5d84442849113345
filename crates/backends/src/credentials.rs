//! Content Credentials of results: what is said of each file follows from how it was made, and is signed on the threads for
//! heavy work. A file that cannot be signed goes on as it is, and that is said.

use std::sync::Arc;

use atelier_media::credentials::{Ingredient, Statement, can_carry};
use bytes::Bytes;

pub use atelier_media::credentials::{
    Act, Chain, CredentialsError, Relation, Signatory, carries_manifest, own_chain,
};

use crate::backend::{Fault, OutputFile};
use crate::images::with_megabytes;

/// How people call what a vendor delivered.
const DELIVERED: &str = "made by the back end";

/// Something that was given to make a result of.
#[derive(Clone, Debug)]
pub struct CredentialInput {
    /// The field it came in.
    pub title: String,
    /// The file, when it carries a manifest and is at hand.
    pub file: Option<Bytes>,
}

/// How the files of a result came to be.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The version of the program.
    pub version: &'static str,
    /// The model that was named.
    pub model: String,
    /// When, as RFC 3339.
    pub when: String,
    /// The images and videos that the caller gave.
    pub given: Vec<CredentialInput>,
    /// Whether the results are changed versions of the first thing that was given.
    pub changed: bool,
    /// Whether nobody generated that.
    pub composite: bool,
}

/// How many files were signed, could not carry a manifest, and should have been signed but were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many carry a manifest now.
    pub signed: u32,
    /// Of a type without a place for a manifest.
    pub plain: u32,
    /// Not signed although they could be.
    pub failed: u32,
}

/// The files, signed where that is possible.
pub async fn with_credentials(
    signatory: &Arc<Signatory>,
    story: Provenance,
    files: Vec<OutputFile>,
) -> (Vec<OutputFile>, Tally) {
    let sizes = files.iter().map(|file| file.bytes.len() as u64);
    let given = story.given.iter().filter_map(|given| given.file.as_ref());
    let bytes = sizes.max().unwrap_or(0) * 3 + given.map(|file| file.len() as u64).sum::<u64>();
    let megabytes = u32::try_from(8 + bytes / (1 << 20)).unwrap_or(u32::MAX);
    let mut tally = Tally::default();
    let mut done = Vec::with_capacity(files.len());
    let story = Arc::new(story);
    for file in files {
        if !can_carry(file.media_type) {
            tally.plain += 1;
            done.push(file);
            continue;
        }
        let (who, tale, copy) = (Arc::clone(signatory), Arc::clone(&story), file.clone());
        let signed = with_megabytes(megabytes, move || sign(&who, &tale, &copy)).await;
        match signed {
            Ok(bytes) => {
                tally.signed += 1;
                done.push(OutputFile {
                    bytes: bytes.into(),
                    origins: Vec::new(),
                    ..file
                });
            }
            Err(fault) => {
                tracing::error!(detail = %fault.detail, media_type = file.media_type, "a result is delivered without Content Credentials");
                tally.failed += 1;
                done.push(file);
            }
        }
    }
    (done, tally)
}

fn sign(signatory: &Signatory, story: &Provenance, file: &OutputFile) -> Result<Vec<u8>, Fault> {
    let (statement, ingredients) = statement_for(story, file);
    let signed = signatory.sign(&file.bytes, file.media_type, &statement, &ingredients);
    signed.map_err(|error| Fault::internal(error.to_string()))
}

/// What is said of a file, and what went into it.
fn statement_for<'a>(
    story: &'a Provenance,
    file: &'a OutputFile,
) -> (Statement<'a>, Vec<Ingredient<'a>>) {
    let passed_on = carries_manifest(&file.bytes);
    let own = passed_on.then(|| std::slice::from_ref(&file.bytes));
    let origins = own.unwrap_or(&file.origins);
    // Several that became one are its parts; a single one is what it was before.
    let relation = if origins.len() > 1 {
        Relation::Component
    } else {
        Relation::Parent
    };
    let mut ingredients: Vec<Ingredient<'_>> = Vec::new();
    for origin in origins {
        ingredients.push(Ingredient {
            title: DELIVERED,
            relation,
            file: carries_manifest(origin).then_some(origin),
        });
    }
    let mut may_be_parent = story.changed && origins.len() != 1;
    for given in &story.given {
        let relation = if std::mem::take(&mut may_be_parent) {
            Relation::Parent
        } else {
            Relation::Input
        };
        ingredients.push(Ingredient {
            title: &given.title,
            relation,
            file: given.file.as_deref(),
        });
    }
    let statement = Statement {
        program: ("Atelier", story.version),
        model: &story.model,
        when: &story.when,
        act: match (story.changed, passed_on, origins.is_empty()) {
            (true, _, _) => Act::Edited,
            (_, true, _) => Act::Repackaged,
            (_, _, false) => Act::Transcoded,
            _ => Act::Created,
        },
        composite: story.composite,
    };
    (statement, ingredients)
}

#[cfg(test)]
mod tests {
    use atelier_media::{Encoding, Picture, encode};

    use super::*;
    use crate::origins::parts;

    /// Where the first chunk of a PNG ends.
    const AFTER_HEAD: usize = 33;

    fn plain() -> Bytes {
        encode(&Picture::filled(4, 4, [9, 9, 9, 255]), Encoding::Png, None).into()
    }

    /// A picture with a chunk for a manifest, which is empty.
    fn telling() -> Bytes {
        let mut bytes = plain().to_vec();
        bytes.splice(AFTER_HEAD..AFTER_HEAD, *b"\0\0\0\0caBX\0\0\0\0");
        assert!(carries_manifest(&bytes));
        bytes.into()
    }

    fn story(changed: bool, given: &[&str]) -> Provenance {
        let given = given.iter().map(|title| CredentialInput {
            title: (*title).to_owned(),
            file: None,
        });
        Provenance {
            version: "0",
            model: "v7".into(),
            when: "2026-01-01T00:00:00Z".into(),
            given: given.collect(),
            changed,
            composite: false,
        }
    }

    fn file(delivered: &[Bytes]) -> OutputFile {
        OutputFile {
            media_type: "image/png",
            bytes: plain(),
            origins: parts(delivered),
            ..OutputFile::default()
        }
    }

    /// Each ingredient: its title, what it is to the file, and whether its manifest is kept.
    fn said<'a>(
        story: &'a Provenance,
        file: &'a OutputFile,
    ) -> (Act, Vec<(&'a str, Relation, bool)>) {
        let (statement, ingredients) = statement_for(story, file);
        let all = ingredients.into_iter();
        let all = all.map(|one| (one.title, one.relation, one.file.is_some()));
        (statement.act, all.collect())
    }

    #[test]
    fn the_four_pictures_of_a_grid_are_its_parts() {
        let four = [telling(), telling(), telling(), telling()];
        let (made, grid) = (story(false, &[]), file(&four));
        let (_, ingredients) = said(&made, &grid);
        assert_eq!(ingredients, [(DELIVERED, Relation::Component, true); 4]);
    }

    #[test]
    fn a_grid_was_not_one_of_its_pictures_before_even_if_only_that_one_has_a_manifest() {
        let four = [plain(), telling(), plain(), plain()];
        let (made, grid) = (story(false, &[]), file(&four));
        let (_, ingredients) = said(&made, &grid);
        let part = |kept| (DELIVERED, Relation::Component, kept);
        let expected = [part(false), part(true), part(false), part(false)];
        assert_eq!(ingredients, expected);
    }

    #[test]
    fn a_grid_of_changed_pictures_has_the_earlier_result_as_its_parent() {
        let four = [telling(), telling(), telling(), telling()];
        let (changed, grid) = (story(true, &["earlier result", "mask"]), file(&four));
        let (act, ingredients) = said(&changed, &grid);
        assert_eq!(act, Act::Edited);
        assert_eq!(
            ingredients[..4],
            [(DELIVERED, Relation::Component, true); 4]
        );
        assert_eq!(ingredients[4], ("earlier result", Relation::Parent, false));
        assert_eq!(ingredients[5], ("mask", Relation::Input, false));
    }

    #[test]
    fn a_single_picture_that_was_written_anew_has_one_parent_whatever_was_given() {
        for changed in [false, true] {
            let (tale, picture) = (story(changed, &["earlier result"]), file(&[telling()]));
            let (_, ingredients) = said(&tale, &picture);
            let expected = [
                (DELIVERED, Relation::Parent, true),
                ("earlier result", Relation::Input, false),
            ];
            assert_eq!(ingredients, expected, "{changed}");
        }
    }

    #[test]
    fn what_says_nothing_is_not_remembered() {
        assert!(parts(&[plain(), plain()]).is_empty());
        let (made, picture) = (story(false, &["image"]), file(&[plain()]));
        let expected = (Act::Created, vec![("image", Relation::Input, false)]);
        assert_eq!(said(&made, &picture), expected);
    }
}
