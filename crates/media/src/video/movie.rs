//! An MP4 taken apart into the samples of its tracks, and put together again from some of them. Every length and place is
//! held against the bytes; what a sample means is left to whoever decodes it.

use super::error::VideoError;
use super::reader::{boxes, damaged, inside, word};
use super::writer::{UPRIGHT, boxed, table, words};

/// No clip has more samples than this in one track: ten minutes of sound at 48 kHz have thirty thousand.
const MOST_SAMPLES: usize = 200_000;
/// No sensible clip has more tracks.
const MOST_TRACKS: usize = 8;

/// A clip taken apart into its tracks.
pub(super) struct Movie<'a> {
    pub(super) tracks: Vec<Track<'a>>,
}

/// One track: what it is, in its own boxes, and its samples.
pub(super) struct Track<'a> {
    pub(super) is_picture: bool,
    /// `vide`, `soun` and so on.
    handler: [u8; 4],
    pub(super) clock: u32,
    /// The sample descriptions, whole.
    pub(super) descriptions: Vec<u8>,
    /// The header of the media: `vmhd`, `smhd`, whole.
    media_header: Vec<u8>,
    /// Volume, layer, matrix and size, as the track header has them.
    pub(super) look: Vec<u8>,
    /// The part of the media that is shown first, in its clock; what comes before is there for decoding only.
    pub(super) starts: u64,
    pub(super) samples: Vec<Sample<'a>>,
}

#[derive(Clone)]
pub(super) struct Sample<'a> {
    pub(super) bytes: std::borrow::Cow<'a, [u8]>,
    pub(super) ticks: u32,
    /// How much later it is shown than decoded.
    pub(super) shift: i32,
    pub(super) key: bool,
}

impl<'a> Movie<'a> {
    /// Takes a file apart.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, VideoError> {
        let movie = inside(bytes, "moov").ok_or_else(|| damaged("no index"))?;
        if inside(movie, "mvex").is_some() {
            return Err(damaged("its samples lie in fragments"));
        }
        let tracks = boxes(movie).filter(|(name, _)| name == b"trak");
        let tracks = tracks.take(MOST_TRACKS).filter_map(|(_, body)| {
            let handler: [u8; 4] = inside(inside(body, "mdia")?, "hdlr")?
                .get(8..12)?
                .try_into()
                .ok()?;
            matches!(&handler, b"vide" | b"soun").then_some((handler, body))
        });
        let tracks = tracks.map(|(handler, body)| {
            Track::read(bytes, body, handler).ok_or_else(|| damaged("a track without its tables"))
        });
        let tracks: Vec<Track<'a>> = tracks.collect::<Result<_, _>>()?;
        let pictures = tracks.iter().filter(|track| track.is_picture).count();
        if pictures != 1 {
            return Err(damaged("not one picture track"));
        }
        Ok(Self { tracks })
    }

    /// The one track that has pictures.
    pub(super) fn pictures(&self) -> Result<&Track<'a>, VideoError> {
        let track = self.tracks.iter().find(|track| track.is_picture);
        track.ok_or_else(|| damaged("no picture track"))
    }

    /// Leaves out what begins after so many seconds.
    pub(super) fn cut(&mut self, seconds: f64) {
        for track in &mut self.tracks {
            let end = (seconds * f64::from(track.clock)) as i64 + track.starts as i64;
            let mut at = 0_i64;
            let mut needed = 0;
            for (index, sample) in track.samples.iter().enumerate() {
                if at + i64::from(sample.shift) < end {
                    needed = index + 1;
                }
                at += i64::from(sample.ticks);
            }
            track.samples.truncate(needed.max(1));
        }
    }

    /// The file again, its index first; nothing of it is shown for longer than so many seconds.
    pub(super) fn write(&self, most: f64) -> Vec<u8> {
        let mut file = boxed(
            "ftyp",
            &[b"isom\0\0\x02\0".as_slice(), b"isomiso2mp41"].concat(),
        );
        let size = self.index(most, 0).len();
        let start = (file.len() + size + 8) as u32;
        file.extend(self.index(most, start));
        let all = self.tracks.iter().flat_map(|track| &track.samples);
        let size: usize = all.clone().map(|sample| sample.bytes.len()).sum();
        file.extend((size as u32 + 8).to_be_bytes());
        file.extend_from_slice(b"mdat");
        file.reserve(size);
        for sample in all {
            file.extend_from_slice(&sample.bytes);
        }
        file
    }

    fn index(&self, most: f64, start: u32) -> Vec<u8> {
        let shown = self.tracks.iter().map(|track| track.shown(most));
        let longest = shown.fold(0, u32::max);
        let mut header = vec![0, 0, 0, CLOCK, longest, 0x10000, 0x0100_0000, 0, 0];
        header.extend_from_slice(&UPRIGHT);
        header.extend_from_slice(&[0, 0, 0, 0, 0, 0, self.tracks.len() as u32 + 1]);
        let mut body = table("mvhd", &header);
        let mut at = start;
        for (index, track) in self.tracks.iter().enumerate() {
            body.extend(track.boxes(index as u32 + 1, most, at));
            at += track
                .samples
                .iter()
                .map(|one| one.bytes.len() as u32)
                .sum::<u32>();
        }
        boxed("moov", &body)
    }
}

/// Ticks of a second for the whole file.
const CLOCK: u32 = 90_000;

impl<'a> Track<'a> {
    fn read(file: &'a [u8], track: &'a [u8], handler: [u8; 4]) -> Option<Self> {
        let media = inside(track, "mdia")?;
        let header = inside(media, "mdhd")?;
        let clock = word(header, if *header.first()? == 1 { 20 } else { 12 })?;
        (clock > 0).then_some(())?;
        let information = inside(media, "minf")?;
        let tables = inside(information, "stbl")?;
        let head = inside(track, "tkhd")?;
        let look = head.get(if *head.first()? == 1 { 44 } else { 32 }..)?;
        let name = if handler == *b"vide" { "vmhd" } else { "smhd" };
        Some(Self {
            is_picture: handler == *b"vide",
            handler,
            clock,
            descriptions: boxed("stsd", inside(tables, "stsd")?),
            media_header: boxed(name, inside(information, name)?),
            look: look.get(..52)?.to_vec(),
            starts: starts(track).unwrap_or(0),
            samples: samples(file, tables)?,
        })
    }

    /// The same with its samples copied, so that the file can go.
    pub(super) fn into_owned(self) -> Track<'static> {
        let owned = |sample: Sample<'_>| Sample {
            bytes: sample.bytes.into_owned().into(),
            ticks: sample.ticks,
            shift: sample.shift,
            key: sample.key,
        };
        Track {
            is_picture: self.is_picture,
            handler: self.handler,
            clock: self.clock,
            descriptions: self.descriptions,
            media_header: self.media_header,
            look: self.look,
            starts: self.starts,
            samples: self.samples.into_iter().map(owned).collect(),
        }
    }

    /// How long it is, in seconds: until the sample that is shown last has been shown.
    pub(super) fn seconds(&self) -> f64 {
        let (mut at, mut end) = (0_i64, 0_i64);
        for sample in &self.samples {
            let ticks = i64::from(sample.ticks);
            end = end.max(at + i64::from(sample.shift) + ticks);
            at += ticks;
        }
        (end - self.starts as i64).max(0) as f64 / f64::from(self.clock)
    }

    /// How long it is shown, in the clock of the file.
    fn shown(&self, most: f64) -> u32 {
        (self.seconds().min(most) * f64::from(CLOCK)).round() as u32
    }

    fn boxes(&self, number: u32, most: f64, start: u32) -> Vec<u8> {
        let shown = self.shown(most);
        let mut head = words(&[3, 0, 0, number, 0, shown, 0, 0]);
        head.extend_from_slice(&self.look);
        let edit = table("elst", &[0, 1, shown, self.starts as u32, 0x10000]);
        let ticks: u64 = self.samples.iter().map(|one| u64::from(one.ticks)).sum();
        let kind: &[u8] = if self.is_picture {
            b"video\0"
        } else {
            b"sound\0"
        };
        let handler = [
            &words(&[0, 0]),
            self.handler.as_slice(),
            &words(&[0, 0, 0]),
            kind,
        ]
        .concat();
        let place = boxed(
            "dinf",
            &boxed("dref", &[words(&[0, 1]), table("url ", &[1])].concat()),
        );
        let information = [
            self.media_header.clone(),
            place,
            boxed("stbl", &self.tables(start)),
        ];
        let media = [
            table("mdhd", &[0, 0, 0, self.clock, ticks as u32, 0x55c4_0000]),
            boxed("hdlr", &handler),
            boxed("minf", &information.concat()),
        ];
        let whole = [
            boxed("tkhd", &head),
            boxed("edts", &edit),
            boxed("mdia", &media.concat()),
        ];
        boxed("trak", &whole.concat())
    }

    fn tables(&self, start: u32) -> Vec<u8> {
        let count = self.samples.len() as u32;
        let mut sizes = vec![0, 0, count];
        sizes.extend(self.samples.iter().map(|one| one.bytes.len() as u32));
        let times = runs(self.samples.iter().map(|one| one.ticks));
        let mut all = self.descriptions.clone();
        all.extend(table("stts", &times));
        if self.samples.iter().any(|one| one.shift != 0) {
            let mut shifts = runs(self.samples.iter().map(|one| one.shift as u32));
            // The first version has signed numbers.
            shifts[0] = 0x0100_0000;
            all.extend(table("ctts", &shifts));
        }
        if self.samples.iter().any(|one| !one.key) {
            let keys = (1_u32..).zip(&self.samples).filter(|(_, one)| one.key);
            let keys: Vec<u32> = keys.map(|(number, _)| number).collect();
            let mut sync = vec![0, keys.len() as u32];
            sync.extend(keys);
            all.extend(table("stss", &sync));
        }
        all.extend(table("stsc", &[0, 1, 1, count, 1]));
        all.extend(table("stsz", &sizes));
        all.extend(table("stco", &[0, 1, start]));
        all
    }
}

/// Equal neighbours as pairs of how many and what, after version and number of pairs.
fn runs(values: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for value in values {
        match pairs.last_mut() {
            Some((count, last)) if *last == value => *count += 1,
            _ => pairs.push((1, value)),
        }
    }
    let mut table = vec![0, pairs.len() as u32];
    table.extend(pairs.into_iter().flat_map(|(count, value)| [count, value]));
    table
}

/// Where the first edit that shows something begins.
fn starts(track: &[u8]) -> Option<u64> {
    let list = inside(inside(track, "edts")?, "elst")?;
    let (long, count) = (*list.first()? == 1, word(list, 4)?);
    (0..count.min(8) as usize).find_map(|index| {
        if long {
            let at = 8 + index * 20 + 8;
            let time = i64::from_be_bytes(list.get(at..at + 8)?.try_into().ok()?);
            u64::try_from(time).ok()
        } else {
            let time = word(list, 8 + index * 12 + 4)? as i32;
            u64::try_from(time).ok()
        }
    })
}

fn samples<'a>(file: &'a [u8], tables: &'a [u8]) -> Option<Vec<Sample<'a>>> {
    let sizes = inside(tables, "stsz")?;
    let (same, count) = (word(sizes, 4)? as usize, word(sizes, 8)? as usize);
    (1..=MOST_SAMPLES).contains(&count).then_some(())?;
    let size = |index: usize| match same {
        0 => word(sizes, 12 + index * 4).map(|size| size as usize),
        same => Some(same),
    };
    let chunks = chunk_places(tables)?;
    let of_chunk = inside(tables, "stsc")?;
    let runs = word(of_chunk, 4)? as usize;
    let run = |index: usize| {
        Some((
            word(of_chunk, 8 + index * 12)?,
            word(of_chunk, 12 + index * 12)?,
        ))
    };
    let times = expanded(inside(tables, "stts")?, count)?;
    let shifts = match inside(tables, "ctts") {
        Some(table) => expanded(table, count)?,
        None => vec![0; count],
    };
    let keys: Option<Vec<u32>> = inside(tables, "stss").map(|table| {
        let numbers = table.get(8..).unwrap_or_default().as_chunks::<4>().0;
        numbers
            .iter()
            .map(|&number| u32::from_be_bytes(number))
            .collect()
    });
    let mut all = Vec::with_capacity(count);
    let mut at_run = 0;
    for (chunk, place) in (1_u32..).zip(chunks) {
        while at_run + 1 < runs && run(at_run + 1)?.0 <= chunk {
            at_run += 1;
        }
        let mut at = place;
        for _ in 0..run(at_run)?.1 {
            let index = all.len();
            if index == count {
                break;
            }
            let end = at.checked_add(size(index)?)?;
            let key = |keys: &Vec<u32>| keys.binary_search(&(index as u32 + 1)).is_ok();
            all.push(Sample {
                bytes: file.get(at..end)?.into(),
                ticks: times[index],
                shift: shifts[index] as i32,
                key: keys.as_ref().is_none_or(key),
            });
            at = end;
        }
    }
    (all.len() == count).then_some(all)
}

fn chunk_places(tables: &[u8]) -> Option<Vec<usize>> {
    if let Some(table) = inside(tables, "stco") {
        let numbers = table.get(8..)?.as_chunks::<4>().0;
        return Some(
            numbers
                .iter()
                .map(|&one| u32::from_be_bytes(one) as usize)
                .collect(),
        );
    }
    let numbers = inside(tables, "co64")?.get(8..)?.as_chunks::<8>().0;
    let place = |one: &[u8; 8]| usize::try_from(u64::from_be_bytes(*one)).ok();
    numbers.iter().map(place).collect()
}

/// Pairs of how many and what, as one value for each sample.
fn expanded(table: &[u8], count: usize) -> Option<Vec<u32>> {
    let mut all = Vec::with_capacity(count);
    for index in 0..word(table, 4)? as usize {
        let (times, value) = (word(table, 8 + index * 8)?, word(table, 12 + index * 8)?);
        let left = count - all.len();
        all.extend(std::iter::repeat_n(value, (times as usize).min(left)));
        if all.len() == count {
            break;
        }
    }
    (all.len() == count).then_some(all)
}
