//! A large file flows through the service without being held in its memory, from local files and from an S3 server.

use atelier_engine::Keyring;
use atelier_engine::sign::AddressSigner;
use atelier_store::{Asset, Options as StoreOptions, Store};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::asset_store::AssetStore;
use crate::gateway::{Gateway, client, send};

each_asset_store!(three_hundred_megabytes_flow_through_the_service_in_bounded_memory);

const MASTER_KEY: &str = "a master key for tests";
const KEY: &str = "out/large/1-0.mp4";
const PIECE: usize = 256 * 1024;
const PIECES: u64 = 1_200;
const SIZE: u64 = PIECES * PIECE as u64;
/// What handing it out may add to the memory of the service, in KiB.
const MOST_KIB: u64 = 30 * 1024;

/// Puts the file into the asset store and its row into the database; its signed address.
async fn place(gateway: &Gateway, asset_store: &AssetStore) -> String {
    let pieces = stream::iter(0..PIECES)
        .map(|number| Ok::<_, std::io::Error>(Bytes::from(vec![number as u8; PIECE])));
    let stored = asset_store.files(gateway).put_stream(KEY, pieces).await;
    assert_eq!(stored.expect("stored"), SIZE);
    let (created_ms, expires_ms) = (1_000, 4_000_000_000_000);
    let row = Asset {
        key: KEY.into(),
        job_id: String::new(),
        account_id: String::new(),
        media_type: "video/mp4".into(),
        bytes: SIZE as i64,
        expires_ms,
        created_ms,
    };
    let store = Store::open(&gateway.database(), StoreOptions::default()).await;
    let store = store.expect("the database");
    store.assets().note_inputs(vec![row]).await.expect("noted");
    store.close().await;
    let master = Sha256::digest(MASTER_KEY.as_bytes()).into();
    let key = ("1".to_owned(), Keyring::new(master).first_address_key());
    let query = AddressSigner::new(vec![key]).sign(KEY, expires_ms / 1000);
    format!("{}/assets/{KEY}?{query}", gateway.base_url)
}

async fn three_hundred_megabytes_flow_through_the_service_in_bounded_memory(
    asset_store: AssetStore,
) {
    let gateway = asset_store
        .options()
        .set("MASTER_KEY", MASTER_KEY)
        .spawn()
        .await;
    let url = place(&gateway, &asset_store).await;
    let client = client();
    // A first part, so that the set-up of a client is not measured.
    let part = client
        .get(&url)
        .header("Range", format!("bytes={}-", SIZE - 10));
    let part = send(part).await;
    assert_eq!((part.status.as_u16(), part.bytes.len()), (206, 10));
    let before_kib = gateway.peak_memory_kib();
    let begin = Instant::now();
    let response = client.get(&url).send().await.expect("an answer");
    assert_eq!(response.content_length(), Some(SIZE));
    let mut pieces = response.bytes_stream();
    let mut seen = 0_u64;
    while let Some(piece) = pieces.next().await {
        let piece = piece.expect("bytes");
        assert_eq!(piece[0], (seen / PIECE as u64) as u8, "at byte {seen}");
        seen += piece.len() as u64;
    }
    assert_eq!(seen, SIZE);
    let grown_kib = gateway.peak_memory_kib().saturating_sub(before_kib);
    eprintln!(
        "{} MB in {:?}, peak memory +{grown_kib} KiB",
        SIZE / 1_000_000,
        begin.elapsed()
    );
    assert!(grown_kib < MOST_KIB, "memory grew by {grown_kib} KiB");
    asset_store
        .files(&gateway)
        .delete(KEY)
        .await
        .expect("deleted");
}
