//! Everyday names of colours.

/// The everyday name of a colour given in red, green and blue from 0 to 255.
pub(super) fn name([r, g, b]: [f32; 3]) -> &'static str {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let chroma = most - least;
    let light = f32::midpoint(most, least);
    if chroma < 22.0 || (light < 26.0 && chroma < 34.0) {
        return match light {
            light if light < 38.0 => "black",
            light if light < 88.0 => "charcoal grey",
            light if light < 165.0 => "grey",
            light if light < 222.0 => "light grey",
            _ => "white",
        };
    }
    let hue = hue(r, g, b, most, chroma);
    let pale = light > 178.0;
    let dark = light < 84.0;
    let dull = chroma < 70.0;
    match hue {
        hue if !(15.0..345.0).contains(&hue) => pick(pale, dark, "pink", "maroon", "red"),
        hue if hue < 42.0 => {
            if dull {
                pick(pale, dark, "beige", "dark brown", "brown")
            } else {
                pick(pale, dark, "peach", "brown", "orange")
            }
        }
        hue if hue < 68.0 => {
            if dull {
                pick(pale, dark, "cream", "olive", "khaki")
            } else {
                pick(pale, dark, "pale yellow", "olive", "yellow")
            }
        }
        hue if hue < 160.0 => pick(pale, dark, "pale green", "dark green", "green"),
        hue if hue < 195.0 => pick(pale, dark, "pale turquoise", "dark teal", "teal"),
        hue if hue < 255.0 => pick(pale, dark, "sky blue", "navy blue", "blue"),
        hue if hue < 290.0 => pick(pale, dark, "lavender", "deep violet", "violet"),
        _ => pick(pale, dark, "light pink", "plum", "magenta"),
    }
}

fn pick(
    pale: bool,
    dark: bool,
    light: &'static str,
    deep: &'static str,
    plain: &'static str,
) -> &'static str {
    if pale {
        light
    } else if dark {
        deep
    } else {
        plain
    }
}

fn hue(r: f32, g: f32, b: f32, most: f32, chroma: f32) -> f32 {
    let sixth = if most <= r {
        (g - b) / chroma
    } else if most <= g {
        2.0 + (b - r) / chroma
    } else {
        4.0 + (r - g) / chroma
    };
    (sixth * 60.0).rem_euclid(360.0)
}
