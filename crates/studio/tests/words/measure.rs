//! What tests measure on pixels: how far two pictures differ, how alike they are, how much of a hue they hold.

use atelier_media::Picture;

/// Mean difference of the channels, 0..255.
pub(crate) fn difference(a: &Picture, b: &Picture) -> f64 {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let sum: u64 = a
        .rgba
        .iter()
        .zip(&b.rgba)
        .map(|(x, y)| u64::from(x.abs_diff(*y)))
        .sum();
    sum as f64 / a.rgba.len() as f64
}

/// The pixels for which `test` holds.
pub(crate) fn count(picture: &Picture, test: impl Fn([u8; 4]) -> bool) -> usize {
    picture
        .rgba
        .chunks_exact(4)
        .filter(|p| test([p[0], p[1], p[2], p[3]]))
        .count()
}

/// Whether a pixel is clearly magenta.
pub(crate) fn is_magenta([r, g, b, _]: [u8; 4]) -> bool {
    i32::from(r) > i32::from(g) + 60 && i32::from(b) > i32::from(g) + 35
}

/// Whether a pixel is clearly blue and strong.
pub(crate) fn is_blue([r, g, b, _]: [u8; 4]) -> bool {
    i32::from(b) > i32::from(r) + 70 && i32::from(b) > i32::from(g) + 40
}

/// A rectangle of a picture.
pub(crate) fn part(picture: &Picture, left: u32, top: u32, width: u32, height: u32) -> Picture {
    let mut out = Picture::filled(width, height, [0; 4]);
    for y in 0..height {
        for x in 0..width {
            out.set(x, y, picture.pixel(left + x, top + y));
        }
    }
    out
}

/// The picture at half its size, by the mean of four pixels.
pub(crate) fn halved(picture: &Picture) -> Picture {
    let mut out = Picture::filled(picture.width / 2, picture.height / 2, [0; 4]);
    for y in 0..out.height {
        for x in 0..out.width {
            let four =
                [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| picture.pixel(2 * x + i, 2 * y + j));
            let mean =
                [0, 1, 2, 3].map(|c| (four.iter().map(|p| u32::from(p[c])).sum::<u32>() / 4) as u8);
            out.set(x, y, mean);
        }
    }
    out
}

/// Structural similarity of the brightness, over blocks of eight by eight pixels.
pub(crate) fn ssim(a: &Picture, b: &Picture) -> f64 {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let luma = |p: &Picture, x: u32, y: u32| {
        let [r, g, b, _] = p.pixel(x, y);
        f64::from(r) * 0.299 + f64::from(g) * 0.587 + f64::from(b) * 0.114
    };
    let (mut sum, mut blocks) = (0.0, 0.0);
    for by in 0..a.height / 8 {
        for bx in 0..a.width / 8 {
            let mut s = [0.0; 5];
            for i in 0..64 {
                let (x, y) = (bx * 8 + i % 8, by * 8 + i / 8);
                let (u, v) = (luma(a, x, y), luma(b, x, y));
                s = [s[0] + u, s[1] + v, s[2] + u * u, s[3] + v * v, s[4] + u * v];
            }
            let s = s.map(|v| v / 64.0);
            let (va, vb, cov) = (s[2] - s[0] * s[0], s[3] - s[1] * s[1], s[4] - s[0] * s[1]);
            let (c1, c2) = (6.5025, 58.5225);
            sum += (2.0 * s[0] * s[1] + c1) * (2.0 * cov + c2)
                / ((s[0] * s[0] + s[1] * s[1] + c1) * (va + vb + c2));
            blocks += 1.0;
        }
    }
    sum / blocks
}

/// How many separate groups of columns hold pixels for which `test` holds.
pub(crate) fn groups(picture: &Picture, test: impl Fn([u8; 4]) -> bool) -> usize {
    let holds = |x: u32| {
        (0..picture.height)
            .filter(|y| test(picture.pixel(x, *y)))
            .count()
            > 2
    };
    let columns: Vec<bool> = (0..picture.width).map(holds).collect();
    let starts = columns.windows(2).filter(|w| !w[0] && w[1]).count();
    starts + usize::from(columns[0])
}
