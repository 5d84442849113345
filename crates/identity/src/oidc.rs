//! Providers of OpenID Connect: found by discovery, asked by the code flow with PKCE, state and nonce, believed by the signature of a
//! key that the provider publishes, and by nothing else.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use chrono::DateTime;
use futures_util::future::BoxFuture;
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreGenderClaim, CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm, CoreProviderMetadata,
};
use openidconnect::{
    AccessToken, AdditionalClaims, AsyncHttpClient, AuthorizationCode, ClaimsVerificationError,
    ClientId, ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, IdToken, IdTokenClaims, IssuerUrl, Nonce, OAuth2TokenResponse as _,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, SignatureVerificationError,
    SubjectIdentifier, TokenResponse as _, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The algorithms that a token may be signed by: a key pair's, never a shared secret's and never none.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// A call to a provider.
#[derive(Debug)]
pub struct ProviderRequest {
    pub method: String,
    pub url: String,
    /// Names in lower case, and what they say.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The answer of a provider.
#[derive(Debug)]
pub struct ProviderResponse {
    pub status: u16,
    /// What its body is.
    pub media_type: String,
    pub body: Vec<u8>,
}

/// Makes calls to providers.
pub type ProviderCall = Arc<
    dyn Fn(ProviderRequest) -> BoxFuture<'static, Result<ProviderResponse, CallError>>
        + Send
        + Sync,
>;

/// A call that was not answered.
#[derive(Debug)]
pub struct CallError(pub String);

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CallError {}

/// Who this service is to a provider.
#[derive(Clone)]
pub struct OidcClient {
    pub issuer: String,
    pub client_id: String,
    /// Empty of a public client.
    pub client_secret: String,
    /// Where the provider leads people back to.
    pub redirect_url: String,
    /// What is asked for besides `openid`.
    pub scopes: Vec<String>,
    /// The claim that lists somebody's groups; empty for none.
    pub groups_claim: String,
}

/// Why nobody was proved to be anybody.
#[derive(Debug, PartialEq, Eq)]
pub enum OidcError {
    /// The provider did not answer, or not as it must.
    Away(String),
    /// It vouches for nobody, or not in a way that can be believed.
    Refused(String),
    /// A token is signed by a key that is not known yet.
    UnknownKey(String),
}

impl fmt::Display for OidcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(what) | Self::Refused(what) | Self::UnknownKey(what) => f.write_str(what),
        }
    }
}

/// A way to a provider that somebody is led along.
#[derive(Debug)]
pub struct BegunAuthorization {
    /// The page of the provider.
    pub url: String,
    /// What is needed to finish, to be kept secret.
    pub state: String,
}

/// What is needed to finish.
#[derive(Deserialize, Serialize)]
struct Secrets {
    nonce: String,
    verifier: String,
}

/// What a provider led somebody back with.
#[derive(Debug)]
pub struct OidcAnswer {
    pub code: String,
    /// The provider's own word of who it is, if it gives one.
    pub issuer: Option<String>,
    /// What was needed to finish.
    pub state: String,
    /// The moment, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Somebody for whom a provider vouches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizedVisitor {
    pub issuer: String,
    /// Who it is there; nobody else is ever given it.
    pub subject: String,
    pub email: Option<String>,
    /// Whether the provider has proved that the address is theirs.
    pub email_verified: bool,
    pub name: Option<String>,
    /// Their groups, as far as the claim says any.
    pub groups: Vec<String>,
}

/// What tokens say besides what all of them do.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct FurtherClaims {
    #[serde(flatten)]
    all: BTreeMap<String, Value>,
}

impl AdditionalClaims for FurtherClaims {}

type Claims = IdTokenClaims<FurtherClaims, CoreGenderClaim>;
type Token = IdToken<
    FurtherClaims,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type KnownClient = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// A provider whose addresses and keys are known.
pub struct Provider {
    client: OidcClient,
    known: KnownClient,
}

impl Provider {
    /// Reads the addresses and keys of a provider. Its issuer must be the one that was asked for.
    pub fn discover(
        client: OidcClient,
        call: ProviderCall,
    ) -> BoxFuture<'static, Result<Self, OidcError>> {
        // Boxed, because what the library makes of it is too general to be known as something that may change threads.
        Box::pin(Self::found(client, HttpCaller(call)))
    }

    async fn found(client: OidcClient, http: HttpCaller) -> Result<Self, OidcError> {
        let issuer = IssuerUrl::new(client.issuer.clone());
        let issuer = issuer.map_err(|why| OidcError::Away(why.to_string()))?;
        let metadata = CoreProviderMetadata::discover_async(issuer, &http).await;
        let metadata = metadata.map_err(|why| OidcError::Away(described(&why)))?;
        let redirect = RedirectUrl::new(client.redirect_url.clone());
        let redirect = redirect.map_err(|why| OidcError::Away(why.to_string()))?;
        let secret = Some(client.client_secret.clone()).filter(|secret| !secret.is_empty());
        let known = CoreClient::from_provider_metadata(
            metadata,
            ClientId::new(client.client_id.clone()),
            secret.map(ClientSecret::new),
        )
        .set_redirect_uri(redirect);
        Ok(Self { client, known })
    }

    /// Where somebody is led to prove who they are; the state comes back with them.
    pub fn authorize(&self, state: &str) -> BegunAuthorization {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let state = state.to_owned();
        let request = self.known.authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            move || CsrfToken::new(state.clone()),
            Nonce::new_random,
        );
        let scopes = self.client.scopes.iter().cloned().map(Scope::new);
        let (url, _, nonce) = request
            .add_scopes(scopes)
            .set_pkce_challenge(challenge)
            .url();
        let secrets = Secrets {
            nonce: nonce.secret().clone(),
            verifier: verifier.into_secret(),
        };
        BegunAuthorization {
            url: url.to_string(),
            state: serde_json::to_string(&secrets).unwrap_or_default(),
        }
    }

    /// Who came back, by the word of the provider.
    pub fn visitor(
        self: Arc<Self>,
        answer: OidcAnswer,
        call: ProviderCall,
    ) -> BoxFuture<'static, Result<AuthorizedVisitor, OidcError>> {
        Box::pin(async move { self.proved(answer, HttpCaller(call)).await })
    }

    async fn proved(
        &self,
        answer: OidcAnswer,
        http: HttpCaller,
    ) -> Result<AuthorizedVisitor, OidcError> {
        // One provider's answer is not taken for another's.
        if answer
            .issuer
            .is_some_and(|issuer| issuer != self.client.issuer)
        {
            return Err(OidcError::Refused("the answer is another issuer's".into()));
        }
        let secrets: Secrets = serde_json::from_str(&answer.state)
            .map_err(|_| OidcError::Refused("the state cannot be read".into()))?;
        let exchange = self
            .known
            .exchange_code(AuthorizationCode::new(answer.code))
            .map_err(|why| OidcError::Away(why.to_string()))?
            .set_pkce_verifier(PkceCodeVerifier::new(secrets.verifier));
        let tokens = exchange.request_async(&http).await;
        let tokens = tokens.map_err(|why| OidcError::Refused(described(&why)))?;
        let token = tokens.id_token().map(ToString::to_string);
        let token = token.ok_or_else(|| OidcError::Refused("there is no ID token".into()))?;
        let claims = self.claims(&token, &secrets.nonce, answer.now_ms)?;
        let mut visitor = self.visitor_of(&claims);
        if self.lacks(&visitor) {
            let found = self
                .user_info(tokens.access_token().clone(), claims.subject(), &http)
                .await?;
            self.add(&mut visitor, &found);
        }
        Ok(visitor)
    }

    /// What a token says, once it is believed.
    fn claims(&self, token: &str, nonce: &str, now_ms: i64) -> Result<Claims, OidcError> {
        let token: Token = token
            .parse()
            .map_err(|_| OidcError::Refused("the ID token cannot be read".into()))?;
        let now = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
        let verifier = self
            .known
            .id_token_verifier()
            .set_allowed_algs(ALGORITHMS)
            .set_time_fn(move || now);
        let claims = token.into_claims(&verifier, &Nonce::new(nonce.to_owned()));
        claims.map_err(|why| match why {
            ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey,
            ) => OidcError::UnknownKey("the ID token is signed by a key that is not known".into()),
            other => OidcError::Refused(described(&other)),
        })
    }

    fn visitor_of(&self, claims: &Claims) -> AuthorizedVisitor {
        let name = claims.name().and_then(|name| name.get(None));
        AuthorizedVisitor {
            issuer: claims.issuer().to_string(),
            subject: claims.subject().to_string(),
            email: claims.email().map(|email| email.to_string()),
            // Nothing but the word true is true.
            email_verified: claims.email_verified() == Some(true),
            name: name.map(|name| name.to_string()),
            groups: self.groups_of(claims.additional_claims()),
        }
    }

    /// Whether a provider has to be asked for more: many leave addresses and groups out of the token.
    fn lacks(&self, visitor: &AuthorizedVisitor) -> bool {
        let groups = !self.client.groups_claim.is_empty() && visitor.groups.is_empty();
        self.known.user_info_url().is_some() && (visitor.email.is_none() || groups)
    }

    async fn user_info(
        &self,
        token: AccessToken,
        subject: &SubjectIdentifier,
        http: &HttpCaller,
    ) -> Result<UserInfoClaims<FurtherClaims, CoreGenderClaim>, OidcError> {
        // Of nobody but the subject of the token.
        let asked = self.known.user_info(token, Some(subject.clone()));
        let asked = asked.map_err(|why| OidcError::Away(why.to_string()))?;
        let found = asked.request_async(http).await;
        found.map_err(|why| OidcError::Refused(described(&why)))
    }

    fn add(
        &self,
        visitor: &mut AuthorizedVisitor,
        found: &UserInfoClaims<FurtherClaims, CoreGenderClaim>,
    ) {
        if visitor.email.is_none() {
            visitor.email = found.email().map(|email| email.to_string());
            visitor.email_verified = found.email_verified() == Some(true);
        }
        if visitor.name.is_none() {
            let name = found.name().and_then(|name| name.get(None));
            visitor.name = name.map(|name| name.to_string());
        }
        if visitor.groups.is_empty() {
            visitor.groups = self.groups_of(found.additional_claims());
        }
    }

    /// The groups that a claim lists; a single one may stand without a list.
    fn groups_of(&self, claims: &FurtherClaims) -> Vec<String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match claims.all.get(&self.client.groups_claim) {
            Some(Value::Array(groups)) => groups.iter().filter_map(text).collect(),
            Some(one) => text(one).into_iter().collect(),
            None => Vec::new(),
        }
    }
}

/// Makes calls in the words of HTTP.
struct HttpCaller(ProviderCall);

impl AsyncHttpClient<'_> for HttpCaller {
    type Error = CallError;
    type Future = BoxFuture<'static, Result<HttpResponse, CallError>>;

    fn call(&self, request: HttpRequest) -> Self::Future {
        let (head, body) = request.into_parts();
        let headers = head.headers.iter();
        let headers = headers.filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let asked = (self.0)(ProviderRequest {
            method: head.method.to_string(),
            url: head.uri.to_string(),
            headers: headers.collect(),
            body,
        });
        Box::pin(async move {
            let answer = asked.await?;
            let response = http::Response::builder()
                .status(answer.status)
                .header(http::header::CONTENT_TYPE, answer.media_type);
            let response = response.body(answer.body);
            response.map_err(|why| CallError(why.to_string()))
        })
    }
}

/// What went wrong, with what lies beneath it.
fn described(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = fmt::Write::write_fmt(&mut text, format_args!(": {cause}"));
        source = cause.source();
    }
    text
}
