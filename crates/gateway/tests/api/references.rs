//! Pictures that a prompt's flags refer to are fetched and change what is drawn.

use serde_json::json;

use crate::backends::finished;
use crate::gateway::Gateway;

#[tokio::test]
async fn a_reference_in_a_flag_is_fetched_and_moves_the_picture() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let drawn = async |prompt: &str| {
        let body = json!({ "prompt": prompt });
        let answer = gateway.post(&account.key, "/artgen/v1/imagine", body).await;
        let id = answer.json["data"]["jobId"].as_str().expect("a job");
        let job = finished(&gateway, &account.key, id).await;
        assert_eq!(job["status"], "SUCCESS", "{job}");
        let path = format!("/artgen/v1/fetch?jobId={id}");
        let fetched = gateway.get(&account.key, &path).await.json;
        let url = fetched["originImage"].as_str().expect("an image");
        let file = reqwest::get(url).await.expect("an answer");
        let bytes = file.bytes().await.expect("a body");
        (url.to_owned(), bytes)
    };
    let (reference, _) = drawn("a lighthouse at dusk, synthwave --seed 3").await;
    let (_, plain) = drawn("a fox --seed 7").await;
    let (_, again) = drawn("a fox --seed 7").await;
    let mean = |bytes: &[u8]| {
        let picture = atelier_media::decode(bytes, atelier_media::Limits::default());
        picture.expect("a picture").mean_colour()
    };
    let distance = |one: [u8; 3], two: [u8; 3]| -> u32 {
        let pairs = one.into_iter().zip(two);
        pairs.map(|(a, b)| u32::from(a.abs_diff(b))).sum()
    };
    assert_eq!(mean(&plain), mean(&again), "the seed alone decides");
    for (flag, least) in [("sref", 30), ("cref", 3)] {
        let (_, moved) = drawn(&format!("a fox --seed 7 --{flag} {reference}")).await;
        let moved = distance(mean(&plain), mean(&moved));
        assert!(moved >= least, "--{flag} moves the mean colour by {moved}");
    }
}
