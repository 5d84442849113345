//! Result files of vendors: told apart by their bytes, never by what a header or a name says.

use atelier_contract::FileRole;
use atelier_contract::fields::ImageHeader;
use atelier_media::{Encoding, ImageError, Picture, decode, encode, header};
use bytes::Bytes;

use crate::backend::{Fault, OutputFile, Work};
use crate::images::{VENDOR_LIMITS, on_threads};
use crate::origins::manifest_origins;
use crate::videos::{kind, size_or_asked};

/// A drawing says what it is within so many bytes.
const DRAWING_START: usize = 1024;

/// Whether bytes begin like a picture, a clip or a drawing; what they claim to be may still be of no use.
pub(crate) fn looks_made(bytes: &[u8]) -> bool {
    !matches!(header(bytes), Err(ImageError::UnknownFormat))
        || kind(bytes).is_some()
        || svg(bytes).is_some()
}

/// The file of a result for a piece of work, with its type and size as its own bytes tell them. A clip whose size
/// they do not tell has the size that was asked for.
pub(crate) fn file(work: &Work, role: FileRole, bytes: Bytes) -> Result<OutputFile, Fault> {
    let (media_type, width, height) = if let Some(media_type) = kind(&bytes) {
        let (width, height) = size_or_asked(work, &bytes);
        (media_type, width, height)
    } else if svg(&bytes).is_some() {
        let (width, height) = drawing(&bytes)
            .ok_or_else(|| Fault::useless("a drawing that does not tell its size"))?;
        ("image/svg+xml", width, height)
    } else {
        let header = ImageHeader::read(&bytes);
        let header =
            header.map_err(|why| Fault::useless(format!("a picture of the vendor {why}")))?;
        (header.media_type, header.width, header.height)
    };
    Ok(OutputFile {
        role,
        media_type,
        width,
        height,
        bytes,
        ..OutputFile::default()
    })
}

/// Four pictures in one, for vendors that give the four alone.
pub(crate) async fn grid(four: &[OutputFile]) -> Result<OutputFile, Fault> {
    let files: Vec<Bytes> = four.iter().map(|file| file.bytes.clone()).collect();
    let all = files.clone();
    let join = move || {
        let pictures: Result<Vec<Picture>, Fault> = files.iter().map(decoded).collect();
        let Ok(four) = <[Picture; 4]>::try_from(pictures?) else {
            return Err(Fault::ours("a grid of other than four pictures"));
        };
        let (width, height) = (four[0].width, four[0].height);
        let whole = Picture::grid_of_four(four.map(|one| one.covering(width, height)));
        Ok(OutputFile {
            origins: manifest_origins(&files),
            ..png(FileRole::Main, &whole)
        })
    };
    on_threads(&all, join).await
}

/// The four pictures of a grid, for vendors that give the grid alone.
pub(crate) async fn quarters(grid: &OutputFile) -> Result<Vec<OutputFile>, Fault> {
    let bytes = grid.bytes.clone();
    let cut = move || {
        let whole = decoded(&bytes)?;
        let quarter = |index| OutputFile {
            origins: manifest_origins([&bytes]),
            ..png(FileRole::Small, &whole.quarter(index))
        };
        Ok((0..4).map(quarter).collect())
    };
    on_threads(std::slice::from_ref(&grid.bytes), cut).await
}

fn decoded(bytes: &Bytes) -> Result<Picture, Fault> {
    decode(bytes, VENDOR_LIMITS)
        .map_err(|error| Fault::useless(format!("a picture of the vendor: {error}")))
}

fn png(role: FileRole, picture: &Picture) -> OutputFile {
    OutputFile {
        role,
        media_type: "image/png",
        width: picture.width,
        height: picture.height,
        bytes: encode(picture, Encoding::Png, None).into(),
        ..OutputFile::default()
    }
}

/// The first tag of an SVG.
fn svg(bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(DRAWING_START)]);
    let (before, tag) = start.split_at(start.find("<svg")?);
    // A page may show drawings of its own.
    if before.to_ascii_lowercase().contains("html") {
        return None;
    }
    Some(tag[..tag.find('>').unwrap_or(tag.len())].to_owned())
}

/// The size of an SVG: its own width and height, or those of its view box.
fn drawing(bytes: &[u8]) -> Option<(u32, u32)> {
    let tag = svg(bytes)?;
    let attribute = |name: &str| {
        let rest = &tag[tag.find(&format!(" {name}="))? + name.len() + 2..];
        let quote = rest.chars().next()?;
        rest[1..].split(quote).next()
    };
    let pixels = |text: &str| {
        let number = text.trim().trim_end_matches("px").parse::<f64>().ok()?;
        (number >= 1.0).then_some(number as u32)
    };
    if let (Some(width), Some(height)) = (attribute("width"), attribute("height"))
        && let (Some(width), Some(height)) = (pixels(width), pixels(height))
    {
        return Some((width, height));
    }
    let mut numbers = attribute("viewBox")?
        .split([' ', ','])
        .filter(|text| !text.is_empty());
    let (width, height) = (numbers.nth(2)?, numbers.next()?);
    Some((pixels(width)?, pixels(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_the_size_it_says_or_that_of_its_view_box() {
        let size = |text: &str| drawing(text.as_bytes());
        let svg = Some((30, 20));
        assert_eq!(size("<svg width=\"30\" height='20px'></svg>"), svg);
        assert_eq!(
            size("<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 30 20.5\">"),
            svg
        );
        assert_eq!(size("<svg>"), None);
        assert_eq!(size("<html><body>not found</body></html>"), None);
        let page = "<!DOCTYPE html><svg width=\"30\" height=\"20\"></svg>";
        assert_eq!(size(page), None, "a page with a drawing in it");
        assert!(!looks_made(page.as_bytes()));
    }

    #[tokio::test]
    async fn a_grid_is_cut_into_its_four_pictures_in_reading_order() {
        let colours = [
            [255, 0, 0, 255],
            [0, 255, 0, 255],
            [0, 0, 255, 255],
            [9, 9, 9, 255],
        ];
        let four = colours.map(|colour| Picture::filled(8, 6, colour));
        let whole = Picture::grid_of_four(four);
        let grid = png(FileRole::Main, &whole);
        let parts = quarters(&grid).await.expect("four");
        assert_eq!(parts.len(), 4);
        for (part, colour) in parts.iter().zip(colours) {
            assert_eq!(
                (part.role, part.width, part.height),
                (FileRole::Small, 8, 6)
            );
            let picture = decode(&part.bytes, VENDOR_LIMITS).expect("a picture");
            assert_eq!(picture.pixel(4, 3), colour);
        }
    }
}
