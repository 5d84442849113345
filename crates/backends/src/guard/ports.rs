//! Which ports of public addresses may be used: all but those that belong to other protocols, or those that are listed.

use super::block_reason::BlockReason;

/// The "bad ports" of the Fetch standard: what listens there takes a request for something else.
const BAD: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// The ports of one deployment; none listed means the rule.
#[derive(Clone, Debug)]
pub(super) struct Ports(Vec<u16>);

impl Ports {
    /// Takes the list of the settings, which can only narrow the rule.
    pub(super) fn new(listed: &[u16]) -> Result<Self, String> {
        if let Some(port) = listed.iter().find(|port| BAD.contains(port)) {
            return Err(format!(
                "outbound.ports: {port} belongs to another protocol and is never used"
            ));
        }
        Ok(Self(listed.to_vec()))
    }

    /// Whether a port of a public address may be used.
    pub(super) fn may_use(&self, port: u16) -> bool {
        if self.0.is_empty() {
            !BAD.contains(&port)
        } else {
            self.0.contains(&port)
        }
    }

    /// Why a port may not be used.
    pub(super) fn wrong(&self, port: u16) -> BlockReason {
        if self.0.is_empty() {
            let why = format_args!("must use a port that belongs to no other protocol, is {port}");
            return BlockReason::new(why);
        }
        let list: Vec<String> = self.0.iter().map(u16::to_string).collect();
        let list = list.join(", ");
        BlockReason::new(format_args!("must use one of the ports {list}, is {port}"))
    }
}
