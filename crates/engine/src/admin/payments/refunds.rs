//! Refunds that operators ask for: written down first, then made by the provider, then counted. What is cut off in between is taken up
//! again.

use atelier_contract::{Code, Refusal};
use atelier_store::{NewRefund, PaymentNews, PaymentRow, RefundOutcome, RefundRow};

use super::provider::{ChargeFault, ProviderEvent, RefundOrder, RefundedMoney};
use super::requests::RefundRequest;
use super::{AGAIN_MS, Payments, absent, own_event};
use crate::context::unavailable;
use crate::crash;

impl Payments {
    /// Gives money back, and takes the quota back that it was paid for.
    pub async fn refund(
        &self,
        by: &str,
        id: &str,
        wish: &RefundRequest,
    ) -> Result<PaymentRow, Refusal> {
        let row = self.one(id, None).await?;
        self.named(&row.provider)?;
        if wish.money.is_some_and(|money| money < 1) {
            return Err(Refusal::invalid("money", "must be 1 or more"));
        }
        let new = NewRefund {
            id: self.context.ids().uuid(),
            payment_id: id.to_owned(),
            money: wish.money,
            idempotency_key: wish.idempotency_key.clone(),
            now_ms: self.context.now_ms(),
        };
        let money = wish.money.map(|money| money.to_string());
        let money = money.unwrap_or_else(|| "all".to_owned());
        let detail = format!("{money} {}", row.currency);
        let act = self.context.act(by, "payment.refund", id, detail);
        let asked = self.stored().ask_refund(new, Some(act)).await;
        let asked = asked.map_err(unavailable)?;
        crash::point("admin.acted");
        let refund = match asked {
            RefundOutcome::Asked(refund) => return self.make(&refund, false).await,
            RefundOutcome::Repeated(refund) => refund,
            RefundOutcome::Mismatch => {
                let message = "was used for a refund of another amount; use a new key";
                let code = Code::IdempotencyMismatch;
                return Err(Refusal::field(code, "idempotency_key", message));
            }
            RefundOutcome::Open(open) => {
                let message = format!(
                    "a refund of {} is not finished; repeat it with the same money, or wait until it is",
                    open.money
                );
                return Err(Refusal::field(Code::Conflict, "money", message));
            }
            RefundOutcome::TooMuch { left } => {
                let message = format!("there are {left} of {} left to refund", row.currency);
                return Err(Refusal::field(Code::Conflict, "money", message));
            }
            RefundOutcome::NoPayment => return Err(absent()),
        };
        match &*refund.state {
            "asked" => self.make(&refund, true).await,
            "refused" => Err(refused(refund.why.as_deref().unwrap_or_default())),
            _ => self.one(id, None).await,
        }
    }

    /// Takes up a refund whose answer is not known; whether there may be more.
    pub(super) async fn refund_step(&self) -> Result<bool, atelier_store::Error> {
        let now_ms = self.context.now_ms();
        let claimed = self
            .stored()
            .claim_refund(now_ms - AGAIN_MS, now_ms)
            .await?;
        let Some(refund) = claimed else {
            return Ok(false);
        };
        if let Err(refusal) = self.make(&refund, true).await {
            let (refund, error) = (refund.id, refusal.message);
            tracing::warn!(refund, error, "a refund is not finished");
        }
        Ok(true)
    }

    /// Has the provider make a refund, and has that count.
    async fn make(&self, refund: &RefundRow, again: bool) -> Result<PaymentRow, Refusal> {
        let row = self.one(&refund.payment_id, None).await?;
        let references = self.stored().references(&row.id).await;
        let order = RefundOrder {
            payment: &row,
            refund,
            references: &references.map_err(unavailable)?,
            again,
        };
        let made = self.named(&row.provider)?.refund(&order).await;
        crash::point("payment.refunded");
        let total = match made {
            Ok(RefundedMoney::More) => None,
            Ok(RefundedMoney::Total(total)) => Some(total),
            Err(ChargeFault::Refused(why)) => {
                let noted = self.stored().refuse_refund(&refund.id, &why).await;
                noted.map_err(unavailable)?;
                return Err(refused(&why));
            }
            Err(ChargeFault::Unknown(refusal)) => {
                let message =
                    "the payment provider does not answer; the refund is repeated until it does";
                return Err(Refusal::new(refusal.code, message));
            }
        };
        let event = ProviderEvent {
            event_id: refund.id.clone(),
            news: PaymentNews::RefundMade {
                refund: refund.id.clone(),
                total,
            },
            money: Some(total.unwrap_or(refund.money)),
            ..own_event(&row)
        };
        self.acted(&row, event, None).await
    }
}

fn refused(why: &str) -> Refusal {
    let message = format!("the payment provider refused the refund: {why}");
    Refusal::new(Code::Conflict, message)
}
