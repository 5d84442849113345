//! Servers for those who verify back ends: some as they should be, and one that has changed its answers.

use serde_json::json;

use crate::stand::{Reply, Stand, base64, bytes, json as answer, png};

/// A server of OpenAI's format that draws.
pub(crate) fn painter() -> Stand {
    Stand::new(|seen| {
        if seen.line == "GET /v1/models" {
            return answer(&json!({"data": [{"id": "painter"}]}));
        }
        let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
        answer(&json!({"data": [{"b64_json": picture}]}))
    })
}

/// Runway, whose tasks end with these words.
pub(crate) fn runway(done: &'static str) -> Stand {
    runway_of(done, (1024, 1024))
}

/// The same with pictures of a size.
pub(crate) fn runway_of(done: &'static str, (width, height): (u32, u32)) -> Stand {
    Stand::new(move |seen| match &*seen.line {
        "GET /v1/organization" => answer(&json!({"creditBalance": 1000})),
        "GET /a.png" => bytes("image/png", png(width, height, [9, 99, 9, 255])),
        line if line.starts_with("POST ") => answer(&json!({"id": "t1"})),
        line if line.starts_with("GET /v1/tasks/") => answer(
            &json!({"id": "t1", done: "SUCCEEDED", "output": [seen.here("/a.png")], "cost": {"credits": 4}}),
        ),
        line if line.starts_with("DELETE ") => Reply::Whole(204, String::new(), Vec::new()),
        _ => Reply::Cut,
    })
}
