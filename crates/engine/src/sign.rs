//! Stand-in until the real file lands.
pub fn sign_webhook(_: &[&str], _: &str, _: i64, _: &[u8]) -> String { String::new() }
pub fn new_webhook_secret(_: &[u8]) -> String { String::new() }
#[derive(Debug)]
pub enum AddressFault { Expired, BadSignature }
pub struct AddressSigner;
impl AddressSigner {
    pub fn new(_: Vec<(String, [u8; 32])>) -> Self { Self }
    pub fn sign(&self, _: &str, _: i64) -> String { String::new() }
    pub fn verify(&self, _: &str, _: &str, _: i64) -> Result<(), AddressFault> { Ok(()) }
}
