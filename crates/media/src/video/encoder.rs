//! Frames into H.264: groups of frames that stand alone, so that each core encodes its own group.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, QpRange,
    RateControlMode, UsageType, VuiConfig,
};
use openh264::{OpenH264API, Timestamp};

use super::error::VideoError;
use super::writer::{EncodedFrame, EncodedTrack, write};
use super::yuv::{Planes, planes};
use crate::Picture;

/// Planes of one group may hold this much; it bounds memory whatever the size of the frames.
const GROUP_BYTES: usize = 32 << 20;
const SMALLEST: u32 = 16;

/// How finely frames are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fineness {
    /// As clips usually are.
    #[default]
    Usual,
    /// So that fine detail stays.
    High,
}

/// The quantiser of fine clips; the library's own is 26, and six steps halve what is lost.
const FINE: QpRange = QpRange::new(20, 20);
/// More than any of our clips takes, so that the quantiser alone decides.
const UNBOUNDED: BitRate = BitRate::from_bps(100_000_000);

/// How fast frames follow each other, and how finely they are encoded.
#[derive(Clone, Copy)]
struct Rate {
    fps: u32,
    fineness: Fineness,
}

struct Group {
    index: usize,
    frames: Vec<Planes>,
}

/// What one group became: parameter sets and one sample for each frame.
struct EncodedGroup {
    index: usize,
    sets: (Vec<u8>, Vec<u8>),
    samples: Vec<EncodedFrame>,
}

/// Encodes frames of one size to an H.264 MP4 whose index comes first; an odd last row or column is left out.
///
/// The duration is exactly the number of frames divided by `fps`. Frames are pulled one by one and at most a few
/// groups of them are held at once.
pub fn encode_video(
    frames: &mut dyn Iterator<Item = Picture>,
    fps: u32,
) -> Result<Vec<u8>, VideoError> {
    encode_video_as(frames, fps, Fineness::Usual)
}

/// The same, as finely as is said.
pub fn encode_video_as(
    frames: &mut dyn Iterator<Item = Picture>,
    fps: u32,
    fineness: Fineness,
) -> Result<Vec<u8>, VideoError> {
    if !(1..=240).contains(&fps) {
        return Err(VideoError::Rate(fps));
    }
    let mut frames = frames.peekable();
    let first = frames.peek().ok_or(VideoError::NoFrames)?;
    let (width, height) = (first.width, first.height);
    let (short, long) = (width.min(height), width.max(height));
    if !(SMALLEST..=2160).contains(&short) || long > 3840 {
        return Err(VideoError::Size { width, height });
    }
    let frame_bytes = width as usize * height as usize * 3 / 2;
    let length = (GROUP_BYTES / frame_bytes).clamp(8, (fps as usize * 2).max(8));
    let mut groups = encode_groups(&mut frames, (width, height), length, Rate { fps, fineness })?;
    groups.sort_by_key(|group| group.index);
    let sets = groups[0].sets.clone();
    if groups.iter().any(|group| group.sets != sets) {
        return Err(VideoError::Codec(
            "groups differ in their parameters".into(),
        ));
    }
    let samples = groups.into_iter().flat_map(|group| group.samples).collect();
    let (width, height) = (width & !1, height & !1);
    Ok(write(&EncodedTrack {
        width,
        height,
        fps,
        sequence: sets.0,
        picture: sets.1,
        samples,
    }))
}

/// Draws on this thread while workers encode the groups that are ready.
fn encode_groups(
    frames: &mut dyn Iterator<Item = Picture>,
    size: (u32, u32),
    length: usize,
    rate: Rate,
) -> Result<Vec<EncodedGroup>, VideoError> {
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .clamp(1, 3);
    let (send, receive) = sync_channel::<Group>(1);
    let receive = Mutex::new(receive);
    thread::scope(|scope| {
        let receive = &receive;
        let running: Vec<_> = (0..workers)
            .map(|_| scope.spawn(move || work(receive, rate)))
            .collect();
        let drawn = draw(frames, size, length, &|group| send.send(group).is_ok());
        drop(send);
        let mut done = Vec::new();
        for worker in running {
            let encoded = worker
                .join()
                .map_err(|_| VideoError::Codec("it panicked".into()))?;
            done.extend(encoded?);
        }
        drawn.map(|()| done)
    })
}

fn draw(
    frames: &mut dyn Iterator<Item = Picture>,
    (width, height): (u32, u32),
    length: usize,
    send: &dyn Fn(Group) -> bool,
) -> Result<(), VideoError> {
    let mut index = 0;
    let mut group = Vec::with_capacity(length);
    for frame in frames {
        if (frame.width, frame.height) != (width, height) {
            return Err(VideoError::Size {
                width: frame.width,
                height: frame.height,
            });
        }
        group.push(planes(&frame));
        if group.len() == length {
            let full = Group {
                index,
                frames: std::mem::take(&mut group),
            };
            index += 1;
            if !send(full) {
                return Ok(());
            }
        }
    }
    if !group.is_empty() {
        send(Group {
            index,
            frames: group,
        });
    }
    Ok(())
}

/// Encodes groups until there are no more; after an error it only drains, so that the drawing side never waits.
fn work(groups: &Mutex<Receiver<Group>>, rate: Rate) -> Result<Vec<EncodedGroup>, VideoError> {
    let mut done = Ok(Vec::new());
    loop {
        let next = groups.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(group) = next else { return done };
        if let Ok(list) = &mut done {
            match encode_group(&group, rate) {
                Ok(encoded) => list.push(encoded),
                Err(error) => done = Err(error),
            }
        }
    }
}

/// A fixed quantiser: every group looks alike, whichever core made it, and no frame is ever dropped.
fn config(rate: Rate) -> EncoderConfig {
    let config = EncoderConfig::new();
    let config = match rate.fineness {
        Fineness::Usual => config.rate_control_mode(RateControlMode::Off),
        // Where nothing is controlled the library takes its own quantiser; in this mode it goes down to the range at once.
        Fineness::High => config
            .rate_control_mode(RateControlMode::Bufferbased)
            .bitrate(UNBOUNDED)
            .qp(FINE),
    };
    config
        .usage_type(UsageType::CameraVideoRealTime)
        .skip_frames(false)
        .max_frame_rate(FrameRate::from_hz(rate.fps as f32))
        .complexity(Complexity::Low)
        .scene_change_detect(false)
        .adaptive_quantization(false)
        .background_detection(false)
        .intra_frame_period(IntraFramePeriod::from_num_frames(0))
        .num_threads(1)
        .vui(VuiConfig::bt709())
}

fn encode_group(group: &Group, rate: Rate) -> Result<EncodedGroup, VideoError> {
    let codec = |error: openh264::Error| VideoError::Codec(error.to_string());
    let mut encoder =
        Encoder::with_api_config(OpenH264API::from_source(), config(rate)).map_err(codec)?;
    let mut sets = (Vec::new(), Vec::new());
    let mut samples = Vec::with_capacity(group.frames.len());
    for (number, frame) in group.frames.iter().enumerate() {
        let time = Timestamp::from_millis(number as u64 * 1000 / u64::from(rate.fps));
        let stream = encoder.encode_at(frame, time).map_err(codec)?.to_vec();
        let mut sample = EncodedFrame {
            bytes: Vec::with_capacity(stream.len() + 8),
            key: false,
        };
        for unit in units(&stream) {
            match unit[0] & 31 {
                7 => sets.0 = unit.to_vec(),
                8 => sets.1 = unit.to_vec(),
                kind => {
                    sample.key |= kind == 5;
                    sample
                        .bytes
                        .extend_from_slice(&(unit.len() as u32).to_be_bytes());
                    sample.bytes.extend_from_slice(unit);
                }
            }
        }
        if sample.bytes.is_empty() {
            return Err(VideoError::Codec("a frame was skipped".into()));
        }
        samples.push(sample);
    }
    Ok(EncodedGroup {
        index: group.index,
        sets,
        samples,
    })
}

/// The parts of a stream between its start codes, empty ones left out.
fn units(stream: &[u8]) -> Vec<&[u8]> {
    let starts: Vec<usize> = (2..stream.len())
        .filter(|&at| stream[at - 2..=at] == [0, 0, 1])
        .collect();
    starts
        .iter()
        .enumerate()
        .filter_map(|(index, &start)| {
            let end = starts.get(index + 1).map_or(stream.len(), |&next| next - 2);
            let mut unit = &stream[start + 1..end];
            while let [rest @ .., 0] = unit {
                unit = rest;
            }
            (!unit.is_empty()).then_some(unit)
        })
        .collect()
}
