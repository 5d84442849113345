//! Colours as three numbers in 0..1 (as stored in picture files), and what painters do to them.

/// Red, green, blue in 0..1.
pub(crate) type Rgb = [f32; 3];

/// Red, green, blue in 0..1 and opacity in 0..1, not premultiplied.
pub(crate) type Rgba = [f32; 4];

/// A colour from its usual six hexadecimal digits.
pub(crate) const fn hex(code: u32) -> Rgb {
    [
        ((code >> 16) & 255) as f32 / 255.0,
        ((code >> 8) & 255) as f32 / 255.0,
        (code & 255) as f32 / 255.0,
    ]
}

/// Goes from `a` to `b` while `t` goes from 0 to 1.
pub(crate) fn mix(a: Rgb, b: Rgb, t: f32) -> Rgb {
    let t = t.clamp(0.0, 1.0);
    [
        a[0] + (b[0] - a[0]) * t,
        a[1] + (b[1] - a[1]) * t,
        a[2] + (b[2] - a[2]) * t,
    ]
}

/// Makes every channel `by` times as bright.
pub(crate) fn scale(a: Rgb, by: f32) -> Rgb {
    [a[0] * by, a[1] * by, a[2] * by]
}

/// Filters one colour through another.
pub(crate) fn filter(a: Rgb, b: Rgb) -> Rgb {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}

/// Adds light without ever leaving 0..1.
pub(crate) fn screen(a: Rgb, b: Rgb) -> Rgb {
    let one = |x: f32, y: f32| 1.0 - (1.0 - x.clamp(0.0, 1.0)) * (1.0 - y.clamp(0.0, 1.0));
    [one(a[0], b[0]), one(a[1], b[1]), one(a[2], b[2])]
}

/// How bright a colour looks, 0..1.
pub(crate) fn luma(a: Rgb) -> f32 {
    a[0] * 0.299 + a[1] * 0.587 + a[2] * 0.114
}

/// Adds opacity to a colour.
pub(crate) fn with_alpha(a: Rgb, alpha: f32) -> Rgba {
    [a[0], a[1], a[2], alpha]
}

/// Moves a colour away from (above 1) or towards (below 1) grey.
pub(crate) fn saturate(a: Rgb, by: f32) -> Rgb {
    let grey = luma(a);
    a.map(|v| (grey + (v - grey) * by).clamp(0.0, 1.0))
}

/// Hue in turns, saturation, lightness.
pub(crate) fn to_hsl(a: Rgb) -> [f32; 3] {
    let (high, low) = (a[0].max(a[1]).max(a[2]), a[0].min(a[1]).min(a[2]));
    let (light, span) = ((high + low) * 0.5, high - low);
    if span < 1e-5 {
        return [0.0, 0.0, light];
    }
    let sat = span / (1.0 - (2.0 * light - 1.0).abs()).max(1e-5);
    let hue = if high <= a[0] {
        let turn = (a[1] - a[2]) / span;
        if turn < 0.0 { turn + 6.0 } else { turn }
    } else if high <= a[1] {
        (a[2] - a[0]) / span + 2.0
    } else {
        (a[0] - a[1]) / span + 4.0
    };
    [hue / 6.0, sat.min(1.0), light]
}

/// The colour of a hue in turns, a saturation and a lightness.
pub(crate) fn from_hsl([hue, sat, light]: [f32; 3]) -> Rgb {
    let chroma = (1.0 - (2.0 * light - 1.0).abs()) * sat;
    let one = |shift: f32| {
        let k = (hue * 6.0 + shift).rem_euclid(6.0);
        let v = (2.0 - (k - 3.0).abs()).clamp(0.0, 1.0);
        light + chroma * (v - 0.5)
    };
    [one(3.0), one(1.0), one(5.0)]
}

/// Gives a colour the hue of another and keeps its own light and dark.
pub(crate) fn dyed(original: Rgb, dye: Rgb) -> Rgb {
    let ([hue, sat, light], [_, own_sat, own]) = (to_hsl(dye), to_hsl(original));
    if own > 0.9 || (own < 0.2 && own_sat < 0.35) {
        return original;
    }
    let light = (light + (own - 0.52) * 0.75).clamp(0.04, 0.96);
    from_hsl([hue, sat * 0.9 + own_sat * 0.1 * sat.min(1.0), light])
}

/// Picks from evenly spaced stops, `t` in 0..1.
pub(crate) fn ramp(stops: &[Rgb], t: f32) -> Rgb {
    let place = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
    let index = (place as usize).min(stops.len().saturating_sub(2));
    mix(
        stops[index],
        stops[(index + 1).min(stops.len() - 1)],
        place - index as f32,
    )
}
