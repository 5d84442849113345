//! The refusal codes, as one table, and a refusal: what a caller can do something about.

use std::fmt;

use serde_json::Value;

/// Makes the closed set of codes and the table that documents it.
macro_rules! codes {
    ($($variant:ident $word:literal $status:literal $meaning:literal;)*) => {
        /// A stable machine word for why a call was refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the documents.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The word on the wire.
            pub const fn word(self) -> &'static str {
                match self { $(Code::$variant => $word,)* }
            }

            /// The HTTP status it travels with.
            pub const fn status(self) -> u16 {
                match self { $(Code::$variant => $status,)* }
            }

            /// One sentence for the documents.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    InvalidParameter    "invalid_parameter"     400 "A field has a value that is not allowed; `param` names it.";
    MissingParameter    "missing_parameter"     400 "A required field is absent or empty; `param` names it.";
    InvalidBody         "invalid_body"          400 "The body is not the JSON object (or multipart form) this endpoint reads.";
    InvalidRequest      "invalid_request"       400 "The head of the request is malformed or ambiguous HTTP.";
    BannedPrompt        "banned_prompt"         400 "The prompt contains a word of the operator's list.";
    FamilyPaused        "family_paused"         400 "Too many prompts of this account were rejected in this family today; it can be used again after midnight UTC.";
    InsufficientQuota   "insufficient_quota"    400 "The balance does not cover the price of the request.";
    Debt                "debt"                  400 "The account owes quota that was taken back with a payment; whatever comes in pays it first.";
    QueueFull           "queue_full"            400 "The account already has max_queue unfinished jobs in this queue.";
    KeyLimit            "key_limit"             400 "The key has reached its limit in a window; `limit` says which, how much, and when the next one begins.";
    VoucherUnknown      "voucher_unknown"       400 "There is no such voucher.";
    VoucherUsed         "voucher_used"          400 "Another account has redeemed the voucher.";
    VoucherExpired      "voucher_expired"       400 "The voucher can no longer be redeemed.";
    VoucherRevoked      "voucher_revoked"       400 "The operator has revoked the voucher.";
    VoucherLimit        "voucher_limit"         400 "The account has redeemed the maximum number of vouchers of this batch.";
    StorageFull         "storage_full"          400 "The account's storage for results and inputs is full.";
    JobNotFound         "job_not_found"         400 "No such job belongs to this account.";
    ParentNotFinished   "parent_not_finished"   400 "The job named as parent has not finished successfully.";
    ActionNotAvailable  "action_not_available"  400 "The parent job does not offer this follow-up.";
    AlreadyFinished     "already_finished"      400 "The job has already finished, so it cannot be cancelled.";
    NoAvailableAccount  "no_available_account"  400 "No usable back-end account can serve the request.";
    AddressNotAllowed   "address_not_allowed"   400 "The URL violates the outbound rules; `param` names the field.";
    ContentRejected     "content_rejected"      400 "The back end's review rejected the content.";
    ImageUnusable       "image_unusable"        400 "An image could not be read; `param` names the field.";
    NotFound            "not_found"             404 "There is nothing at this path.";
    Unauthorized        "unauthorized"          401 "The API key is missing, unknown or revoked, or the e-mail is not verified.";
    Forbidden           "forbidden"             403 "The credential does not allow this call.";
    MethodNotAllowed    "method_not_allowed"    405 "The path exists, but not with this method.";
    RequestTimeout      "request_timeout"       408 "The request did not arrive in time.";
    IdempotencyInFlight "idempotency_in_flight" 409 "The first call with this Idempotency-Key is still being answered.";
    Conflict            "conflict"              409 "The change conflicts with what is stored.";
    Expired             "expired"               410 "The URL has expired.";
    PayloadTooLarge     "payload_too_large"     413 "The body is larger than this endpoint accepts.";
    TargetTooLong       "target_too_long"       414 "The target of the request (path and query) is too long.";
    UnsupportedMedia    "unsupported_media"     415 "The body's content type or encoding is not supported.";
    IdempotencyMismatch "idempotency_mismatch"  422 "This Idempotency-Key was used with another body.";
    HeadTooLarge        "head_too_large"        431 "The head of the request has too many lines or bytes.";
    RateLimited         "rate_limited"          429 "Too many requests; `Retry-After` says when to try again.";
    Internal            "internal_error"        500 "Something went wrong in the service; the request id helps to find it in the log.";
    BackendFailed       "backend_failed"        502 "The back end failed; the reserved quota was returned.";
    Overloaded          "overloaded"            503 "The service cannot take the request now; nothing was accepted.";
    BackendTimeout      "backend_timeout"       504 "The back end took too long; the reserved quota was returned.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a call was refused, in the caller's own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The error code; it decides the HTTP status.
    pub code: Code,
    /// The field with its path, in wire names, when one is to blame.
    pub field: Option<String>,
    /// A sentence that names the field and the allowed values.
    pub message: String,
    /// The limit of the key that would have been passed, as it is told.
    pub limit: Option<Box<Value>>,
}

impl Refusal {
    /// A refusal that no single field is to blame for.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            field: None,
            message: message.into(),
            limit: None,
        }
    }

    /// A refusal of one field; the message gets the field's name in front.
    pub fn field(code: Code, field: &str, message: impl fmt::Display) -> Self {
        Self {
            code,
            field: Some(field.to_owned()),
            message: format!("{field}: {message}"),
            limit: None,
        }
    }

    /// The commonest one: a field with a value that is not allowed.
    pub fn invalid(field: &str, message: impl fmt::Display) -> Self {
        Self::field(Code::InvalidParameter, field, message)
    }

    /// A required field that is absent.
    pub fn missing(field: &str) -> Self {
        Self::field(Code::MissingParameter, field, "is required")
    }

    /// The one answer for a job that does not exist and for a job of another account.
    pub fn job_not_found() -> Self {
        Self::new(Code::JobNotFound, "job not found")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_words_are_unique() {
        let words: std::collections::HashSet<_> =
            Code::ALL.iter().map(|code| code.word()).collect();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
