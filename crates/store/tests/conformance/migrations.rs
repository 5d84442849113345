//! Migrations: shipped ones stay as they are, and what is said to widen takes nothing away.

use std::fmt::Write;

use atelier_store::migrate::{MIGRATIONS, is_widening};
use sha2::{Digest, Sha256};

/// SHA-256 of every migration that has been shipped. Lines are only ever added.
const SHIPPED: &[(&str, &str)] = &[
    (
        "0001_accounts",
        "f26423fcc492198d441197363ec3115b58061d644b1868bd0f06e6e1091f768f",
    ),
    (
        "0002_jobs",
        "486c7cfa8b9d24f5bd5af68c46a3317b18a16afff218433af7bcc35fc1b6d410",
    ),
    (
        "0003_ledger",
        "ef468962c6f3f9b425dffb59f54eeb0aaaab9e7c2a805de45127f652fc740f6e",
    ),
    (
        "0004_deliveries",
        "adfb2e38ac4e931bff6c6e0a6c372074b6a59ecfe53836b776776af9d9eb92e4",
    ),
    (
        "0005_house",
        "b1e4dd4cae19f88811440f9783e6f5199000d9a537c1bffa5273764f2b338e06",
    ),
    (
        "0007_retention",
        "3a0f419315b8269164d6cf2e31260cac85bff818aaf700428e1ea2da8d6cf298",
    ),
    (
        "0008_workers",
        "a111f833136abec89234c862ec3134ffb8a886e8298fb851829eb7b906a0726a",
    ),
    (
        "0009_tries",
        "a83489e3fe5e3649519a8bc9284f4b108c366ed67e58b119e982be424f68c085",
    ),
    (
        "0010_operators",
        "882f3f6f49bb5cf2bec8bbc755810aa9e6b0495fc3526cd43c47ee2c297e3943",
    ),
    (
        "0011_written",
        "7cc4cf2ad5df2e3ba84a9cb3d639fcc54a5bb34595c125ab04e3c9a198478f41",
    ),
    (
        "0012_lanes",
        "d9805c4cb55a01821989b5f9467dc9b23ac04e968e7fb929171d223071d89af7",
    ),
    (
        "0013_tallies",
        "cb3b948d0098db30213c541cdea3d07eba673a342b8282fd635a63debc36fb5e",
    ),
    (
        "0014_open",
        "ddead4a8bf3aab57d33d0c19689a0475db08340c54ff1ee1f1ae99ef1b795809",
    ),
    (
        "0015_audit_chain",
        "74a051c067d1faf04aae8bc6f64511475e4972a1aeb2f5bad5c4df38d52b2201",
    ),
    (
        "0016_sessions",
        "07f140d7165d2f886918cba31a250228cdbcc1d61067b9169f7e3efbfbb02ecd",
    ),
    (
        "0017_switches",
        "186ea7265c56ae467092ff2e24559dd6132b6142045a981ccb69f2c9e64d096c",
    ),
    (
        "0018_faults",
        "2067db8a3b76ff56ce69e7e3d679dc95cfde7fa895c1c95daeb4ec19660fe386",
    ),
    (
        "0019_looking",
        "ef6fee8094c21ba04edfbf05b4261db59890491f422ebc07557a32f167da251b",
    ),
    (
        "0020_archive",
        "8a1abb7d3d35f31c8683e68333e480c9d02f8228526151f0b761c80a4057264d",
    ),
    (
        "0021_uploads",
        "f3d892231520c03399e6db91e99c32d5f4f5bbd4095c2717ec8f98320f3686e8",
    ),
    (
        "0022_bulks",
        "f569481f3e68d2df1bc975aab70b2f9391e26b5ac45effbf96961684f87269f5",
    ),
    (
        "0023_ended",
        "8fb927496204d9abc8b9e98ed520cd690ec23f3ae5728e4fe5ea44243bf724d9",
    ),
    (
        "0024_deleted",
        "c9b611b0b71316aa56f107ad2cb179e58c3bdbe332db2bb27d0465025420ae9e",
    ),
    (
        "0025_costs",
        "f75a08ae6d88ba8765e64f60690b95c04cc463f04894c19ca0c8165d72f65ae8",
    ),
    (
        "0026_shares",
        "42c164ddbf41dc5044c81e51f7aa9d29d0d422d997d50d7331a00481e6cb360b",
    ),
    (
        "0028_widens",
        "c13c76cd9f0f0dc0fa002661087bb91434880e311132a542d4cea82ddad6e502",
    ),
    (
        "0029_listed",
        "595400bc62d060607f1622cc9dfc87c91c4cf480938754b8542fdf14423a97c6",
    ),
    (
        "0030_totals",
        "0b02998e1cb9689180e009a5a9fa548a664b7d58356ed5404e6288bc0412ec43",
    ),
    (
        "0031_uncounted",
        "02e76215cc6b77d297d390923f2702fac4a24614581908a7760b19fa6d7666d9",
    ),
    (
        "0032_clock",
        "f1b71ee6265525e170903570c678f7c9b59278d2c6f3e08e1e87a6c52b78241b",
    ),
    (
        "0036_words",
        "6cbab6fdaa6f4189739617e73ea291f811500c0edfe5b8dc2ab1c6565cc5f7b6",
    ),
    (
        "0037_failed_words",
        "5ea80b68ca5dab13457e3622d1118e7d8847a930860d5f2ec37c04499dc34085",
    ),
    (
        "0038_account_acts",
        "1bb0bf00e98b051d9da3fa7994d718e8048c2ad2d1faf997e9b02fcda66d8220",
    ),
    (
        "0039_batched",
        "64446afc10e2a0ec677f997d2e42f300d82dcc5ed4265c171e748baed43ccc8e",
    ),
    (
        "0041_bound_sessions",
        "d06d704cc01c7da3e1cf9323b17e3703d29e78efe2f9635045b249f73c0e36ae",
    ),
    (
        "0042_words_removed",
        "0f50107224e1ce9c2f669b5006264cca51568d4d8686552ca3d087d408dbd0a0",
    ),
    (
        "0043_models",
        "96b31a30bb122ce1beace9149c825747991e24b3b168e592067da156556457ff",
    ),
    (
        "0044_keys",
        "df43802a741a24cca3b9c67556f8d2351c61d11721b2bb095416d72e55869172",
    ),
    (
        "0045_groups",
        "65d2f80de7c7b121768ee5981df1b2dfaa8cc9a0fdf411448cfbc7725b4ed5f0",
    ),
    (
        "0046_takings",
        "e5abb3161e5db2502f0b4b1625b430342978dc63553ce49b8cd4475307e7c9f1",
    ),
    (
        "0052_notes_and_links",
        "1d9106158a465e18dc53d82f47863069f9a669a8157bcaffa3eec3c0fadec3d6",
    ),
    (
        "0053_links_found",
        "feb8314f1a577f51ad416bbe063ff9c561f452b692845886d2a9aef0de6b225e",
    ),
    (
        "0054_credits",
        "da04a4bbfb96847accdbf5ddb7b6dfc041beebe601354620898b80fd8ce60ab4",
    ),
    (
        "0055_vouchers",
        "a6f4b323bed762fb0f54a9924ebd528400331177e2e4b064bf145d86e3b9a17a",
    ),
    (
        "0056_plans",
        "2b56dc728fe6f7a05c08b4465d4df3665124db0ddbdeaa7afadd746d15159b48",
    ),
    (
        "0057_payments",
        "807fb7769b292bb21b08b1eaafbd96685e1a2b10caabbf0982bcd68ce32820ec",
    ),
    (
        "0058_credit_limits",
        "1ec70695a4340520a6812a01fbed5c0e1538335e68a4f70d656d0060f855c227",
    ),
    (
        "0059_topups",
        "2d16dbdf60b1e77d20df9c44be0af0579146796d0cef556a5e0ed1b088edca48",
    ),
    (
        "0060_receipts",
        "da0efef1fc3a7a698088bf8f38304eb695c35358a3ceb054554459832de3ea60",
    ),
    (
        "0080_imports",
        "fb85811d792e4b5d31199bd7e098ea10c9bac650d3e040686f250ecba292baa1",
    ),
    (
        "0081_rehearsal",
        "bae711720ec4a6e40a2ef4d50a655c75a8ab9301565ec8b83d57b14e5d00d9dd",
    ),
];

#[test]
fn shipped_migrations_never_change() {
    let hex = |text: &str| {
        Sha256::digest(text.as_bytes())
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").expect("a text takes everything");
                hex
            })
    };
    let digests: Vec<(&str, String)> = MIGRATIONS
        .iter()
        .map(|(name, text)| (*name, hex(text)))
        .collect();
    let digests: Vec<(&str, &str)> = digests
        .iter()
        .map(|(name, digest)| (*name, digest.as_str()))
        .collect();
    assert_eq!(digests, SHIPPED);
}

/// The columns that migrations which widen have added, each with its table: older programs do not know them.
fn added_columns() -> Vec<(&'static str, &'static str)> {
    let wider = MIGRATIONS.iter().filter(|(_, text)| is_widening(text));
    let lines = wider.flat_map(|(_, text)| text.lines());
    let added = lines.filter_map(|line| {
        let (table, column) = line
            .strip_prefix("ALTER TABLE ")?
            .split_once(" ADD COLUMN ")?;
        Some((table, column.split_whitespace().next()?))
    });
    added.collect()
}

/// What is said to widen adds tables, indexes, columns that a program need not fill, and triggers that fill those tables and
/// columns, or says what a server is to count for its plans; nothing else.
#[test]
fn a_migration_that_widens_takes_nothing_away() {
    let columns = added_columns();
    for (name, text) in MIGRATIONS {
        if !is_widening(text) {
            continue;
        }
        let code: String = text
            .lines()
            .filter(|line| !line.starts_with("--"))
            .collect::<Vec<_>>()
            .join("\n");
        let tables: Vec<&str> = code
            .split("CREATE TABLE ")
            .skip(1)
            .filter_map(|rest| rest.split_whitespace().next())
            .collect();
        for statement in code.split(';').map(str::trim).filter(|one| !one.is_empty()) {
            let is_trigger = statement.starts_with("CREATE TRIGGER ");
            let body = statement.split_once("BEGIN\n");
            let ends = ["END", "END $$", "END IF", "RETURN NULL", "RETURN OLD"];
            if is_trigger && body.is_none() || ends.contains(&statement) {
                continue;
            }
            let statement = match body {
                Some((_, first)) if is_trigger || statement.contains("CREATE FUNCTION ") => {
                    first.trim()
                }
                _ => statement,
            };
            let fills = tables.iter().any(|table| {
                statement.starts_with(&format!("INSERT INTO {table} "))
                    || statement.starts_with(&format!("UPDATE {table} "))
            });
            // One of those columns and no other.
            let fills_column = columns.iter().any(|(table, column)| {
                let begin = format!("UPDATE {table} SET {column} = ");
                statement.starts_with(&begin) && !statement.contains(',')
            });
            let adds_column = statement.starts_with("ALTER TABLE")
                && statement.contains(" ADD COLUMN ")
                && (!statement.contains("NOT NULL") || statement.contains("DEFAULT"));
            let adds = ["CREATE TABLE", "CREATE INDEX"]
                .iter()
                .any(|begin| statement.starts_with(begin));
            let counts =
                statement.starts_with("ALTER TABLE") && statement.contains(" SET STATISTICS ");
            // A trigger may give way to one of the same name.
            let replaces = statement
                .strip_prefix("DROP TRIGGER ")
                .and_then(|rest| rest.split_whitespace().next())
                .is_some_and(|name| code.contains(&format!("CREATE TRIGGER {name} ")));
            // Nothing but those tables keeps its rows.
            let keeps = statement.starts_with("IF ")
                && statement.contains("RAISE EXCEPTION")
                && tables.iter().any(|table| {
                    let trigger =
                        format!(" ON {table} FOR EACH ROW EXECUTE FUNCTION keep_{table}()");
                    code.contains(&trigger)
                });
            assert!(
                adds || adds_column || fills || fills_column || counts || replaces || keeps,
                "{name}: {statement}"
            );
        }
    }
}
