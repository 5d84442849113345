//! Who signs: a certificate chain and its key, tried out before they are believed.

use std::io::Cursor;
use std::sync::Arc;

use c2pa::validation_results::ValidationState;
use c2pa::{BoxedSigner, Builder, Context, Ingredient as Named, Reader, SigningAlg, create_signer};

use super::statement::{Act, Chain, CredentialsError, Ingredient, Statement};
use super::words;
use crate::header::header;
use crate::{Encoding, Picture, encode};

/// Nothing is asked of the network, nothing is added that nobody asked for, and what was just signed is not read again.
const SETTINGS: &str = r#"{
    "verify": {
        "verify_after_sign": false,
        "verify_trust": false,
        "ocsp_fetch": false,
        "remote_manifest_fetch": false
    },
    "builder": {
        "thumbnail": { "enabled": false },
        "actions": {
            "auto_created_action": { "enabled": false },
            "auto_opened_action": { "enabled": false },
            "auto_placed_action": { "enabled": false }
        }
    },
    "core": { "decode_identity_assertions": false, "allowed_network_hosts": [] }
}"#;
/// What keys may be, the usual ones first.
const ALGORITHMS: [SigningAlg; 7] = [
    SigningAlg::Es256,
    SigningAlg::Ed25519,
    SigningAlg::Es384,
    SigningAlg::Es512,
    SigningAlg::Ps256,
    SigningAlg::Ps384,
    SigningAlg::Ps512,
];
const MP4: &str = "video/mp4";

/// A certificate and its key, ready to sign manifests.
pub struct Signatory {
    signer: BoxedSigner,
    context: Arc<Context>,
    subject: String,
}

impl std::fmt::Debug for Signatory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Signatory").field(&self.subject).finish()
    }
}

impl Signatory {
    /// Whether this build can sign.
    pub const BUILT: bool = true;

    /// Takes a chain and its key, if they can sign: a small picture is signed and read again.
    pub fn new(chain: &Chain) -> Result<Self, CredentialsError> {
        let unusable = |error: c2pa::Error| CredentialsError::Unusable(error.to_string());
        let context = Context::new().with_settings(SETTINGS).map_err(unusable)?;
        let context = context.into_shared();
        let mut why = "the key is none that can sign".to_owned();
        for algorithm in ALGORITHMS {
            let (certificates, key) = (chain.certificates.as_bytes(), chain.key.as_bytes());
            let signer = create_signer::from_keys(certificates, key, algorithm, None);
            let Ok(signer) = signer else { continue };
            let mut signatory = Self {
                signer,
                context: Arc::clone(&context),
                subject: String::new(),
            };
            match signatory.tried() {
                Ok(subject) => {
                    signatory.subject = subject;
                    return Ok(signatory);
                }
                Err(error) => why = error.to_string(),
            }
        }
        Err(CredentialsError::Unusable(why))
    }

    /// Whom the certificate names.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// A file of a type with what is said of it and what went into it, signed.
    pub fn sign(
        &self,
        file: &[u8],
        media_type: &str,
        statement: &Statement<'_>,
        ingredients: &[Ingredient<'_>],
    ) -> Result<Vec<u8>, CredentialsError> {
        let unsigned = |error: c2pa::Error| CredentialsError::Unsigned(error.to_string());
        let told = words::manifest(statement, media_type, ingredients);
        let mut builder = Builder::from_shared_context(&self.context)
            .with_definition(told.to_string())
            .map_err(unsigned)?;
        for (number, one) in ingredients.iter().enumerate() {
            self.add(&mut builder, number, one)?;
        }
        let mut signed = Cursor::new(Vec::with_capacity(file.len() + 32 * 1024));
        builder
            .sign(
                self.signer.as_ref(),
                media_type,
                &mut Cursor::new(file),
                &mut signed,
            )
            .map_err(unsigned)?;
        Ok(signed.into_inner())
    }

    /// Adds an ingredient with the manifest it carries; one that cannot be read is only named.
    fn add(
        &self,
        builder: &mut Builder,
        number: usize,
        one: &Ingredient<'_>,
    ) -> Result<(), CredentialsError> {
        let unsigned = |error: c2pa::Error| CredentialsError::Unsigned(error.to_string());
        let media_type = one.file.map(|file| {
            let header = header(file);
            header.map_or(MP4, |header| header.format.media_type())
        });
        let told = words::ingredient(number, one, media_type).to_string();
        if let Some((file, media_type)) = one.file.zip(media_type) {
            let mut probe = Builder::from_shared_context(&self.context);
            let added =
                probe.add_ingredient_from_stream(told.clone(), media_type, &mut Cursor::new(file));
            if let Ok(ingredient) = added {
                builder.add_ingredient(ingredient.clone());
                return Ok(());
            }
        }
        let named = Named::from_json(&told).map_err(unsigned)?;
        builder.add_ingredient(named);
        Ok(())
    }

    /// Signs a small picture and reads it again: the name in the certificate.
    fn tried(&self) -> Result<String, CredentialsError> {
        let picture = encode(&Picture::filled(2, 2, [0, 0, 0, 255]), Encoding::Png, None);
        let statement = Statement {
            program: ("Atelier", env!("CARGO_PKG_VERSION")),
            model: "",
            when: "2026-01-01T00:00:00Z",
            act: Act::Created,
            composite: false,
        };
        let signed = self.sign(&picture, "image/png", &statement, &[])?;
        let unusable = |why: String| CredentialsError::Unusable(why);
        let reader = Reader::from_shared_context(&self.context)
            .with_stream("image/png", Cursor::new(signed))
            .map_err(|error| unusable(error.to_string()))?;
        if reader.validation_state() == ValidationState::Invalid {
            let status = reader.validation_status().unwrap_or_default();
            let codes: Vec<&str> = status
                .iter()
                .map(c2pa::validation_status::ValidationStatus::code)
                .collect();
            return Err(unusable(format!(
                "what it signs does not hold: {}",
                codes.join(", ")
            )));
        }
        let info = reader
            .active_manifest()
            .and_then(|one| one.signature_info());
        let named = info.map(|info| {
            let names = [info.common_name.as_deref(), info.issuer.as_deref()];
            names.into_iter().flatten().collect::<Vec<_>>().join(", ")
        });
        Ok(named.unwrap_or_default())
    }
}
