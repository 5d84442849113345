//! A picture taken apart by the size of its details, so that light and detail can be mixed each in its own way.

use atelier_media::Picture;
use atelier_media::sampling::Field;
use rayon::prelude::*;

/// Details from fine to coarse, the last level being what is left.
pub(crate) struct Pyramid {
    pub(crate) levels: Vec<Field<3>>,
}

impl Pyramid {
    /// Takes a picture apart into a number of levels (fewer when it is small).
    pub(crate) fn of(picture: &Picture, levels: usize) -> Self {
        let nodes = picture
            .pixels()
            .iter()
            .map(|&[r, g, b, _]| [r, g, b].map(f32::from))
            .collect();
        let mut rest = Field {
            width: picture.width as usize,
            height: picture.height as usize,
            nodes,
        };
        let mut out = Vec::new();
        while out.len() + 1 < levels && rest.width.min(rest.height) >= 4 {
            let coarse = rest.halved();
            let smooth = coarse.resized(rest.width, rest.height);
            rest.nodes
                .par_iter_mut()
                .zip(&smooth.nodes)
                .for_each(|(node, smooth)| {
                    (0..3).for_each(|c| node[c] -= smooth[c]);
                });
            out.push(rest);
            rest = coarse;
        }
        out.push(rest);
        Self { levels: out }
    }

    /// Puts the levels together again.
    pub(crate) fn picture(mut self) -> Picture {
        let mut whole = self
            .levels
            .pop()
            .unwrap_or_else(|| Field::new(1, 1, [0.0; 3]));
        while let Some(mut detail) = self.levels.pop() {
            let smooth = whole.resized(detail.width, detail.height);
            detail
                .nodes
                .par_iter_mut()
                .zip(&smooth.nodes)
                .for_each(|(node, smooth)| {
                    (0..3).for_each(|c| node[c] += smooth[c]);
                });
            whole = detail;
        }
        let mut out = Picture::filled(whole.width as u32, whole.height as u32, [0, 0, 0, 255]);
        for (pixel, node) in out.pixels_mut().iter_mut().zip(&whole.nodes) {
            (0..3).for_each(|c| pixel[c] = (node[c] + 0.5).clamp(0.0, 255.0) as u8);
        }
        out
    }
}
