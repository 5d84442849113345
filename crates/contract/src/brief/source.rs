//! An input picture, where it came from and what it must be like.

use crate::fields::{ImageData, ImageHeader};
use crate::refusal::Refusal;

/// A megabyte, as the limits on files count it.
pub const MEGABYTE: u64 = 1024 * 1024;

/// What an input picture must be like. Inline pictures are held against it when the order is made, fetched ones when
/// they have arrived; both by [`Source::check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRule {
    /// Exactly this width and height.
    pub size: Option<(u32, u32)>,
    /// The same width and height as the first source.
    pub like_first: bool,
    /// As wide as it is high.
    pub square: bool,
    /// One of these media types; empty for every type the service reads.
    pub media_types: &'static [&'static str],
    /// Fewer bytes than this.
    pub under_bytes: Option<u64>,
    /// Bytes or a file of the service's own: no other address will do.
    pub kept_only: bool,
}

impl SourceRule {
    /// Any picture the service reads.
    pub const ANY: Self = Self {
        size: None,
        like_first: false,
        square: false,
        media_types: &[],
        under_bytes: None,
        kept_only: false,
    };

    /// Any picture that came with the request or was uploaded before.
    pub const KEPT: Self = Self {
        kept_only: true,
        ..Self::ANY
    };
}

/// An input picture with the field it came from, so that a failure can name it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The field with its path, in wire names.
    pub field: String,
    /// The image, by URL or inline.
    pub image: ImageData,
    /// What it must be like.
    pub wanted: SourceRule,
}

impl Source {
    /// Holds a picture's header and length against the rule; `first` is the header of the first source, when known.
    pub fn check(
        &self,
        header: ImageHeader,
        bytes: u64,
        first: Option<ImageHeader>,
    ) -> Result<(), Refusal> {
        let refuse = |message: String| Err(Refusal::invalid(&self.field, message));
        let wanted = &self.wanted;
        let (width, height) = (header.width, header.height);
        if !wanted.media_types.is_empty() && !wanted.media_types.contains(&header.media_type) {
            let names: Vec<_> = wanted.media_types.iter().map(|name| short(name)).collect();
            let is = short(header.media_type);
            return refuse(format!("must be a {} image, is {is}", names.join(" or ")));
        }
        if let Some(most) = wanted.under_bytes
            && bytes >= most
        {
            let megabytes = most / MEGABYTE;
            return refuse(format!("must be under {megabytes} MB, has {bytes} bytes"));
        }
        if wanted.square && width != height {
            return refuse(format!("must be square, is {width}x{height}"));
        }
        let first = first.filter(|_| wanted.like_first);
        let size = wanted
            .size
            .or_else(|| first.map(|first| (first.width, first.height)));
        if let Some((wide, high)) = size
            && (width, height) != (wide, high)
        {
            return refuse(format!("must be {wide}x{high} pixels, is {width}x{height}"));
        }
        Ok(())
    }
}

fn short(media_type: &str) -> &str {
    media_type.strip_prefix("image/").unwrap_or(media_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::InlineData;

    fn source(wanted: SourceRule) -> Source {
        let image = ImageData::Inline(InlineData {
            hash: String::new(),
            header: None,
            bytes: None,
        });
        Source {
            field: "mask".into(),
            image,
            wanted,
        }
    }

    fn header(media_type: &'static str, width: u32, height: u32) -> ImageHeader {
        ImageHeader {
            media_type,
            width,
            height,
        }
    }

    #[test]
    fn each_rule_refuses_by_name_and_says_what_it_wants() {
        let png = header("image/png", 64, 32);
        let cases = [
            (
                SourceRule {
                    media_types: &["image/png"],
                    ..SourceRule::ANY
                },
                header("image/jpeg", 64, 32),
                "mask: must be a png image, is jpeg",
            ),
            (
                SourceRule {
                    under_bytes: Some(4 * MEGABYTE),
                    ..SourceRule::ANY
                },
                png,
                "mask: must be under 4 MB, has 4194304 bytes",
            ),
            (
                SourceRule {
                    square: true,
                    ..SourceRule::ANY
                },
                png,
                "mask: must be square, is 64x32",
            ),
            (
                SourceRule {
                    size: Some((64, 64)),
                    ..SourceRule::ANY
                },
                png,
                "mask: must be 64x64 pixels, is 64x32",
            ),
            (
                SourceRule {
                    like_first: true,
                    ..SourceRule::ANY
                },
                png,
                "mask: must be 8x8 pixels, is 64x32",
            ),
        ];
        for (wanted, given, message) in cases {
            let first = Some(header("image/png", 8, 8));
            let refusal = source(wanted)
                .check(given, 4 * MEGABYTE, first)
                .expect_err(message);
            assert_eq!(refusal.message, message);
        }
    }
}
