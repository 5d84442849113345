//! Other sizes of a picture, with a filter that keeps edges clean and minds transparency.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::Picture;

impl Picture {
    /// The whole picture at another size, resampled with Lanczos.
    pub fn resized(&self, width: u32, height: u32) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let source = ImageRef::new(self.width, self.height, &self.rgba, PixelType::U8x4)
            .expect("a picture holds as many bytes as its size asks for");
        let mut target = Image::new(width, height, PixelType::U8x4);
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
            .use_alpha(self.has_alpha());
        Resizer::new()
            .resize(&source, &mut target, &options)
            .expect("both sides have the same kind of pixel");
        Self {
            width,
            height,
            rgba: target.into_vec(),
        }
    }

    /// The largest centred part of a given shape, at exactly that size.
    pub fn covering(&self, width: u32, height: u32) -> Self {
        let (across, down) = (u64::from(self.width), u64::from(self.height));
        let wide = across * u64::from(height) > down * u64::from(width);
        let (part_width, part_height) = if wide {
            ((down * u64::from(width) / u64::from(height)).max(1), down)
        } else {
            (
                across,
                (across * u64::from(height) / u64::from(width)).max(1),
            )
        };
        let x = (across - part_width) / 2;
        let y = (down - part_height) / 2;
        self.cropped(x as i64, y as i64, part_width as u32, part_height as u32)
            .resized(width, height)
    }

    /// The picture itself, or smaller so that its longer side is not above a bound.
    pub fn fitted(&self, longest: u32) -> Self {
        let side = self.width.max(self.height);
        if side <= longest {
            return self.clone();
        }
        let scale = |length: u32| {
            (u64::from(length) * u64::from(longest))
                .div_ceil(u64::from(side))
                .max(1) as u32
        };
        self.resized(scale(self.width), scale(self.height))
    }
}
