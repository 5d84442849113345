//! Result files of vendors: told apart by their bytes, never by what a header or a name says.

use atelier_contract::Role;
use atelier_contract::fields::ImageHeader;
use atelier_media::{Encoding, Limits, Picture, decode, encode, video_info};
use bytes::Bytes;

use crate::backend::{Class, Fault, MadeFile};
use crate::http::VendorHttp;
use crate::prints::on_press;

/// A drawing says what it is within so many bytes.
const DRAWING_START: usize = 1024;

/// The file of a result, with its type and size as its own bytes tell them.
pub(crate) fn file(role: Role, bytes: Bytes) -> Result<MadeFile, Fault> {
    let unreadable = || {
        let start = bytes.get(..bytes.len().min(24)).unwrap_or_default();
        let detail = format!("a result file cannot be read: {}", start.escape_ascii());
        Fault::vendor(Class::Retry, detail)
    };
    let (media_type, width, height) = if let Ok(header) = ImageHeader::read(&bytes) {
        (header.media_type, header.width, header.height)
    } else if bytes.get(4..8) == Some(b"ftyp") {
        let info = video_info(&bytes).map_err(|_| unreadable())?;
        ("video/mp4", info.width, info.height)
    } else {
        let (width, height) = drawing(&bytes).ok_or_else(unreadable)?;
        ("image/svg+xml", width, height)
    };
    Ok(MadeFile {
        role,
        media_type,
        width,
        height,
        bytes,
    })
}

/// Fetches the file of a result from the address a vendor gave for it.
pub(crate) async fn fetched(
    http: &VendorHttp,
    role: Role,
    address: &str,
) -> Result<MadeFile, Fault> {
    let answer = http.download(address).await?;
    if answer.is_good() {
        return file(role, answer.bytes);
    }
    let class = match answer.status {
        403 | 404 | 410 => Class::Gone,
        _ => Class::Retry,
    };
    let detail = format!("result file: status {}", answer.status);
    Err(Fault::vendor(class, detail))
}

/// Four pictures in one, for vendors that give the four alone.
pub(crate) async fn grid(four: &[MadeFile]) -> Result<MadeFile, Fault> {
    let files: Vec<Bytes> = four.iter().map(|file| file.bytes.clone()).collect();
    let all = files.clone();
    let join = move || {
        let pictures: Result<Vec<Picture>, Fault> = files.iter().map(decoded).collect();
        let Ok(four) = <[Picture; 4]>::try_from(pictures?) else {
            return Err(Fault::ours("a grid of other than four pictures"));
        };
        let (width, height) = (four[0].width, four[0].height);
        let whole = Picture::grid_of_four(four.map(|one| one.covering(width, height)));
        Ok(png(Role::Main, &whole))
    };
    on_press(&all, join).await
}

/// The four pictures of a grid, for vendors that give the grid alone.
pub(crate) async fn quarters(grid: &MadeFile) -> Result<Vec<MadeFile>, Fault> {
    let bytes = grid.bytes.clone();
    let cut = move || {
        let whole = decoded(&bytes)?;
        let quarter = |index| png(Role::Small, &whole.quarter(index));
        Ok((0..4).map(quarter).collect())
    };
    on_press(std::slice::from_ref(&grid.bytes), cut).await
}

fn decoded(bytes: &Bytes) -> Result<Picture, Fault> {
    decode(bytes, Limits::default())
        .map_err(|error| Fault::vendor(Class::Retry, format!("a picture of the vendor: {error}")))
}

fn png(role: Role, picture: &Picture) -> MadeFile {
    MadeFile {
        role,
        media_type: "image/png",
        width: picture.width,
        height: picture.height,
        bytes: encode(picture, Encoding::Png, None).into(),
    }
}

/// The size of an SVG: its own width and height, or those of its view box.
fn drawing(bytes: &[u8]) -> Option<(u32, u32)> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(DRAWING_START)]);
    let tag = &start[start.find("<svg")?..];
    let tag = &tag[..tag.find('>').unwrap_or(tag.len())];
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
        let size = |text: &str| {
            let made = file(Role::Main, Bytes::copy_from_slice(text.as_bytes()));
            made.map(|made| (made.media_type, made.width, made.height))
                .ok()
        };
        let svg = Some(("image/svg+xml", 30, 20));
        assert_eq!(size("<svg width=\"30\" height='20px'></svg>"), svg);
        assert_eq!(
            size("<?xml version=\"1.0\"?>\n<svg viewBox=\"0 0 30 20.5\">"),
            svg
        );
        assert_eq!(size("<svg>"), None);
        assert_eq!(size("<html><body>not found</body></html>"), None);
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
        let grid = file(Role::Main, encode(&whole, Encoding::Png, None).into()).expect("a grid");
        let parts = quarters(&grid).await.expect("four");
        assert_eq!(parts.len(), 4);
        for (part, colour) in parts.iter().zip(colours) {
            assert_eq!((part.role, part.width, part.height), (Role::Small, 8, 6));
            let picture = decode(&part.bytes, Limits::default()).expect("a picture");
            assert_eq!(picture.pixel(4, 3), colour);
        }
    }
}
