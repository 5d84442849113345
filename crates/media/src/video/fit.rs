//! Clips of others made as long and as large as was asked: cut without touching their frames, or drawn anew in another
//! size with their sound beside them.

use openh264::OpenH264API;
use openh264::decoder::{DecodeOptions, Decoder, DecoderConfig, Flush};

use super::encoder::encode_video;
use super::error::VideoError;
use super::movie::{Movie, Track};
use super::reader::{damaged, inside, short, word};
use super::still::{append_units, parameter_sets};
use super::yuv::picture;
use crate::Picture;

/// Times are compared to this many seconds: less than a frame.
const SLACK: f64 = 0.02;
/// No frame that is larger is decoded.
const LONGEST_SIDE: u16 = 4096;

/// A clip that is no longer than so many seconds and, where a size is given, has it. `None` when it is so already.
pub fn fit_video(
    bytes: &[u8],
    seconds: Option<f64>,
    size: Option<(u32, u32)>,
) -> Result<Option<Vec<u8>>, VideoError> {
    let mut movie = Movie::read(bytes)?;
    let length = movie.pictures()?.seconds();
    let most = seconds.unwrap_or(f64::MAX);
    let too_long = length > most + SLACK;
    if !too_long && size.is_none() {
        return Ok(None);
    }
    if too_long {
        movie.cut(most);
    }
    if let Some(size) = size {
        let drawn = drawn(movie.pictures()?, most, size)?;
        let mut tracks: Vec<Track<'_>> = Vec::new();
        for track in Movie::read(&drawn)?.tracks {
            tracks.push(track.into_owned());
        }
        tracks.extend(movie.tracks.into_iter().filter(|track| !track.is_picture));
        return Ok(Some(Movie { tracks }.write(most)));
    }
    Ok(Some(movie.write(most)))
}

/// The frames of a track in another size, cut where their shape differs, as a clip of its own.
fn drawn(track: &Track<'_>, most: f64, (width, height): (u32, u32)) -> Result<Vec<u8>, VideoError> {
    let length = track.seconds().min(most);
    let frames = track.samples.len() as f64;
    let fps = (frames / track.seconds()).round().clamp(1.0, 60.0);
    let wanted = (length * fps).round().max(1.0) as usize;
    let mut frames = Frames::open(track)?;
    let mut failed = None;
    let resized = std::iter::from_fn(|| match frames.next() {
        Ok(frame) => Some(frame?.covering(width, height)),
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    let clip = encode_video(&mut resized.take(wanted), fps as u32);
    match failed {
        Some(error) => Err(error),
        None => clip,
    }
}

/// The frames of a track, in the order in which they are shown.
struct Frames<'a> {
    decoder: Decoder,
    sets: Option<Vec<u8>>,
    samples: std::slice::Iter<'a, super::movie::Sample<'a>>,
    /// What the decoder held back until there was no more to come.
    rest: Option<std::vec::IntoIter<Picture>>,
}

impl<'a> Frames<'a> {
    fn open(track: &'a Track<'_>) -> Result<Self, VideoError> {
        let sets = Self::sets(track).ok_or_else(|| damaged("not H.264 of a sensible size"))?;
        let config = DecoderConfig::new().flush_after_decode(Flush::NoFlush);
        let decoder =
            Decoder::with_api_config(OpenH264API::from_source(), config).map_err(codec)?;
        Ok(Self {
            decoder,
            sets: Some(sets),
            samples: track.samples.iter(),
            rest: None,
        })
    }

    fn sets(track: &Track<'_>) -> Option<Vec<u8>> {
        let entry = track.descriptions.get(16..)?;
        let (name, size) = (entry.get(4..8)?, word(entry, 0)? as usize);
        (name == b"avc1").then_some(())?;
        let entry = entry.get(8..size)?;
        let side = short(entry, 24)?.max(short(entry, 26)?);
        (side <= LONGEST_SIDE).then_some(())?;
        parameter_sets(inside(entry.get(78..)?, "avcC")?)
    }

    fn next(&mut self) -> Result<Option<Picture>, VideoError> {
        if let Some(rest) = &mut self.rest {
            return Ok(rest.next());
        }
        for sample in self.samples.by_ref() {
            let mut stream = self.sets.take().unwrap_or_default();
            append_units(&mut stream, &sample.bytes)
                .ok_or_else(|| damaged("a frame ends early"))?;
            let options = DecodeOptions::new().flush_after_decode(Flush::NoFlush);
            let decoded = self.decoder.decode_with_options(&stream, options);
            if let Some(planes) = decoded.map_err(codec)? {
                return Ok(Some(picture(&planes)));
            }
        }
        let rest = self.decoder.flush_remaining().map_err(codec)?;
        let rest: Vec<Picture> = rest.iter().map(picture).collect();
        let mut rest = rest.into_iter();
        let next = rest.next();
        self.rest = Some(rest);
        Ok(next)
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "as whoever turns one error into another hands it over"
)]
fn codec(error: openh264::Error) -> VideoError {
    VideoError::Codec(error.to_string())
}
