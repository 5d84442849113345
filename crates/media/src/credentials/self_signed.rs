//! A certificate chain of the service's own: an authority that nobody else knows, and a certificate that it vouches for,
//! because the rules do not let one vouch for itself. The key of the authority is thrown away.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256,
};
use time::{Duration, OffsetDateTime};

use super::statement::{Chain, CredentialsError};

/// How long it is good for.
const YEARS: i64 = 10;
/// Clocks of those who read may be behind.
const EARLIER: Duration = Duration::days(1);

/// Makes a chain whose certificate names an organisation, good from a time in seconds since 1970 on.
pub fn own_chain(organisation: &str, now_s: i64) -> Result<Chain, CredentialsError> {
    let now = OffsetDateTime::from_unix_timestamp(now_s).map_err(unusable)?;
    let params = |common_name: &str| -> CertificateParams {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        let name = &mut params.distinguished_name;
        name.push(DnType::OrganizationName, organisation);
        name.push(DnType::CommonName, common_name);
        params.not_before = now - EARLIER;
        params.not_after = now + Duration::days(365 * YEARS);
        params
    };
    let fresh = || KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(unusable);
    let mut authority = params(&format!("{organisation} own authority"));
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_key = fresh()?;
    let root = authority.self_signed(&authority_key).map_err(unusable)?;
    let issuer = Issuer::new(authority, authority_key);
    let mut signing = params(&format!("{organisation} media signing"));
    signing.is_ca = IsCa::ExplicitNoCa;
    signing.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    signing.extended_key_usages = vec![ExtendedKeyUsagePurpose::EmailProtection];
    signing.use_authority_key_identifier_extension = true;
    let key = fresh()?;
    let leaf = signing.signed_by(&key, &issuer).map_err(unusable)?;
    Ok(Chain {
        certificates: format!("{}{}", leaf.pem(), root.pem()),
        key: key.serialize_pem(),
    })
}

fn unusable(error: impl std::fmt::Display) -> CredentialsError {
    CredentialsError::Unusable(error.to_string())
}
