//! How the vendors speak whom operators buy from.

use serde_json::json;

use crate::local::{Act, Kind, after, asks, at, film, kind, nothing, picture, posts, takes};
use crate::stand::{RecordedRequest, base64, bytes, json as answer, status};

/// What Replicate signs its posts with.
pub(crate) const SECRET: &str = "whsec_YSBzZWNyZXQgZm9yIHN0b3JpZXM=";

pub(crate) fn google(seen: &RecordedRequest) -> Act {
    if seen.line.contains(":generateContent") {
        return takes(Kind::Picture, |_| {
            json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
                {"inlineData": {"mimeType": "image/png", "data": base64(picture())}}]}}]})
        });
    }
    if posts(seen, "/interactions") {
        if let Some(wrong) = long(seen) {
            return wrong;
        }
        return takes(Kind::Film, |id| json!({"id": id, "status": "in_progress"}));
    }
    match after(seen, "GET /v1/interactions/").or(after(seen, "GET /v1beta/interactions/")) {
        Some(id) => asks(id, &json!({"id": id, "status": "in_progress"}), |_| {
            json!({"status": "completed", "usage": {"total_tokens": 10}, "steps": [{"type": "model_output", "content": [
                {"type": "video", "mime_type": "video/mp4", "data": base64(film())}]}]})
        }),
        None => nothing(),
    }
}

/// What is longer than one pass is refused, and so is the extension of what nobody made.
fn long(seen: &RecordedRequest) -> Option<Act> {
    let body = seen.json();
    let extends = body["generation_config"]["video_config"]["task"] == "extend";
    let earlier = body["previous_interaction_id"].as_str();
    let seconds = body["response_format"]["duration"].as_str();
    let seconds = seconds.and_then(|text| text.strip_suffix('s')?.parse::<u32>().ok());
    let most = if extends { 10 } else { 15 };
    let fits = seconds.is_some_and(|seconds| (3..=most).contains(&seconds));
    let known = earlier.is_some_and(|id| id.starts_with('t')) == extends;
    let error = json!({"error": {"code": "invalid_request", "message": "Invalid request."}});
    (!fits || !known).then(|| Act::Say(status(400, &error)))
}

pub(crate) fn ark(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/contents/generations/tasks") {
        return takes(Kind::Film, |id| json!({"id": id}));
    }
    if posts(seen, "/images/generations") {
        return takes(
            Kind::Picture,
            move |_| json!({"data": [{"url": at(Kind::Picture)}]}),
        );
    }
    match after(seen, "/contents/generations/tasks/") {
        Some(id) => asks(
            id,
            &json!({"id": id, "status": "running"}),
            move |kind| json!({"status": "succeeded", "content": {"video_url": at(kind)}, "usage": {"completion_tokens": 5}}),
        ),
        None => nothing(),
    }
}

pub(crate) fn minimax(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/v2/video_generation") {
        return takes(Kind::Film, |id| json!({"task_id": id}));
    }
    if posts(seen, "/v1/image_generation") {
        return takes(
            Kind::Picture,
            move |_| json!({"base_resp": {"status_code": 0}, "data": {"image_urls": [at(Kind::Picture)]}}),
        );
    }
    match after(seen, "/v2/query/video_generation/") {
        Some(id) => asks(
            id,
            &json!({"task": {"id": id, "status": "running"}}),
            move |kind| json!({"task": {"status": "succeeded", "content": {"url": at(kind)}}}),
        ),
        None => nothing(),
    }
}

pub(crate) fn dashscope(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/video-synthesis") {
        return takes(
            Kind::Film,
            |id| json!({"output": {"task_id": id, "task_status": "PENDING"}}),
        );
    }
    if posts(seen, "/multimodal-generation/generation") {
        return takes(
            Kind::Picture,
            move |_| json!({"output": {"choices": [{"message": {"content": [{"image": at(Kind::Picture)}]}}]}}),
        );
    }
    match after(seen, "/tasks/") {
        Some(id) => asks(
            id,
            &json!({"output": {"task_status": "RUNNING"}}),
            move |kind| json!({"output": {"task_status": "SUCCEEDED", "video_url": at(kind)}}),
        ),
        None => nothing(),
    }
}

pub(crate) fn kling(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.starts_with("POST ") {
        let token = seen.json()["options"]["external_task_id"]
            .as_str()
            .map(str::to_owned);
        let reply =
            |id: &str| answer(&json!({"code": 0, "data": {"id": id, "status": "submitted"}}));
        return Act::Take(Kind::Film, token, Box::new(reply));
    }
    if let Some(token) = after(seen, "external_task_ids=") {
        return Act::Find(
            token.to_owned(),
            Box::new(|id| {
                let found: Vec<_> = id.into_iter().map(|id| json!({"id": id})).collect();
                answer(&json!({"code": 0, "data": found}))
            }),
        );
    }
    match after(seen, "task_ids=") {
        Some(id) => asks(
            id,
            &json!({"code": 0, "data": [{"id": id, "status": "processing"}]}),
            move |kind| json!({"code": 0, "data": [{"status": "succeeded", "outputs": [{"type": "video", "url": at(kind)}]}]}),
        ),
        None => nothing(),
    }
}

pub(crate) fn minimax_v1(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/v1/video_generation") {
        return takes(
            Kind::Film,
            |id| json!({"task_id": id, "base_resp": {"status_code": 0}}),
        );
    }
    if let Some(file) = after(seen, "/v1/files/retrieve?file_id=") {
        return asks(
            file,
            &json!({}),
            move |kind| json!({"file": {"download_url": at(kind)}, "base_resp": {"status_code": 0}}),
        );
    }
    match after(seen, "/v1/query/video_generation?task_id=").map(str::to_owned) {
        Some(id) => asks(
            &id.clone(),
            &json!({"status": "Processing", "base_resp": {"status_code": 0}}),
            move |_| json!({"status": "Success", "file_id": id, "base_resp": {"status_code": 0}}),
        ),
        None => minimax(seen),
    }
}

/// What begins with words is nowhere else than there.
pub(crate) fn kling_v1(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/v1/videos/text2video") {
        return takes(
            Kind::Film,
            |id| json!({"code": 0, "data": {"task_id": id, "task_status": "submitted"}}),
        );
    }
    match after(seen, "/v1/videos/text2video/") {
        Some(id) => asks(
            id,
            &json!({"code": 0, "data": {"task_id": id, "task_status": "processing"}}),
            move |kind| {
                let videos = json!([{"id": "v", "url": at(kind), "duration": "5"}]);
                json!({"code": 0, "data": {"task_status": "succeed", "task_result": {"videos": videos}}})
            },
        ),
        None => nothing(),
    }
}

pub(crate) fn replicate(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.ends_with("/webhooks/default/secret") {
        return Act::Say(answer(&json!({"key": SECRET})));
    }
    if posts(seen, "/files") {
        return Act::Say(status(
            201,
            &json!({"id": "f", "urls": {"get": at(Kind::Picture)}}),
        ));
    }
    if posts(seen, "/predictions") {
        let body = seen.json();
        let model = body["version"]
            .as_str()
            .or(body["model"].as_str())
            .unwrap_or_default();
        let kind = match model {
            name if name.contains("vector") => Kind::Drawing,
            _ => kind(body["input"].get("duration").is_some()),
        };
        return Act::Take(
            kind,
            None,
            Box::new(|id| status(201, &json!({"id": id, "status": "starting"}))),
        );
    }
    match after(seen, "/predictions/") {
        Some(id) => asks(
            id,
            &json!({"id": id, "status": "processing", "logs": ""}),
            move |kind| json!({"status": "succeeded", "output": [at(kind)], "metrics": {"predict_time": 1.5}}),
        ),
        None => nothing(),
    }
}

pub(crate) fn cog(seen: &RecordedRequest) -> Act {
    if seen.line.starts_with("PUT ") && seen.line.contains("/predictions/") {
        return takes(Kind::Picture, |_| {
            let picture = format!("data:image/png;base64,{}", base64(picture()));
            json!({"status": "succeeded", "output": picture, "metrics": {"predict_time": 1.5}})
        });
    }
    if seen.line.ends_with("/health-check") {
        return Act::Say(answer(&json!({"status": "READY"})));
    }
    nothing()
}

/// What a model of one's own takes.
pub(crate) fn cog_settings() -> serde_json::Value {
    let input = json!({"prompt": "{{prompt}}", "width": "{{width}}", "height": "{{height}}"});
    json!({"models": {"imgmodel.chat": {"model": "painter", "input": input}}})
}

pub(crate) fn fal(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.starts_with("POST ") {
        let here = seen.here("/fal");
        let kind = match &*seen.line {
            line if line.contains("vector") => Kind::Drawing,
            line => kind(line.contains("video") || line.contains("dream-machine")),
        };
        return takes(kind, move |id| {
            let own = format!("{here}/requests/{id}");
            json!({"request_id": id, "status_url": format!("{own}/status"), "response_url": own,
                "cancel_url": format!("{own}/cancel")})
        });
    }
    match after(seen, "/fal/requests/") {
        Some(id) if seen.line.ends_with("/status") => asks(
            id,
            &json!({"status": "IN_PROGRESS"}),
            |_| json!({"status": "COMPLETED"}),
        ),
        // The result has a page of its own, which was asked for only when it was there.
        Some(id) => {
            let result = move |kind| match kind {
                Kind::Film => json!({"video": {"url": at(kind)}}),
                kind => json!({"images": [{"url": at(kind)}]}),
            };
            Act::Ask(
                id.to_owned(),
                status(400, &json!({"detail": "not yet"})),
                Box::new(move |kind| answer(&result(kind))),
            )
        }
        None => nothing(),
    }
}

pub(crate) fn runway(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.starts_with("POST ") {
        return takes(
            kind(seen.line.ends_with("_to_video")),
            |id| json!({"id": id}),
        );
    }
    match after(seen, "/tasks/") {
        Some(id) => asks(
            id,
            &json!({"id": id, "status": "RUNNING", "progress": 0.4}),
            move |kind| json!({"status": "SUCCEEDED", "output": [at(kind)], "cost": {"credits": 40}}),
        ),
        None => Act::Say(answer(
            &json!({"creditBalance": 1250, "tier": {}, "usage": {}}),
        )),
    }
}

pub(crate) fn recraft(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if !seen.line.starts_with("POST ") {
        return nothing();
    }
    let kind = match &*seen.line {
        line if line.contains("vectorize") => Kind::Drawing,
        _ => Kind::Picture,
    };
    let count = seen.json()["n"].as_u64();
    takes(kind, move |_| match count {
        Some(count) => {
            json!({"data": vec![json!({"url": at(kind)}); count as usize], "credits": 40})
        }
        None => json!({"image": {"url": at(kind)}, "credits": 10}),
    })
}

pub(crate) fn bfl(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.starts_with("POST ") {
        return takes(
            kind(seen.line.contains("video")),
            |id| json!({"id": id, "cost": 5.0}),
        );
    }
    match after(seen, "get_result?id=") {
        Some(id) => asks(
            id,
            &json!({"id": id, "status": "Pending"}),
            move |kind| json!({"status": "Ready", "result": {"sample": at(kind)}}),
        ),
        None => nothing(),
    }
}

pub(crate) fn xai(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    let (body, extends) = (seen.json(), posts(seen, "/videos/extensions"));
    if posts(seen, "/videos/generations") || extends {
        let most = if extends { 10 } else { 15 };
        let fits = (1..=most).contains(&body["duration"].as_u64().unwrap_or(8));
        let own = at(Kind::Film);
        if !fits || extends != (body["video"]["url"] == *own) {
            let error = json!({"code": "invalid-argument", "error": "Argument not supported"});
            return Act::Say(status(400, &error));
        }
        return takes(Kind::Film, |id| json!({"request_id": id}));
    }
    if seen.line.starts_with("POST ") {
        return takes(
            Kind::Picture,
            |_| json!({"data": [{"b64_json": base64(picture())}]}),
        );
    }
    match after(seen, "/videos/") {
        Some(id) => Act::Ask(
            id.to_owned(),
            status(202, &json!({"status": "pending"})),
            Box::new(move |kind| {
                answer(&json!({"status": "done", "video": {"url": at(kind), "duration": 6}}))
            }),
        ),
        None => nothing(),
    }
}

pub(crate) fn luma(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/generations") {
        let film = seen.json().get("video").is_some();
        return Act::Take(
            kind(film),
            None,
            Box::new(|id| status(201, &json!({"id": id, "state": "queued"}))),
        );
    }
    match after(seen, "/generations/") {
        Some(id) => asks(
            id,
            &json!({"id": id, "state": "processing"}),
            move |kind| json!({"state": "completed", "output": [{"url": at(kind)}]}),
        ),
        None => nothing(),
    }
}

pub(crate) fn ideogram(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.starts_with("POST ") {
        return takes(Kind::Picture, |id| json!({"generation_id": id}));
    }
    match after(seen, "/generations/") {
        Some(id) => asks(
            id,
            &json!({"generation_id": id, "status": "pending"}),
            move |kind| json!({"status": "completed", "data": [{"url": at(kind), "is_image_safe": true}], "usage_cost_usd_micros": 40_000}),
        ),
        None => nothing(),
    }
}

pub(crate) fn piapi(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/api/v1/task") {
        return takes(
            Kind::Picture,
            |id| json!({"code": 200, "data": {"task_id": id, "status": "pending"}}),
        );
    }
    match after(seen, "/api/v1/task/") {
        Some(id) => asks(
            id,
            &json!({"code": 200, "data": {"status": "processing"}}),
            move |kind| json!({"code": 200, "data": {"status": "completed", "output": {"image_url": at(kind)}}}),
        ),
        None => nothing(),
    }
}

pub(crate) fn novelai(seen: &RecordedRequest) -> Act {
    if posts(seen, "/ai/encode-vibe") {
        return Act::Say(bytes("application/octet-stream", "vibe"));
    }
    if posts(seen, "/ai/generate-image") {
        return Act::Take(
            Kind::Picture,
            None,
            Box::new(|_| bytes("image/png", picture())),
        );
    }
    nothing()
}

pub(crate) fn vidu(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "2video") {
        return takes(
            Kind::Film,
            |id| json!({"task_id": id, "state": "created", "credits": 80}),
        );
    }
    match after(seen, "/ent/v2/tasks/") {
        Some(id) => asks(
            id,
            &json!({"state": "processing", "creations": []}),
            move |kind| json!({"state": "success", "credits": 80, "creations": [{"id": "c", "url": at(kind)}]}),
        ),
        None => Act::Say(answer(
            &json!({"remains": [{"type": "paid", "credit_remain": 500}]}),
        )),
    }
}

/// Both calls are posts to one path.
pub(crate) fn jimeng(seen: &RecordedRequest) -> Act {
    let (at, body) = (at(seen), seen.json());
    if seen.line.contains("Action=CVSync2AsyncSubmitTask") {
        let film = body.get("frames").is_some();
        return takes(
            kind(film),
            |id| json!({"code": 10000, "message": "Success", "data": {"task_id": id}}),
        );
    }
    let id = body["task_id"].as_str().unwrap_or_default().to_owned();
    asks(
        &id,
        &json!({"code": 10000, "message": "Success", "data": {"status": "in_queue"}}),
        move |kind| match kind {
            Kind::Film => json!({"code": 10000, "data": {"status": "done", "video_url": at(kind)}}),
            kind => json!({"code": 10000, "data": {"status": "done", "image_urls": [at(kind)]}}),
        },
    )
}

pub(crate) fn stability(seen: &RecordedRequest) -> Act {
    if seen.line.contains("/upscale/creative") {
        return takes(Kind::Picture, |id| json!({"id": id}));
    }
    if seen.line.starts_with("POST ") {
        return takes(
            Kind::Picture,
            |_| json!({"image": base64(picture()), "finish_reason": "SUCCESS", "seed": 7}),
        );
    }
    match after(seen, "/v2beta/results/") {
        Some(id) => Act::Ask(
            id.to_owned(),
            status(202, &json!({"id": id, "status": "in-progress"})),
            Box::new(|_| {
                answer(&json!({"result": base64(picture()), "finish_reason": "SUCCESS", "seed": 7}))
            }),
        ),
        None => Act::Say(answer(&json!({"credits": 25.5}))),
    }
}

/// Nova Canvas, and the models that come with their reasons.
pub(crate) fn bedrock(seen: &RecordedRequest) -> Act {
    if !seen.line.starts_with("POST ") {
        return Act::Say(answer(&json!({"asyncInvokeSummaries": []})));
    }
    let stable = seen.line.contains("stability.");
    takes(Kind::Picture, move |_| {
        let mut body = json!({"images": [base64(picture())]});
        if stable {
            body["seeds"] = json!([7]);
            body["finish_reasons"] = json!([null]);
        }
        body
    })
}

/// It gives the tokens as well.
pub(crate) fn vertex(seen: &RecordedRequest) -> Act {
    if posts(seen, "/token") || posts(seen, "/token/") {
        return Act::Say(answer(
            &json!({"access_token": "ya29.passing", "expires_in": 3599, "token_type": "Bearer"}),
        ));
    }
    if seen.line.ends_with(":generateContent") {
        return google(seen);
    }
    if seen.line.ends_with(":predict") {
        return takes(
            Kind::Picture,
            |_| json!({"predictions": [{"mimeType": "image/png", "bytesBase64Encoded": base64(picture())}]}),
        );
    }
    if seen.line.ends_with(":predictLongRunning") {
        return takes(
            Kind::Film,
            |id| json!({"name": format!("projects/p/operations/{id}")}),
        );
    }
    if seen.line.ends_with(":fetchPredictOperation") {
        let name = seen.json()["operationName"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let id = name.rsplit('/').next().unwrap_or_default().to_owned();
        return asks(&id, &json!({"name": name}), move |_| {
            json!({"name": name, "done": true, "response": {"videos": [
                {"mimeType": "video/mp4", "bytesBase64Encoded": base64(film())}]}})
        });
    }
    nothing()
}

pub(crate) fn new_api(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/v1/video/generations") {
        return takes(
            Kind::Film,
            |id| json!({"id": id, "task_id": id, "object": "video", "status": "queued", "progress": 0}),
        );
    }
    if seen.line.contains("/v1/images/") {
        return takes(
            Kind::Picture,
            move |_| json!({"created": 1, "data": [{"url": at(Kind::Picture)}]}),
        );
    }
    match after(seen, "/v1/video/generations/") {
        Some(id) => asks(
            id,
            &json!({"code": "success", "data": {"task_id": id, "status": "IN_PROGRESS", "progress": "30%"}}),
            move |kind| json!({"code": "success", "data": {"status": "SUCCESS", "progress": "100%", "quota": 250_000, "result_url": at(kind)}}),
        ),
        None => Act::Say(answer(&json!({"object": "list", "data": []}))),
    }
}

/// The interface at a service that has another name for it.
pub(crate) fn renamed_relay(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if posts(seen, "/midjourney/v1/imagine") {
        return takes(
            Kind::Picture,
            |id| json!({"status": "SUCCESS", "message": "", "data": {"jobId": id}}),
        );
    }
    match after(seen, "/midjourney/v1/fetch?jobId=") {
        Some(id) => asks(
            id,
            &json!({"status": "ON_QUEUE", "jobId": id, "data": {"progress": "40"}}),
            move |kind| {
                let images = vec![at(kind); 4];
                json!({"status": "SUCCESS", "data": {"progress": "100", "quota": 6, "cdnImage": at(kind), "images": images}})
            },
        ),
        None => nothing(),
    }
}
