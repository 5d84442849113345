//! Nova Canvas and Stability's models at Bedrock, against a server that speaks its format.

use atelier_backends::{Class, Fault};
use atelier_media::{Limits, Picture, decode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, json as answer, made, page, png, status, with_header, worker_with_key,
};
use crate::story::Story;
use crate::studio::{Studio, photo};

const KEYS: &str = "AKIDEXAMPLE:very-secret-part";

fn painter() -> Stand {
    Stand::new(|seen| {
        let image = base64(png(1024, 1024, [9, 99, 9, 255]));
        match &*seen.line {
            line if line.contains("stability.") => {
                answer(&json!({"images": [image], "seeds": [42], "finish_reasons": [null]}))
            }
            line if line.starts_with("POST") => answer(&json!({"images": [image]})),
            _ => answer(&json!({"asyncInvokeSummaries": []})),
        }
    })
}

/// A picture inside a body.
fn picture(sent: &Value, pointer: &str) -> Picture {
    let text = sent.pointer(pointer).and_then(Value::as_str);
    let bytes = STANDARD.decode(text.expect(pointer)).expect("base64");
    decode(&bytes, Limits::default()).expect("a picture")
}

#[tokio::test]
async fn each_task_of_nova_canvas_has_its_parameters() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = worker_with_key(
        "bedrock",
        &stand.url(""),
        KEYS,
        json!({"quality": "premium"}),
    );
    let worker = worker.expect("good settings");
    worker.probe().await.expect("well");
    let image = studio.host("a.png", &photo(256, 256, 90));
    let mask = studio.host(
        "m.png",
        &Picture::drawn(
            256,
            256,
            |x, _| if x < 128 { [255; 4] } else { [0, 0, 0, 255] },
        ),
    );
    let wishes = [
        (
            "design.generations",
            json!({"prompt": "a fox", "negative_prompt": "people", "size": "1365x1024"}),
            "TEXT_IMAGE",
        ),
        (
            "design.image_to_image",
            json!({"image": image, "prompt": "x", "strength": 0.25}),
            "IMAGE_VARIATION",
        ),
        (
            "design.inpaint",
            json!({"image": image, "mask": mask, "prompt": "x"}),
            "INPAINTING",
        ),
        (
            "design.remove_background",
            json!({"image": image}),
            "BACKGROUND_REMOVAL",
        ),
    ];
    for (operation, body, kind) in wishes {
        let (work, _) = studio.work(operation, &body, None);
        let output = made(&worker, work).await;
        assert!(
            !output
                .unwrap_or_else(|fault| panic!("{operation}: {fault:?}"))
                .files
                .is_empty()
        );
        let asked = stand.asked("POST").pop().expect("a call");
        assert_eq!(asked.line, "POST /model/amazon.nova-canvas-v1%3A0/invoke");
        let signed = "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/";
        assert!(
            asked.head.contains(signed) && asked.head.contains("/us-east-1/bedrock/aws4_request")
        );
        assert!(!asked.head.contains("very-secret"));
        let sent = asked.json();
        assert_eq!(sent["taskType"], kind);
        match kind {
            "TEXT_IMAGE" => assert_eq!(
                sent,
                json!({"taskType": kind, "textToImageParams": {"text": "a fox", "negativeText": "people"},
                    "imageGenerationConfig": {"numberOfImages": 1, "quality": "premium", "width": 1376, "height": 1024}})
            ),
            "IMAGE_VARIATION" => {
                assert_eq!(sent["imageVariationParams"]["similarityStrength"], 0.8);
            }
            "INPAINTING" => {
                // Black is where it works.
                let mask = picture(&sent, "/inPaintingParams/maskImage");
                assert_eq!(mask.pixel(10, 10)[0], 0);
                assert_eq!(mask.pixel(200, 10)[0], 255);
            }
            _ => assert!(sent.get("imageGenerationConfig").is_none()),
        }
    }
}

#[tokio::test]
async fn models_of_stability_are_sent_their_own_fields() {
    let (stand, studio) = (painter(), Studio::new());
    let settings = json!({"image_model": "stability.stable-image-ultra-v1:1",
        "models": {"design.inpaint": "us.stability.stable-image-inpaint-v1:0",
            "design.remove_background": "us.stability.stable-image-remove-background-v1:0"}});
    let worker = stand.worker_under("bedrock", "", settings);
    let image = studio.host("a.png", &photo(256, 256, 90));
    let mask = studio.host("m.png", &Picture::filled(256, 256, [255; 4]));
    for (operation, body, fields) in [
        (
            "design.generations",
            json!({"prompt": "a fox", "size": "1536x1024"}),
            vec!["aspect_ratio", "output_format", "prompt"],
        ),
        (
            "design.image_to_image",
            json!({"image": image, "prompt": "x", "strength": 0.25}),
            vec!["image", "mode", "output_format", "prompt", "strength"],
        ),
        (
            "design.inpaint",
            json!({"image": image, "mask": mask, "prompt": "x"}),
            vec!["grow_mask", "image", "mask", "output_format", "prompt"],
        ),
        (
            "design.remove_background",
            json!({"image": image}),
            vec!["image", "output_format"],
        ),
    ] {
        let (work, _) = studio.work(operation, &body, None);
        let output = made(&worker, work).await;
        output.unwrap_or_else(|fault| panic!("{operation}: {fault:?}"));
        let asked = stand.asked("POST").pop().expect("a call");
        // A key of Bedrock's own is no pair.
        assert!(asked.head.contains("authorization: Bearer sk-very-secret"));
        let sent = asked.json();
        let mut names: Vec<&str> = sent
            .as_object()
            .expect("a body")
            .keys()
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        assert_eq!(names, fields, "{operation}");
    }
}

fn error(code: u16, kind: &str, text: &str) -> Reply {
    let reply = status(code, &json!({"message": text}));
    with_header(
        reply,
        &format!("x-amzn-errortype: {kind}:http://internal.amazon.com/x/"),
    )
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "bedrock",
        settings: Value::Null,
        operation: "imgmodel.chat",
        body: json!({"prompt": "x"}),
    };
    story
        .refusals(vec![
            (
                error(400, "ValidationException", "This request has been blocked by our content filters."),
                Class::Reject,
            ),
            (error(400, "ValidationException", "Malformed input request"), Class::BadRequest),
            (
                error(400, "ValidationException", "The provided model identifier is invalid."),
                Class::Model,
            ),
            (
                error(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
                Class::Model,
            ),
            (
                error(403, "AccessDeniedException", "User: arn:x is not authorized to perform: bedrock:InvokeModel"),
                Class::Dead,
            ),
            (
                error(403, "UnrecognizedClientException", "The security token included in the request is invalid."),
                Class::Dead,
            ),
            (error(403, "InvalidSignatureException", "does not match"), Class::Dead),
            (error(404, "ResourceNotFoundException", "not found"), Class::Model),
            (error(408, "ModelTimeoutException", "x"), Class::Retry),
            (error(424, "ModelErrorException", "x"), Class::Retry),
            (error(429, "ThrottlingException", "Too many requests"), Class::Rate),
            (error(400, "ServiceQuotaExceededException", "x"), Class::Rate),
            (error(500, "InternalServerException", "x"), Class::Retry),
            (
                answer(&json!({"images": [], "error": "All of the generated images have been blocked by our content filters."})),
                Class::Reject,
            ),
            (
                answer(&json!({"images": [], "seeds": [], "finish_reasons": ["Filter reason: prompt"]})),
                Class::Reject,
            ),
        ])
        .await;
}

#[tokio::test]
async fn the_probe_takes_keys_that_may_not_list_anything() {
    let denied =
        "User: arn:x is not authorized to perform: bedrock:ListAsyncInvokes on resource: *";
    for (reply, class) in [
        (answer(&json!({"asyncInvokeSummaries": []})), None),
        (error(403, "AccessDeniedException", denied), None),
        (
            error(403, "UnrecognizedClientException", "invalid"),
            Some(Class::Dead),
        ),
        (page(503), Some(Class::Retry)),
    ] {
        let stand = Stand::always(reply);
        let probed = worker_with_key("bedrock", &stand.url(""), KEYS, Value::Null);
        let probed = probed.expect("settings").probe().await;
        assert_eq!(probed.err().map(|fault: Fault| fault.class), class);
    }
}
