//! Stand-in until the real file lands.
pub struct Sealer;
impl Sealer {
    pub fn new(_: (String, [u8; 32]), _: Vec<(String, [u8; 32])>) -> Self { Self }
    pub fn seal(&self, _: &[u8], _: &[u8], _: [u8; 24]) -> String { String::new() }
    pub fn open(&self, _: &str, _: &[u8]) -> Result<Vec<u8>, ()> { Ok(vec![]) }
}
