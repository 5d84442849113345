//! From a finished task to files of this service.

use atelier_contract::FileRole;
use atelier_contract::brief::Task;
use serde_json::Value;

use super::notes::MidjourneyNotes;
use crate::backend::{Class, Fault, OutputFile, Work, WorkOutput};
use crate::downloads::Downloader;
use crate::files;
use crate::http::VendorHttp;

/// No task has more files of a kind.
const MOST_FILES: usize = 4;
/// No task has more shorter prompts.
const MOST_SHORTENED: usize = 5;

/// Fetches what a task made.
pub(super) async fn made(
    http: &VendorHttp,
    work: &Work,
    id: &str,
    task: &Value,
) -> Result<WorkOutput, Fault> {
    let notes = MidjourneyNotes::of_task(id, task).write();
    match work.brief.task {
        Task::Describe => return described(task, notes),
        Task::Shorten => return shortened(task, notes),
        _ => {}
    }
    let downloads = Downloader::new(http);
    let (files, made) = match work.brief.task {
        Task::Animate | Task::Extend(_) => videos(downloads, work, task).await?,
        _ => (images(downloads, work, task).await?, work.brief.count),
    };
    Ok(WorkOutput {
        files,
        made,
        notes,
        ..WorkOutput::default()
    })
}

fn described(task: &Value, notes: Value) -> Result<WorkOutput, Fault> {
    let texts = [
        &task["properties"]["finalPrompt"],
        &task["promptEn"],
        &task["prompt"],
    ];
    let text = texts
        .iter()
        .find_map(|text| text.as_str().filter(|text| !text.is_empty()));
    let prompts: Vec<String> = text
        .unwrap_or_default()
        .lines()
        .map(|line| without_number(line).to_owned())
        .filter(|line| !line.is_empty())
        .take(MOST_FILES)
        .collect();
    if prompts.is_empty() {
        return Err(nothing());
    }
    Ok(WorkOutput {
        made: prompts.len() as u32,
        prompts,
        notes,
        ..WorkOutput::default()
    })
}

/// Prompts of a text, of whose lines those count that begin with a keycap number.
fn shortened(task: &Value, notes: Value) -> Result<WorkOutput, Fault> {
    let text = task["properties"]["finalPrompt"]
        .as_str()
        .unwrap_or_default();
    let numbered = text
        .lines()
        .filter(|line| without_number(line) != line.trim());
    let prompts: Vec<String> = numbered
        .map(|line| without_number(line).to_owned())
        .filter(|line| !line.is_empty())
        .take(MOST_SHORTENED)
        .collect();
    if prompts.is_empty() {
        return Err(nothing());
    }
    Ok(WorkOutput {
        made: prompts.len() as u32,
        prompts,
        notes,
        ..WorkOutput::default()
    })
}

/// A line without the keycap number the vendor puts before it.
fn without_number(line: &str) -> &str {
    let line = line.trim();
    let Some(keycap) = line.find('\u{20e3}') else {
        return line;
    };
    let before = &line[..keycap];
    if before.trim_end_matches('\u{fe0f}').len() == 1 {
        line[keycap + '\u{20e3}'.len_utf8()..].trim()
    } else {
        line
    }
}

async fn videos(
    mut downloads: Downloader<'_>,
    work: &Work,
    task: &Value,
) -> Result<(Vec<OutputFile>, u32), Fault> {
    let mut addresses = addresses(&task["videoUrls"]);
    // Accounts without the official network of files show the video where a picture would stand.
    for name in ["videoUrl", "imageUrl"] {
        if addresses.is_empty() {
            addresses.extend(task[name].as_str().filter(|url| !url.is_empty()));
        }
    }
    let asked = work.brief.count.max(1) as usize;
    addresses.truncate(asked);
    let mut files = fetched(&mut downloads, work, FileRole::Main, &addresses).await?;
    files.retain(|file| file.media_type.starts_with("video/"));
    if files.is_empty() {
        return Err(nothing());
    }
    let made = files.len() as u32;
    Ok((files, made))
}

/// The picture, and of a grid its four where they are wanted: the vendor's own, or cut from the grid.
async fn images(
    mut downloads: Downloader<'_>,
    work: &Work,
    task: &Value,
) -> Result<Vec<OutputFile>, Fault> {
    let singles = addresses(&task["imageUrls"]);
    let whole = task["imageUrl"].as_str().filter(|url| !url.is_empty());
    if !work.brief.grid {
        let address = whole
            .or_else(|| singles.first().copied())
            .ok_or_else(nothing)?;
        return fetched(&mut downloads, work, FileRole::Main, &[address]).await;
    }
    let four = singles.len() == MOST_FILES;
    let mut small = Vec::new();
    if four && (work.brief.small_images || whole.is_none()) {
        small = fetched(&mut downloads, work, FileRole::Small, &singles).await?;
    }
    let mut files = match whole {
        Some(address) => fetched(&mut downloads, work, FileRole::Main, &[address]).await?,
        None if four => vec![files::grid(&small).await?],
        None => return Err(nothing()),
    };
    if work.brief.small_images {
        if small.is_empty() {
            small = files::quarters(&files[0]).await?;
        }
        files.extend(small);
    }
    Ok(files)
}

fn addresses(list: &Value) -> Vec<&str> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item["url"].as_str().or_else(|| item.as_str()))
        .filter(|url| !url.is_empty())
        .take(MOST_FILES)
        .collect()
}

async fn fetched(
    downloads: &mut Downloader<'_>,
    work: &Work,
    role: FileRole,
    addresses: &[&str],
) -> Result<Vec<OutputFile>, Fault> {
    let mut files = Vec::with_capacity(addresses.len());
    for address in addresses {
        let bytes = downloads.file(address).await?;
        files.push(files::file(work, role, bytes)?);
    }
    Ok(files)
}

fn nothing() -> Fault {
    Fault::vendor(Class::Gone, "the task succeeded, but shows no result")
}

#[cfg(test)]
mod tests {
    use super::without_number;

    #[test]
    fn a_keycap_before_a_line_goes() {
        assert_eq!(
            without_number("1️⃣ a red fox --ar 3:2"),
            "a red fox --ar 3:2"
        );
        assert_eq!(without_number("  a red fox "), "a red fox");
        assert_eq!(without_number("the sign says 1️⃣"), "the sign says 1️⃣");
    }
}
