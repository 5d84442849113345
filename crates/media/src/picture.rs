//! The one picture type: straight (not premultiplied) RGBA, eight bits a channel, rows from the top.

/// A picture in memory.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Picture {
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// A picture filled with one colour.
    pub fn filled(width: u32, height: u32, colour: [u8; 4]) -> Self {
        let pixels = width as usize * height as usize;
        Self {
            width,
            height,
            rgba: colour.repeat(pixels),
        }
    }

    /// A picture from its bytes, when there are as many as the size asks for.
    pub fn from_rgba(width: u32, height: u32, rgba: Vec<u8>) -> Option<Self> {
        let pixels = u64::from(width) * u64::from(height);
        (pixels > 0 && pixels * 4 == rgba.len() as u64).then_some(Self {
            width,
            height,
            rgba,
        })
    }

    /// A picture whose every pixel is computed from its place.
    pub fn drawn(width: u32, height: u32, mut paint: impl FnMut(u32, u32) -> [u8; 4]) -> Self {
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for y in 0..height {
            for x in 0..width {
                rgba.extend_from_slice(&paint(x, y));
            }
        }
        Self {
            width,
            height,
            rgba,
        }
    }

    /// The pixel at a place inside the picture.
    #[inline]
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        let at = self.offset(x, y);
        [
            self.rgba[at],
            self.rgba[at + 1],
            self.rgba[at + 2],
            self.rgba[at + 3],
        ]
    }

    /// Replaces the pixel at a place inside the picture.
    #[inline]
    pub fn set(&mut self, x: u32, y: u32, colour: [u8; 4]) {
        let at = self.offset(x, y);
        self.rgba[at..at + 4].copy_from_slice(&colour);
    }

    /// Whether any pixel is not fully opaque.
    pub fn has_alpha(&self) -> bool {
        self.rgba.chunks_exact(4).any(|pixel| pixel[3] != 255)
    }

    /// The pixels, one array each.
    #[inline]
    pub fn pixels(&self) -> &[[u8; 4]] {
        self.rgba.as_chunks::<4>().0
    }

    /// The pixels, one array each, to change.
    #[inline]
    pub fn pixels_mut(&mut self) -> &mut [[u8; 4]] {
        self.rgba.as_chunks_mut::<4>().0
    }

    /// The part that starts at a place; what lies outside is transparent.
    pub fn cropped(&self, x: i64, y: i64, width: u32, height: u32) -> Self {
        let mut out = Self::filled(width, height, [0; 4]);
        out.pasted(self, -x, -y);
        out
    }

    /// The picture with borders of one colour added: left, top, right, bottom.
    pub fn padded(&self, [left, top, right, bottom]: [u32; 4], colour: [u8; 4]) -> Self {
        let mut out = Self::filled(
            self.width + left + right,
            self.height + top + bottom,
            colour,
        );
        out.pasted(self, i64::from(left), i64::from(top));
        out
    }

    /// Replaces the pixels under another picture laid at a place (its alpha too); what sticks out is cut off.
    pub fn pasted(&mut self, other: &Self, x: i64, y: i64) {
        let from_x = x.max(0);
        let to_x = (x + i64::from(other.width)).min(i64::from(self.width));
        let from_y = y.max(0);
        let to_y = (y + i64::from(other.height)).min(i64::from(self.height));
        if from_x >= to_x {
            return;
        }
        let bytes = (to_x - from_x) as usize * 4;
        for row in from_y..to_y {
            let to = self.offset(from_x as u32, row as u32);
            let from = other.offset((from_x - x) as u32, (row - y) as u32);
            self.rgba[to..to + bytes].copy_from_slice(&other.rgba[from..from + bytes]);
        }
    }

    /// Lays another picture over this one at a place, mixing by its alpha.
    pub fn overlaid(&mut self, other: &Self, x: i64, y: i64) {
        for row in 0..other.height {
            let to_y = y + i64::from(row);
            if to_y < 0 || to_y >= i64::from(self.height) {
                continue;
            }
            for column in 0..other.width {
                let to_x = x + i64::from(column);
                if to_x >= 0 && to_x < i64::from(self.width) {
                    let under = self.pixel(to_x as u32, to_y as u32);
                    self.set(
                        to_x as u32,
                        to_y as u32,
                        over(other.pixel(column, row), under),
                    );
                }
            }
        }
    }

    /// Four pictures of one size as a grid: upper left, upper right, lower left, lower right.
    pub fn grid_of_four(four: [Self; 4]) -> Self {
        let (width, height) = (four[0].width, four[0].height);
        let mut out = Self::filled(width * 2, height * 2, [0, 0, 0, 255]);
        for (index, tile) in four.into_iter().enumerate() {
            let x = index as u32 % 2 * width;
            let y = index as u32 / 2 * height;
            out.pasted(&tile, i64::from(x), i64::from(y));
        }
        out
    }

    /// One quarter of a grid, counted as `grid_of_four` takes them, 0 to 3.
    pub fn quarter(&self, index: u32) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        self.cropped(
            i64::from(index % 2 * width),
            i64::from(index / 2 % 2 * height),
            width,
            height,
        )
    }

    /// The picture on an opaque ground.
    pub fn on(&self, ground: [u8; 3]) -> Self {
        let mut out = self.clone();
        for pixel in out.pixels_mut() {
            *pixel = over(*pixel, [ground[0], ground[1], ground[2], 255]);
        }
        out
    }

    /// The mean colour of what is visible.
    pub fn mean_colour(&self) -> [u8; 3] {
        let mut sum = [0_u64; 4];
        for &[r, g, b, a] in self.pixels() {
            let a = u64::from(a);
            sum[0] += u64::from(r) * a;
            sum[1] += u64::from(g) * a;
            sum[2] += u64::from(b) * a;
            sum[3] += a;
        }
        let weight = sum[3].max(1);
        [sum[0], sum[1], sum[2]].map(|channel| (channel / weight) as u8)
    }

    #[inline]
    fn offset(&self, x: u32, y: u32) -> usize {
        (y as usize * self.width as usize + x as usize) * 4
    }
}

/// One straight-alpha colour over another.
#[inline]
pub fn over(top: [u8; 4], under: [u8; 4]) -> [u8; 4] {
    let (top_alpha, under_alpha) = (u32::from(top[3]), u32::from(under[3]));
    if top_alpha == 255 || under_alpha == 0 {
        return top;
    }
    let rest = under_alpha * (255 - top_alpha);
    let total = top_alpha * 255 + rest;
    let mix = |index: usize| {
        let sum = u32::from(top[index]) * top_alpha * 255 + u32::from(under[index]) * rest;
        ((sum + total / 2) / total.max(1)) as u8
    };
    [mix(0), mix(1), mix(2), ((total + 127) / 255) as u8]
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({}x{})", self.width, self.height)
    }
}
