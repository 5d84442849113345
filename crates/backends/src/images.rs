//! A vendor's pictures made into results: decoded, cut to the asked size, four in one where that is wanted, and
//! written anew, so that nothing a vendor hid in its files goes on to callers. One that is what was asked for already
//! keeps its pixels as they are coded, and only those.

use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use atelier_contract::FileRole;
use atelier_contract::brief::{Brief, Format};
use atelier_fairness::threads::{CpuTask, Threads};
use atelier_media::{
    Encoding, Header, Label, Limits, Mask, Picture, cut_out, decode, encode, header, relabelled,
};
use bytes::Bytes;
use serde_json::Value;

use crate::backend::{Fault, OutputFile, Work, WorkOutput};
use crate::canvas::Canvas;
use crate::fit::{self, Size};
use crate::origins::manifest_origins;

/// What the metadata of a result says it was made by.
const ENGINE: &str = "external";
/// Megabytes that pictures of vendors may take together while they are worked on.
const MEGABYTES: u32 = 1024;
/// Bytes that a picture takes for each pixel: decoded, cut, encoded.
const BYTES_A_PIXEL: u64 = 16;
/// Results of at most so many bytes that are passed on as they are need no thread of their own.
const LIGHT_BYTES: usize = 256 * 1024;
/// A lossy file that is asked for at less than this quality is written anew, to be smaller than the vendor's.
const SMALLER_BELOW: u8 = 80;
/// How soft the border between what is kept and what is new is.
const SOFT_PIXELS: u32 = 4;

/// What a vendor's picture may have: more than a result has, because an upscale is brought to its size afterwards.
pub(crate) const VENDOR_LIMITS: Limits = Limits {
    max_pixels: 64 << 20,
    max_side: 16_384,
};

/// Results of vendors are worked on in the order in which they come, whosever they are.
static EVERYBODY: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));

/// All vendors share the machine's processors and one budget of memory.
static THREADS: LazyLock<Threads> = LazyLock::new(|| {
    let threads = available_parallelism().map_or(2, usize::from);
    Threads::new(threads, MEGABYTES)
});

/// Does CPU work on the shared threads, with the memory that pictures of these bytes take.
pub(crate) fn on_threads<T, W>(
    pictures: &[Bytes],
    work: W,
) -> impl Future<Output = Result<T, Fault>> + Send + use<T, W>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, Fault> + Send + 'static,
{
    with_megabytes(megabytes_of(pictures), work)
}

/// The same for somebody, whose work delays nobody else's.
pub(crate) fn on_threads_of<T, W>(
    whose: &Arc<str>,
    pictures: &[Bytes],
    work: W,
) -> impl Future<Output = Result<T, Fault>> + Send + use<T, W>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, Fault> + Send + 'static,
{
    run(Arc::clone(whose), megabytes_of(pictures), work)
}

/// What pictures take while they are worked on.
fn megabytes_of(pictures: &[Bytes]) -> u32 {
    let sizes = pictures.iter().filter_map(|bytes| header(bytes).ok());
    let pixels = sizes.map(|header| area((header.width, header.height)));
    megabytes(pixels.sum())
}

fn megabytes(pixels: u64) -> u32 {
    let megabytes = 8 + pixels.saturating_mul(BYTES_A_PIXEL) / (1 << 20);
    u32::try_from(megabytes).unwrap_or(u32::MAX)
}

/// Does CPU work on the shared threads, with the memory that so many pixels take.
fn with_memory<T, W>(
    pixels: u64,
    work: W,
) -> impl Future<Output = Result<T, Fault>> + Send + use<T, W>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, Fault> + Send + 'static,
{
    with_megabytes(megabytes(pixels), work)
}

/// Does CPU work on the shared threads, with so much memory.
pub(crate) async fn with_megabytes<T, W>(megabytes: u32, work: W) -> Result<T, Fault>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, Fault> + Send + 'static,
{
    run(Arc::clone(&EVERYBODY), megabytes, work).await
}

async fn run<T, W>(whose: Arc<str>, megabytes: u32, work: W) -> Result<T, Fault>
where
    T: Send + 'static,
    W: FnOnce() -> Result<T, Fault> + Send + 'static,
{
    let piece = CpuTask {
        whose: &whose,
        long: false,
        megabytes,
        thread: None,
    };
    THREADS.run(piece, || (), work).await?
}

fn area((width, height): Size) -> u64 {
    u64::from(width) * u64::from(height)
}

/// How pictures are to be finished.
#[derive(Clone, Default)]
pub(crate) struct FinishOptions {
    /// The exact size of each; `None` keeps the vendor's.
    pub(crate) size: Option<Size>,
    /// The seed, where the vendor told it.
    pub(crate) seed: Option<u64>,
    /// Whether callers of this operation read the seed.
    pub(crate) tell_seed: bool,
    /// The canvas the vendor worked on, when its results have to be taken out of one.
    pub(crate) canvas: Option<Canvas>,
    /// The background is left out here, because the vendor cannot.
    pub(crate) cut_out: bool,
    /// Pictures with the part that may change, one for each result or one for all; the rest stays as it was.
    pub(crate) keep: Vec<(Picture, Mask)>,
    /// What follow-ups need of this result, such as its seed.
    pub(crate) notes: Value,
    /// The prompt really used.
    pub(crate) revised_prompt: Option<String>,
}

/// Makes results of a vendor's pictures.
pub(crate) async fn finish_images(
    work: &Work,
    mut pictures: Vec<Bytes>,
    finish: FinishOptions,
) -> Result<WorkOutput, Fault> {
    let brief = work.brief.clone();
    pictures.truncate(brief.count.max(1) as usize);
    let job = work.job_id.to_string();
    let label = Label {
        prompt: brief.prompt.clone(),
        seed: finish.seed,
        model: brief.model.clone(),
        job,
        engine: ENGINE.to_owned(),
        ..Label::default()
    };
    // What is too large is refused by its header, before it waits for memory that it would not get.
    let (mut pixels, mut light) = (0, !brief.grid);
    for bytes in &pictures {
        let header = header(bytes).and_then(|header| {
            let inside = VENDOR_LIMITS.check(header);
            inside.map(|()| header)
        });
        let header =
            header.map_err(|error| Fault::useless(format!("a picture of the vendor: {error}")))?;
        light &= finish.leaves(header, encoding(brief.format));
        pixels += area((header.width, header.height)).max(finish.size.map_or(0, area));
    }
    light &= pictures.iter().map(Bytes::len).sum::<usize>() <= LIGHT_BYTES;
    if light && let Some(files) = as_they_are(&brief, &pictures, &finish, &label) {
        return Ok(result(files, finish));
    }
    with_memory(pixels, move || {
        encode_images(&brief, pictures, finish, &label)
    })
    .await
}

impl FinishOptions {
    /// The size of a picture that is to be enlarged because both its sides are too short.
    fn enlarges(&self, bytes: &[u8]) -> Option<Size> {
        let (width, height) = self.size.filter(|_| self.canvas.is_none())?;
        let own = header(bytes).ok()?;
        (own.width < width && own.height < height).then_some((own.width, own.height))
    }

    /// Whether a picture that has this header is what was asked for already.
    fn leaves(&self, header: Header, encoding: Encoding) -> bool {
        let own = (header.width, header.height);
        let coded = match encoding {
            Encoding::Png => true,
            Encoding::Jpeg { quality } => quality >= SMALLER_BELOW,
            Encoding::Webp { quality } => quality.is_some_and(|quality| quality >= SMALLER_BELOW),
        };
        coded
            && header.format == encoding.format()
            && self.size.unwrap_or_else(|| fit::inside(own)) == own
            && self.canvas.is_none()
            && !self.cut_out
            && self.keep.is_empty()
    }
}

/// All pictures with their own pixels, if nothing has to be done to any.
fn as_they_are(
    brief: &Brief,
    pictures: &[Bytes],
    finish: &FinishOptions,
    label: &Label,
) -> Option<Vec<OutputFile>> {
    let print = ResultEncoder {
        encoding: encoding(brief.format),
        label,
        finish,
    };
    let files = pictures.iter().map(|bytes| print.as_it_is(bytes));
    files
        .collect::<Option<Vec<_>>>()
        .filter(|files| !files.is_empty())
}

/// What is made of files that each count.
fn result(files: Vec<OutputFile>, finish: FinishOptions) -> WorkOutput {
    WorkOutput {
        made: files.len() as u32,
        files,
        seed: finish
            .seed
            .filter(|_| finish.tell_seed)
            .map(|seed| seed.to_string()),
        notes: finish.notes,
        revised_prompt: finish.revised_prompt,
        ..WorkOutput::default()
    }
}

fn encode_images(
    brief: &Brief,
    pictures: Vec<Bytes>,
    finish: FinishOptions,
    label: &Label,
) -> Result<WorkOutput, Fault> {
    let wanted = brief.count.max(1) as usize;
    let least = if brief.grid { wanted } else { 1 };
    if pictures.len() < least {
        return Err(Fault::useless(format!(
            "{} of {wanted} pictures",
            pictures.len()
        )));
    }
    let print = ResultEncoder {
        encoding: encoding(brief.format),
        label,
        finish: &finish,
    };
    let enlarged_from = pictures.iter().find_map(|bytes| finish.enlarges(bytes));
    let mut files = Vec::new();
    let mut members = Vec::new();
    let all = manifest_origins(&pictures);
    for (index, bytes) in pictures.into_iter().enumerate() {
        if let Some(file) = print.as_it_is(&bytes).filter(|_| !brief.grid) {
            files.push(file);
            continue;
        }
        let picture = print.picture(index, &bytes)?;
        let role = if brief.grid {
            FileRole::Small
        } else {
            FileRole::Main
        };
        if !brief.grid || brief.small_images {
            let file = print.file(&picture, role);
            files.push(OutputFile {
                origins: manifest_origins([&bytes]),
                ..file
            });
        }
        if brief.grid {
            members.push(picture);
        }
    }
    let count = if brief.grid { wanted } else { files.len() };
    if brief.grid {
        let four = same_size(members)?;
        let grid = print.file(&Picture::grid_of_four(four), FileRole::Main);
        let origins = all;
        files.insert(0, OutputFile { origins, ..grid });
    }
    Ok(WorkOutput {
        made: count as u32,
        enlarged_from,
        ..result(files, finish)
    })
}

/// Four pictures of the first one's size.
fn same_size(members: Vec<Picture>) -> Result<[Picture; 4], Fault> {
    let members: [Picture; 4] = members
        .try_into()
        .map_err(|all: Vec<Picture>| Fault::useless(format!("a grid of {}", all.len())))?;
    let (width, height) = (members[0].width, members[0].height);
    Ok(members.map(|member| member.covering(width, height)))
}

struct ResultEncoder<'a> {
    encoding: Encoding,
    label: &'a Label,
    finish: &'a FinishOptions,
}

impl ResultEncoder<'_> {
    fn picture(&self, index: usize, bytes: &[u8]) -> Result<Picture, Fault> {
        let mut picture = decode(bytes, VENDOR_LIMITS)
            .map_err(|error| Fault::useless(format!("a picture of the vendor: {error}")))?;
        if let Some(canvas) = self.finish.canvas {
            picture = canvas.taken_out(&picture);
        }
        let own = (picture.width, picture.height);
        let size = self.finish.size.unwrap_or_else(|| fit::inside(own));
        if size != own {
            picture = picture.covering(size.0, size.1);
        }
        if self.finish.cut_out && !picture.has_alpha() {
            picture = cut_out(&picture);
        }
        let kept = self.finish.keep.get(index).or(self.finish.keep.first());
        if let Some((base, mask)) = kept {
            let (width, height) = (picture.width, picture.height);
            let base = base.covering(width, height);
            let mask = mask.resized(width, height).feathered(SOFT_PIXELS);
            picture = mask.mixed(&base, &picture);
        }
        Ok(picture)
    }

    /// The file with its own pixels, where nothing has to be done to them.
    fn as_it_is(&self, bytes: &Bytes) -> Option<OutputFile> {
        let header = header(bytes).ok()?;
        let origins = manifest_origins([bytes]);
        let bytes = self
            .finish
            .leaves(header, self.encoding)
            .then(|| relabelled(bytes, self.label))??;
        Some(OutputFile {
            role: FileRole::Main,
            media_type: header.format.media_type(),
            width: header.width,
            height: header.height,
            bytes: bytes.into(),
            origins,
        })
    }

    fn file(&self, picture: &Picture, role: FileRole) -> OutputFile {
        OutputFile {
            role,
            media_type: self.encoding.format().media_type(),
            width: picture.width,
            height: picture.height,
            bytes: encode(picture, self.encoding, Some(self.label)).into(),
            ..OutputFile::default()
        }
    }
}

/// The encoding of a brief's format.
pub(crate) fn encoding(format: Format) -> Encoding {
    match format {
        Format::Png => Encoding::Png,
        Format::Jpeg(quality) => Encoding::Jpeg { quality },
        Format::Webp(quality) => Encoding::Webp {
            quality: Some(quality),
        },
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::brief::Task;

    use super::*;
    use crate::backend::Class;

    /// What becomes of a vendor's picture for a caller who wants a JPEG of a quality.
    fn passed(vendors: &[u8], quality: u8, finish: &FinishOptions) -> Option<Vec<OutputFile>> {
        let brief = Brief {
            format: Format::Jpeg(quality),
            ..Brief::new(Task::Draw)
        };
        let pictures = [Bytes::copy_from_slice(vendors)];
        as_they_are(&brief, &pictures, finish, &Label::default())
    }

    #[tokio::test]
    async fn a_panic_is_our_fault_and_its_text_is_not_the_callers() {
        let bad = || -> Result<(), Fault> { panic!("bad brush") };
        let fault = with_megabytes(1, bad).await.expect_err("a fault");
        assert_eq!(fault.class, Class::Bug);
        assert!(fault.detail.contains("bad brush"), "{}", fault.detail);
        assert!(!fault.job_message().contains("bad brush"));
    }

    #[test]
    fn a_picture_that_is_what_was_asked_for_keeps_its_pixels_as_the_vendor_coded_them() {
        let picture = Picture::filled(64, 48, [200, 90, 10, 255]);
        let vendors = encode(&picture, Encoding::Jpeg { quality: 100 }, None);
        let exact = FinishOptions {
            size: Some((64, 48)),
            ..FinishOptions::default()
        };
        for finish in [&exact, &FinishOptions::default()] {
            let files = passed(&vendors, 90, finish).expect("it is passed on");
            assert_eq!((files[0].width, files[0].height), (64, 48));
            let pixels = &vendors[vendors.len() / 2..];
            assert!(files[0].bytes.ends_with(pixels), "no pixel is coded anew");
        }
        let other = FinishOptions {
            size: Some((32, 48)),
            ..FinishOptions::default()
        };
        assert!(passed(&vendors, 90, &other).is_none(), "another size");
        assert!(passed(&vendors, 40, &exact).is_none(), "a smaller file");
        let png = encode(&picture, Encoding::Png, None);
        assert!(passed(&png, 90, &exact).is_none(), "another format");
        let cut = FinishOptions {
            cut_out: true,
            ..exact
        };
        assert!(passed(&vendors, 90, &cut).is_none(), "to be cut out");
    }
}
