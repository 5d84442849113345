#[path = "embedded/studio.rs"]
#[allow(dead_code)]
mod studio;

use studio::*;
use atelier_contract::Role;
use serde_json::json;

fn save(studio: &Studio, job: &atelier_contract::Job, name: &str) {
    for (i, f) in job.output().unwrap().files.iter().enumerate() {
        if f.role == Role::Small {
            continue;
        }
        let ext = if f.media_type.contains("mp4") {
            "mp4"
        } else if f.media_type.contains("svg") {
            "svg"
        } else {
            "png"
        };
        std::fs::create_dir_all("/tmp/look").unwrap();
        std::fs::write(format!("/tmp/look/{name}-{i}.{ext}"), studio.read(&f.key)).unwrap();
    }
    std::fs::write(
        format!("/tmp/look/{name}.json"),
        job.output().unwrap().notes.to_string(),
    )
    .unwrap();
}
#[tokio::test]
#[ignore]
async fn look_artgen() {
    let studio = Studio::new();
    let t = std::time::Instant::now();
    let g = studio
        .finish(
            "artgen.imagine",
            &json!({"prompt":"a lighthouse by the sea at sunset, two boats --ar 3:2 --seed 3"}),
            None,
        )
        .await;
    eprintln!("imagine {:?}", t.elapsed());
    save(&studio, &g, "imagine");
    let t = std::time::Instant::now();
    let s = studio
        .finish(
            "artgen.action",
            &json!({"jobId": g.id, "action":"upsample2"}),
            Some(&g),
        )
        .await;
    eprintln!("upsample {:?}", t.elapsed());
    save(&studio, &s, "upsample2");
    for a in [
        "zoom_out_2",
        "pan_left",
        "make_square",
        "low_variation",
        "high_variation",
    ] {
        let t = std::time::Instant::now();
        let x = studio
            .finish(
                "artgen.action",
                &json!({"jobId": s.id, "action":a}),
                Some(&s),
            )
            .await;
        eprintln!("{a} {:?}", t.elapsed());
        save(&studio, &x, a);
    }
    let (w, h) = (s.file(0).unwrap().width, s.file(0).unwrap().height);
    let m = atelier_media::Mask::rectangle(w, h, [w / 8, h / 8, w / 3, h / 2]);
    let m = atelier_media::Picture::drawn(w, h, |x, y| {
        let v = m.share(x, y);
        [v, v, v, 255]
    });
    let t = std::time::Instant::now();
    let x = studio
        .finish(
            "artgen.inpaint",
            &json!({"jobId": s.id, "mask": base64(&m), "prompt":"a red hot air balloon"}),
            Some(&s),
        )
        .await;
    eprintln!("inpaint {:?}", t.elapsed());
    save(&studio, &x, "inpaint");
    let b: Vec<_> = [photo(400, 300, 200), studio.picture(&s, Role::Main, 0)]
        .iter()
        .map(data_uri)
        .collect();
    let x = studio
        .finish("artgen.blend", &json!({"imgBase64Array": b}), None)
        .await;
    save(&studio, &x, "blend");
    let u = studio
        .finish(
            "artgen.action",
            &json!({"jobId": x.id, "action":"upsample1"}),
            Some(&x),
        )
        .await;
    let t = std::time::Instant::now();
    let x = studio
        .finish(
            "artgen.action",
            &json!({"jobId": u.id, "action":"zoom_out_1_5"}),
            Some(&u),
        )
        .await;
    eprintln!("zoom foreign {:?}", t.elapsed());
    save(&studio, &x, "blend-zoom");
}
#[tokio::test]
#[ignore]
async fn look_films() {
    let studio = Studio::new();
    let t = std::time::Instant::now();
    let g = studio.finish("motion.generations", &json!({"userPrompt":"a sailing boat on the sea at sunset, waves", "aspectRatio":"16:9"}), None).await;
    eprintln!("motion scene {:?}", t.elapsed());
    save(&studio, &g, "motion");
    let t = std::time::Instant::now();
    let g = studio.finish("vidgen.generations", &json!({"model":"video-2","prompt":"a red fox in a meadow", "orientation":"landscape"}), None).await;
    eprintln!("vidgen 10s {:?}", t.elapsed());
    save(&studio, &g, "vidgen");
    let t = std::time::Instant::now();
    let url = studio.host("s.png", &photo(640,480,150));
    let g = studio.finish("artgen.video.submit", &json!({"prompt":"x","imageUrl":url,"bs":1,"resolution":"hd"}), None).await;
    eprintln!("artgen video 1 {:?}", t.elapsed());
    save(&studio, &g, "artvideo");
}
#[tokio::test]
#[ignore]
async fn look_pictures() {
    let studio = Studio::new();
    let t = std::time::Instant::now();
    let g = studio.finish("imgmodel.generations", &json!({"model":"image-1","prompt":"a red apple","background":"transparent","size":"1024x1024"}), None).await;
    eprintln!("transparent {:?}", t.elapsed());
    save(&studio, &g, "transparent");
    let base = std::fs::read("/tmp/look/upsample2-0.png").unwrap();
    let url = studio.host_bytes("up.png", base.into());
    for (n, b) in [("design.replace_background", json!({"image":url,"prompt":"a snowy forest at night"})),
        ("design.image_to_image", json!({"image":url,"prompt":"watercolor castle","strength":0.5,"n":1})),
        ("design.remove_background", json!({"image":url})), ("design.crisp_upscale", json!({"image":url})), ("design.creative_upscale", json!({"image":url})), ("design.vectorize", json!({"image":url}))] {
        let t = std::time::Instant::now();
        let g = studio.finish(n, &b, None).await;
        eprintln!("{n} {:?}", t.elapsed());
        save(&studio, &g, n);
    }
    let p = photo(640, 480, 140);
    let part = atelier_media::Mask::rectangle(640, 480, [60, 60, 260, 300]);
    let drawing = atelier_media::Picture::drawn(640, 480, |x, y| { let s = part.share(x, y); [s, s, s, 255] });
    let g = studio.finish("design.inpaint", &json!({"image": studio.host("p.png",&p), "mask": studio.host("m.png",&drawing), "prompt":"a white cat","n":1}), None).await;
    save(&studio, &g, "inpaint-foreign");
}
