//! Codes that are worth quota: batches of them are made, listed and revoked by operators, and codes are redeemed by callers. A code is
//! shown when it is made and never again.

use std::fmt::Write as _;
use std::sync::Arc;

use atelier_contract::voucher::VoucherCode;
use atelier_contract::{AccountId, Code, Quota, Refusal};
use atelier_store::{NewVouchers, RedeemOutcome, Redeemed, Redemption, VoucherBatch, VoucherTerms};

use super::credits::{NOT_KNOWN, check_end, too_many};
use super::registry::no_account;
use crate::admin::Caller;
use crate::context::{Context, unavailable};
use crate::crash;
use crate::key;

/// The most codes of a batch.
const CODES_MOST: i64 = 10_000;

/// A batch of vouchers.
pub struct Vouchers {
    context: Arc<Context>,
}

impl Vouchers {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context }
    }

    /// Makes a batch; the batch and its codes, which are not kept.
    pub async fn make(
        &self,
        by: &str,
        count: i64,
        terms: VoucherTerms,
    ) -> Result<(VoucherBatch, Vec<VoucherCode>), Refusal> {
        let now_ms = self.context.now_ms();
        if !(1..=CODES_MOST).contains(&count) {
            let message = format_args!("must be a whole number from 1 to {CODES_MOST}");
            return Err(Refusal::invalid("count", message));
        }
        if terms.amount <= Quota::ZERO {
            return Err(Refusal::invalid("amount", "must be more than 0"));
        }
        for (field, end) in [
            ("expires", terms.expires_ms),
            ("credit_expires", terms.credit_expires_ms),
        ] {
            end.map_or(Ok(()), |end_ms| check_end(field, end_ms, now_ms))?;
        }
        let codes: Vec<VoucherCode> = (0..count)
            .map(|_| VoucherCode::of(self.context.ids().secret()))
            .collect();
        let new = NewVouchers {
            id: self.context.ids().uuid(),
            terms,
            hashes: codes.iter().map(digest).collect(),
            now_ms,
        };
        let detail = format!("{count} of {} {}", new.terms.amount, new.terms.note);
        let act = self.context.act(by, "voucher.create", &new.id, detail);
        let batch = VoucherBatch {
            id: new.id.clone(),
            terms: new.terms.clone(),
            codes: count,
            redeemed: 0,
            created_ms: now_ms,
            revoked_ms: None,
        };
        let made = self
            .context
            .store()
            .ledger()
            .vouchers()
            .make(new, Some(act))
            .await;
        made.map_err(unavailable)?;
        crash::point("admin.acted");
        Ok((batch, codes))
    }

    /// A page of the batches, the latest first, and how many there are.
    pub async fn list(&self, page: i64, limit: i64) -> Result<(Vec<VoucherBatch>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let listed = self
            .context
            .store()
            .ledger()
            .vouchers()
            .list(offset, limit)
            .await;
        listed.map_err(unavailable)
    }

    /// One batch.
    pub async fn one(&self, id: &str) -> Result<VoucherBatch, Refusal> {
        let found = self.context.store().ledger().vouchers().one(id).await;
        found.map_err(unavailable)?.ok_or_else(no_batch)
    }

    /// Has nobody redeem the codes of a batch from now on; what was redeemed stays.
    pub async fn revoke(&self, by: &str, id: &str) -> Result<VoucherBatch, Refusal> {
        let act = self.context.act(by, "voucher.revoke", id, "");
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let revoked = store
            .ledger()
            .vouchers()
            .revoke(id, now_ms, Some(act))
            .await;
        revoked.map_err(unavailable)?;
        crash::point("admin.acted");
        self.one(id).await
    }

    /// Redeems a code for the account of a caller. The same account is told the same again.
    pub async fn redeem(&self, caller: &Caller, text: &str) -> Result<Redeemed, Refusal> {
        let account_id = &caller.account_id;
        // What nobody ever made is not looked for.
        let code = VoucherCode::read(text).map_err(|_| unknown())?;
        let redemption = Redemption {
            account_id: account_id.to_string(),
            hash: digest(&code),
            ledger_id: self.context.ids().uuid(),
            now_ms: self.context.now_ms(),
            alive_since_ms: self.context.alive_since_ms(),
        };
        let act = self.redeem_act(account_id, &caller.key_id, &redemption.ledger_id);
        let vouchers = self.context.store().ledger().vouchers();
        let redeemed = vouchers.redeem(redemption, Some(act)).await;
        let redeemed = redeemed.map_err(unavailable)?;
        let (code, message) = match redeemed {
            RedeemOutcome::Done(redeemed) | RedeemOutcome::Repeated(redeemed) => {
                return Ok(redeemed);
            }
            RedeemOutcome::Unknown => return Err(unknown()),
            RedeemOutcome::Used => (Code::VoucherUsed, "has been redeemed".to_owned()),
            RedeemOutcome::Expired => (Code::VoucherExpired, "can no longer be redeemed".into()),
            RedeemOutcome::Revoked => (Code::VoucherRevoked, "was revoked".into()),
            RedeemOutcome::Limit { per_account } => (
                Code::VoucherLimit,
                format!("is one too many: an account may redeem {per_account} of this kind"),
            ),
            RedeemOutcome::TooMany { most } => return Err(too_many(most)),
            RedeemOutcome::OlderNode(node) => {
                // What nodes are called is nothing for callers.
                tracing::warn!(node, "no voucher can be redeemed while a node {NOT_KNOWN}");
                let message = "the service is being upgraded; redeem it when that is done";
                return Err(Refusal::new(Code::Overloaded, message));
            }
            RedeemOutcome::Paused => {
                return Err(Refusal::new(Code::Forbidden, "the account is paused"));
            }
            RedeemOutcome::NoAccount => return Err(no_account()),
        };
        Err(Refusal::field(code, "code", message))
    }

    fn redeem_act(
        &self,
        account_id: &AccountId,
        key_id: &str,
        ledger_id: &str,
    ) -> atelier_store::AuditRow {
        self.context
            .own_act(account_id, key_id, "voucher.redeem", ledger_id, "")
    }
}

/// Codes as a table of one column, for whoever prints or sells them.
pub fn codes_csv(codes: &[VoucherCode]) -> String {
    let mut csv = String::from("code\r\n");
    for code in codes {
        write!(csv, "{code}\r\n").expect("a text takes everything");
    }
    csv
}

/// What is kept of a code.
fn digest(code: &VoucherCode) -> String {
    key::hash(&code.plain())
}

fn unknown() -> Refusal {
    Refusal::field(Code::VoucherUnknown, "code", "there is no such code")
}

fn no_batch() -> Refusal {
    Refusal::new(Code::NotFound, "no such batch of vouchers")
}
