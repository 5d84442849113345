//! The MP4 container: one H.264 track, its index before its data so that players can start at once.

use crate::label::Label;

/// One encoded frame, each unit with its length before it.
pub(super) struct EncodedFrame {
    pub(super) bytes: Vec<u8>,
    pub(super) key: bool,
}

/// A whole track of encoded frames.
pub(super) struct EncodedTrack {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) fps: u32,
    pub(super) sequence: Vec<u8>,
    pub(super) picture: Vec<u8>,
    pub(super) samples: Vec<EncodedFrame>,
}

/// Clock ticks of one frame; the clock runs at this many times the frame rate, so every time is exact.
const TICKS: u32 = 512;
/// The matrix that leaves a picture as it is.
pub(super) const UPRIGHT: [u32; 9] = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000];

/// The bytes of an MP4 file that has this track alone.
pub(super) fn write(track: &EncodedTrack) -> Vec<u8> {
    let mut file = boxed(
        "ftyp",
        &[b"isom\0\0\x02\0".as_slice(), b"isomiso2avc1mp41"].concat(),
    );
    let index_size = movie(track, 0).len();
    let start = (file.len() + index_size + 8) as u32;
    file.extend(movie(track, start));
    let size: usize = track.samples.iter().map(|sample| sample.bytes.len()).sum();
    file.reserve(size + 8);
    file.extend_from_slice(&(size as u32 + 8).to_be_bytes());
    file.extend_from_slice(b"mdat");
    for sample in &track.samples {
        file.extend_from_slice(&sample.bytes);
    }
    file
}

/// Adds a label to a finished file, as an XMP packet after everything else.
pub fn label_video(file: &mut Vec<u8>, label: &Label) {
    let mut body = vec![
        0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf,
        0xac,
    ];
    body.extend_from_slice(label.xmp().as_bytes());
    file.extend(boxed("uuid", &body));
}

pub(super) fn boxed(name: &str, body: &[u8]) -> Vec<u8> {
    let mut out = (body.len() as u32 + 8).to_be_bytes().to_vec();
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(body);
    out
}

/// A box whose body is a row of big-endian numbers (version and flags first).
pub(super) fn table(name: &str, numbers: &[u32]) -> Vec<u8> {
    boxed(name, &words(numbers))
}

pub(super) fn words(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}

fn movie(track: &EncodedTrack, start: u32) -> Vec<u8> {
    let duration = track.samples.len() as u32 * TICKS;
    let clock = track.fps * TICKS;
    let mut header = vec![0, 0, 0, clock, duration, 0x10000, 0x0100_0000, 0, 0];
    header.extend_from_slice(&UPRIGHT);
    header.extend_from_slice(&[0, 0, 0, 0, 0, 0, 2]);
    let mut track_header = vec![3, 0, 0, 1, 0, duration, 0, 0, 0, 0];
    track_header.extend_from_slice(&UPRIGHT);
    track_header.extend_from_slice(&[track.width << 16, track.height << 16]);
    let handler = [
        &words(&[0, 0]),
        b"vide".as_slice(),
        &words(&[0, 0, 0]),
        b"video\0".as_slice(),
    ]
    .concat();
    let place = boxed(
        "dinf",
        &boxed("dref", &[words(&[0, 1]), table("url ", &[1])].concat()),
    );
    let information = boxed(
        "minf",
        &[
            table("vmhd", &[1, 0, 0]),
            place,
            boxed("stbl", &samples(track, start)),
        ]
        .concat(),
    );
    let media = boxed(
        "mdia",
        &[
            table("mdhd", &[0, 0, 0, clock, duration, 0x55c4_0000]),
            boxed("hdlr", &handler),
            information,
        ]
        .concat(),
    );
    let track_box = boxed("trak", &[table("tkhd", &track_header), media].concat());
    boxed("moov", &[table("mvhd", &header), track_box].concat())
}

fn samples(track: &EncodedTrack, start: u32) -> Vec<u8> {
    let count = track.samples.len() as u32;
    let keys: Vec<u32> = (1..=count)
        .filter(|&number| track.samples[number as usize - 1].key)
        .collect();
    let mut sync = vec![0, keys.len() as u32];
    sync.extend(keys);
    let mut sizes = vec![0, 0, count];
    sizes.extend(track.samples.iter().map(|sample| sample.bytes.len() as u32));
    [
        boxed("stsd", &[words(&[0, 1]), description(track)].concat()),
        table("stts", &[0, 1, count, TICKS]),
        table("stss", &sync),
        table("stsc", &[0, 1, 1, count, 1]),
        table("stsz", &sizes),
        table("stco", &[0, 1, start]),
    ]
    .concat()
}

fn description(track: &EncodedTrack) -> Vec<u8> {
    let mut entry = words(&[0, 1, 0, 0, 0, 0, track.width << 16 | track.height]);
    entry.extend(words(&[0x0048_0000, 0x0048_0000, 0]));
    entry.extend_from_slice(&1_u16.to_be_bytes());
    entry.extend_from_slice(&[0; 32]);
    entry.extend_from_slice(&[0, 0x18, 0xff, 0xff]);
    let (sequence, picture) = (&track.sequence, &track.picture);
    let mut sets = vec![1, sequence[1], sequence[2], sequence[3], 0xff, 0xe1];
    sets.extend_from_slice(&(sequence.len() as u16).to_be_bytes());
    sets.extend_from_slice(sequence);
    sets.push(1);
    sets.extend_from_slice(&(picture.len() as u16).to_be_bytes());
    sets.extend_from_slice(picture);
    entry.extend(boxed("avcC", &sets));
    let mut colour = b"nclx".to_vec();
    colour.extend_from_slice(&[0, 1, 0, 1, 0, 1, 0]);
    entry.extend(boxed("colr", &colour));
    boxed("avc1", &entry)
}
