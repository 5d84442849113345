//! Seeds: from the caller, or from the job's identifier, so that a repeated attempt makes the same picture.

use atelier_contract::JobId;

/// A seed for a job that was given none; it fits into 32 bits, so that a caller can ask for it again.
pub(crate) fn of_job(id: &JobId) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.as_str().bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    mixed(state) >> 32
}

/// The seed of the picture at a place of several; the first has the seed itself.
pub(crate) fn member(seed: u64, index: usize) -> u64 {
    match index {
        0 => seed,
        _ => mixed(seed ^ (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32,
    }
}

fn mixed(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_and_members_get_seeds_of_their_own_that_repeat() {
        let seeds = ["a", "b", "018f-1", "018f-2"].map(|id| of_job(&JobId::new(id)));
        assert_eq!(seeds[0], of_job(&JobId::new("a")));
        for (index, seed) in seeds.iter().enumerate() {
            assert!(u32::try_from(*seed).is_ok());
            assert!(!seeds[..index].contains(seed));
        }
        let members: Vec<_> = (0..10).map(|index| member(7, index)).collect();
        assert_eq!(members[0], 7);
        for (index, seed) in members.iter().enumerate() {
            assert!(!members[..index].contains(seed));
        }
    }
}
