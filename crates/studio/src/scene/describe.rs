//! Says in words what a scene shows.

use super::Scene;
use crate::choices::RequestedSubject;
use crate::choices::kinds::{Place, Season};

fn number(count: u8) -> &'static str {
    [
        "no", "a", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    ]
    .get(count as usize)
    .copied()
    .unwrap_or("many")
}

fn plural(name: &str) -> String {
    match name {
        _ if name.ends_with("man") => format!("{}men", &name[..name.len() - 3]),
        _ if name.ends_with("fish") || name.ends_with("sheep") || name.ends_with("deer") => {
            name.to_owned()
        }
        _ if name.ends_with('s') || name.ends_with('x') || name.ends_with("ch") => {
            format!("{name}es")
        }
        _ if name.ends_with('f') => format!("{}ves", &name[..name.len() - 1]),
        _ => format!("{name}s"),
    }
}

fn one(want: &RequestedSubject) -> String {
    let colour = want
        .colour_name
        .as_ref()
        .map_or(String::new(), |c| format!("{c} "));
    let noun = if want.count > 1 {
        plural(&want.name)
    } else {
        want.name.clone()
    };
    let mut article = number(want.count).to_owned();
    let next = format!("{colour}{noun}");
    if article == "a" && next.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an".clone_into(&mut article);
    }
    let place = match want.place {
        Place::Left => " on the left",
        Place::Right => " on the right",
        Place::Far => " in the distance",
        Place::Front => " in the foreground",
        _ => "",
    };
    format!("{article} {next}{place}")
}

fn subjects(scene: &Scene) -> String {
    let all: Vec<String> = scene.subjects.iter().map(one).collect();
    match all.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

fn palette(scene: &Scene) -> String {
    if scene.palette_names.is_empty() {
        return String::new();
    }
    format!(", {} palette", scene.palette_names.join(" and "))
}

impl Scene {
    /// Four different prompts that are all true of this scene.
    pub fn describe(&self) -> [String; 4] {
        describe(self)
    }
}

fn describe(scene: &Scene) -> [String; 4] {
    let (who, place) = (subjects(scene), scene.setting.name());
    let (time, weather, style) = (scene.time.name(), scene.weather.name(), scene.style.name());
    let palette = palette(scene);
    let lead = if who.is_empty() {
        format!("{place} scene")
    } else {
        who.clone()
    };
    let season = match scene.season {
        Season::Spring => "in spring",
        Season::Summer => "in summer",
        Season::Autumn => "in autumn",
        Season::Winter => "in winter",
    };
    let outdoors = scene.setting.is_outdoors();
    let air = if outdoors {
        format!("{time}, {weather}")
    } else {
        format!("{time} light")
    };
    let quiet = if who.is_empty() {
        format!("an empty {place}")
    } else {
        format!("{who}, {place}")
    };
    [
        format!("{style} of {lead}, {place}, {air}{palette}"),
        format!(
            "{lead} at {time} --style {}{palette}",
            style.replace(' ', "-")
        ),
        if outdoors {
            format!("{place} {season} with {weather}, {lead}, made as {style}")
        } else {
            format!("{place} lit by {time} light, {lead}, made as {style}")
        },
        format!("{quiet}, wide view, {style}, {air}, seed {}", scene.seed()),
    ]
}
