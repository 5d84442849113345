//! Names of models that make pictures and videos, and the built-in model here that each is like. Other names are of text, of sound or of
//! nothing that is known.

/// Beginnings of names with what they are like; the longest that fits counts.
const KNOWN: &[(&str, &str)] = &[
    ("dall-e-2", "imgmodel/art-2"),
    ("dall-e-3", "imgmodel/art-3"),
    ("gpt-image", "imgmodel/image-1"),
    ("chatgpt-image", "imgmodel/image-1"),
    ("gpt-4o-image", "imgmodel/image-1"),
    ("imagen-", "imgmodel/image-1"),
    ("nano-banana", "imgmodel/image-1"),
    ("seedream", "imgmodel/image-1"),
    ("doubao-seedream", "imgmodel/image-1"),
    ("doubao-seededit", "imgmodel/image-1"),
    ("jimeng_t2i", "imgmodel/image-1"),
    ("jimeng_high_aes", "imgmodel/image-1"),
    ("qwen-image", "imgmodel/image-1"),
    ("wanx", "imgmodel/image-1"),
    ("wan2.5-t2i", "imgmodel/image-1"),
    ("wan2.2-t2i", "imgmodel/image-1"),
    ("flux", "imgmodel/image-1"),
    ("black-forest-labs/flux", "imgmodel/image-1"),
    ("stable-diffusion", "imgmodel/image-1"),
    ("stabilityai/", "imgmodel/image-1"),
    ("sd3", "imgmodel/image-1"),
    ("sdxl", "imgmodel/image-1"),
    ("kolors", "imgmodel/image-1"),
    ("kwai-kolors/", "imgmodel/image-1"),
    ("ideogram", "imgmodel/image-1"),
    ("recraft", "imgmodel/image-1"),
    ("grok-2-image", "imgmodel/image-1"),
    ("grok-imagine-image", "imgmodel/image-1"),
    ("cogview", "imgmodel/image-1"),
    ("hunyuan-image", "imgmodel/image-1"),
    ("z-image", "imgmodel/image-1"),
    ("image-01", "imgmodel/image-1"),
    ("sora-2-pro", "vidgen_partner/video-2-pro"),
    ("sora", "vidgen_partner/video-2"),
    ("veo", "vidgen_partner/video-2"),
    ("kling", "vidgen_partner/video-2"),
    ("jimeng", "vidgen_partner/video-2"),
    ("doubao-seedance", "vidgen_partner/video-2"),
    ("seedance", "vidgen_partner/video-2"),
    ("minimax-hailuo", "vidgen_partner/video-2"),
    ("hailuo", "vidgen_partner/video-2"),
    ("t2v-01", "vidgen_partner/video-2"),
    ("i2v-01", "vidgen_partner/video-2"),
    ("wan", "vidgen_partner/video-2"),
    ("vidu", "vidgen_partner/video-2"),
    ("runway", "vidgen_partner/video-2"),
    ("gen4", "vidgen_partner/video-2"),
    ("luma", "vidgen_partner/video-2"),
    ("pika", "vidgen_partner/video-2"),
    ("cogvideo", "vidgen_partner/video-2"),
    ("hunyuan-video", "vidgen_partner/video-2"),
    ("grok-imagine-video", "vidgen_partner/video-2"),
];

/// What a model of this name is like; nothing for models of text and sound.
pub fn like_of(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let bare = name.rsplit_once('/').map_or(&*name, |(_, bare)| bare);
    // Conversations that draw: Gemini's are named by what they are, with the kind in the middle.
    if bare.starts_with("gemini") && bare.contains("image") {
        return Some("imgmodel/image-1");
    }
    let fits = |text: &&(&str, &str)| name.starts_with(text.0) || bare.starts_with(text.0);
    let known = KNOWN
        .iter()
        .filter(fits)
        .max_by_key(|(start, _)| start.len());
    known.map(|(_, like)| *like)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_pictures_and_videos_are_told_from_those_of_text() {
        for (name, like) in [
            ("dall-e-3", Some("imgmodel/art-3")),
            ("gpt-image-1-mini", Some("imgmodel/image-1")),
            ("gemini-2.5-flash-image-preview", Some("imgmodel/image-1")),
            ("sora-2", Some("vidgen_partner/video-2")),
            ("sora-2-pro", Some("vidgen_partner/video-2-pro")),
            ("Kling-v2-master", Some("vidgen_partner/video-2")),
            ("jimeng_t2i_v40", Some("imgmodel/image-1")),
            ("jimeng_vgfm_t2v_l20", Some("vidgen_partner/video-2")),
            ("black-forest-labs/FLUX.1-schnell", Some("imgmodel/image-1")),
            ("openai/gpt-image-1", Some("imgmodel/image-1")),
            ("gpt-4o", None),
            ("gemini-2.5-flash", None),
            ("claude-sonnet-4", None),
            ("whisper-1", None),
            ("text-embedding-3-small", None),
        ] {
            assert_eq!(like_of(name), like, "{name}");
        }
    }
}
