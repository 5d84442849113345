//! The size of a WebM: its elements are walked down to the first picture track.

/// Elements on the way down: segment, tracks, a track, its video.
const WAY: [u64; 4] = [0x1853_8067, 0x1654_ae6b, 0xae, 0xe0];
const PIXEL_WIDTH: u64 = 0xb0;
const PIXEL_HEIGHT: u64 = 0xba;
/// No file has more elements before its tracks.
const MOST_ELEMENTS: usize = 10_000;

/// Width and height of the first track with pictures.
pub(super) fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    let (mut width, mut height) = (None, None);
    let mut rest = bytes;
    for _ in 0..MOST_ELEMENTS {
        let (id, after_id) = number(rest, true)?;
        let (length, body) = number(after_id, false)?;
        // A live recording does not say how long it is; what is inside follows all the same.
        if WAY.contains(&id) {
            rest = body;
            continue;
        }
        let content = body.get(..usize::try_from(length).ok()?)?;
        match id {
            PIXEL_WIDTH => width = whole(content),
            PIXEL_HEIGHT => height = whole(content),
            _ => {}
        }
        if let (Some(width), Some(height)) = (width, height) {
            return Some((width, height));
        }
        rest = &body[content.len()..];
    }
    None
}

/// A number that says by its first byte how long it is; identifiers keep that mark.
fn number(bytes: &[u8], keeps_mark: bool) -> Option<(u64, &[u8])> {
    let first = *bytes.first()?;
    let length = first.leading_zeros() as usize + 1;
    if length > 8 {
        return None;
    }
    let (own, rest) = bytes.split_at_checked(length)?;
    let mark = if keeps_mark { 0 } else { 0xff00_u16 >> length };
    let start = u64::from(u16::from(first) & !mark);
    let value = own[1..]
        .iter()
        .fold(start, |sum, &byte| sum << 8 | u64::from(byte));
    Some((value, rest))
}

fn whole(content: &[u8]) -> Option<u32> {
    let value = content
        .iter()
        .fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
    u32::try_from(value)
        .ok()
        .filter(|&side| (1..=16_384).contains(&side))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(id: &[u8], content: &[u8]) -> Vec<u8> {
        [id, &[0x80 | content.len() as u8], content].concat()
    }

    #[test]
    fn the_size_is_found_below_segment_tracks_and_video() {
        let video = [
            element(&[0xb0], &[0x02, 0x80]),
            element(&[0xba], &[0x01, 0x68]),
        ]
        .concat();
        let track = [element(&[0xd7], &[1]), element(&[0xe0], &video)].concat();
        let tracks = element(&[0x16, 0x54, 0xae, 0x6b], &element(&[0xae], &track));
        let head = element(&[0x1a, 0x45, 0xdf, 0xa3], &[0x42, 0x86, 0x81, 1]);
        let info = element(&[0x15, 0x49, 0xa9, 0x66], &[0xec, 0x80]);
        let inside = [info, tracks].concat();
        let known = [&head[..], &element(&[0x18, 0x53, 0x80, 0x67], &inside)].concat();
        assert_eq!(size(&known), Some((640, 360)));
        // A recording whose length was not known when it began.
        let open = [
            &head[..],
            &[0x18, 0x53, 0x80, 0x67, 0x01],
            &[0xff; 7],
            &inside,
        ]
        .concat();
        assert_eq!(size(&open), Some((640, 360)));
        for end in 0..known.len() - 1 {
            assert_eq!(size(&known[..end]), None, "{end}");
        }
    }
}
