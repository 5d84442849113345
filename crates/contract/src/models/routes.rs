//! The routes of a model, with the way to those of one back end: a model may have fifty, and every submit that names it asks for
//! those of each worker account.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::short_text::text;
use crate::fields::Count;
use crate::pages::cost::UnitCost;

/// Places in the table for each route; most of them stay empty, so that whoever has no route is known by one look.
const ROOM: usize = 4;

/// A back end that makes a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with backend, model, weight, rank, cost, stop_loss and paused"
)]
#[schemars(rename = "ModelRoute")]
pub struct Route {
    /// Name of the back end, or its id.
    #[serde(deserialize_with = "required_text")]
    #[schemars(length(min = 1, max = 200))]
    pub backend: String,
    /// The name that the back end calls the model by; without one its own mapping decides.
    #[serde(
        default,
        deserialize_with = "text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 200))]
    pub model: Option<String>,
    /// Its share among routes of one rank.
    #[serde(default = "one", deserialize_with = "weight")]
    #[schemars(range(min = 1, max = 1000))]
    pub weight: u32,
    /// Its place in the order of fall-back, lowest first; without one the back end's own.
    #[serde(
        default,
        deserialize_with = "rank",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    pub rank: Option<i64>,
    /// What the vendor takes there, for what it does not say in dollars itself; without one what the back end's settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<UnitCost>,
    /// When it pauses by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_loss: Option<StopLoss>,
    /// Why it gets no new jobs, if it does not; written by an operator or by the stop-loss, taken away by an operator.
    #[serde(
        default,
        deserialize_with = "text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 200))]
    pub paused: Option<String>,
}

/// What the stop-loss calls itself where it says why a route is paused.
pub const STOP_LOSS: &str = "stop-loss";

impl Route {
    /// Why the stop-loss paused it, if that did.
    pub fn stop_loss_reason(&self) -> Option<&str> {
        let why = self.paused.as_deref()?.strip_prefix(STOP_LOSS)?;
        why.strip_prefix(": ")
    }
}

/// What a route has to leave, lest it is paused: the margin of its latest jobs, in dollars, as margins are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopLoss {
    /// The least that has to be left of what callers pay, in percent; below 0 a loss is allowed.
    #[serde(deserialize_with = "percent")]
    #[schemars(range(min = -1000, max = 99))]
    pub percent: i32,
    /// Over how many of its latest jobs at least; with fewer nothing is paused.
    #[serde(deserialize_with = "jobs")]
    #[schemars(range(min = 1, max = 100_000))]
    pub jobs: u32,
    /// Hours since 1970 that do not count any more; written when the route is paused, so that it has a fresh start.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 100_000_000))]
    pub since_hour: u32,
}

/// The back ends that make a model, in the operator's order.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    list: Vec<Route>,
    /// By which each route shares the work, see [`share_hash`].
    hashes: Vec<u64>,
    /// Places of routes by the names of their back ends, counted from 1: open addressing, where 0 ends a search.
    table: Vec<u16>,
    /// Tells sets of back ends apart.
    backends: u64,
}

impl Routes {
    /// No route at all.
    pub const NONE: &'static Self = &Self {
        list: Vec::new(),
        hashes: Vec::new(),
        table: Vec::new(),
        backends: 0,
    };

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The places of the routes that name a back end so and are not paused.
    pub fn to<'a>(&'a self, backend: &'a str) -> impl Iterator<Item = usize> + 'a {
        let mask = self.table.len().wrapping_sub(1);
        let mut slot = spread(backend) & mask;
        std::iter::from_fn(move || {
            loop {
                let place = usize::from(*self.table.get(slot)?).checked_sub(1)?;
                slot = (slot + 1) & mask;
                if self.list[place].backend == backend {
                    return Some(place);
                }
            }
        })
    }

    /// By which a route shares the work with the others of its rank.
    pub fn share_hash(&self, place: usize) -> u64 {
        self.hashes[place]
    }

    /// A number that two lists of routes to the same back ends have in common.
    pub fn backends_hash(&self) -> u64 {
        self.backends
    }
}

impl From<Vec<Route>> for Routes {
    fn from(list: Vec<Route>) -> Self {
        if list.is_empty() {
            return Self::default();
        }
        let mut table = vec![0; (list.len() * ROOM).next_power_of_two()];
        let mask = table.len() - 1;
        let mut hashes = Vec::with_capacity(list.len());
        let mut backends = 0_u64;
        for (route, place) in list.iter().zip(1..) {
            let model = route.model.as_deref().unwrap_or_default();
            hashes.push(share_hash(&[&route.backend, model]));
            // Nobody finds the way to one that is paused.
            if route.paused.is_some() {
                continue;
            }
            let mut slot = spread(&route.backend) & mask;
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = place;
            backends = backends.rotate_left(5) ^ share_hash(&[&route.backend]);
        }
        Self {
            list,
            hashes,
            table,
            backends,
        }
    }
}

impl FromIterator<Route> for Routes {
    fn from_iter<T: IntoIterator<Item = Route>>(routes: T) -> Self {
        routes.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Routes {
    type Target = [Route];

    fn deref(&self) -> &[Route] {
        &self.list
    }
}

impl PartialEq for Routes {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Serialize for Routes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

const fn one() -> u32 {
    1
}

fn required_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let given = text(deserializer)?;
    given.ok_or_else(|| D::Error::custom(crate::body::BLANK))
}

fn weight<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Count::<1, 1000, 1>::deserialize(deserializer).map(Count::count)
}

fn rank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let given = Option::<Count<-1_000_000, 1_000_000, 100>>::deserialize(deserializer)?;
    Ok(given.map(Count::get))
}

fn percent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    let given = Count::<-1000, 99, 0>::deserialize(deserializer)?;
    Ok(given.get() as i32)
}

fn jobs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Count::<1, 100_000, 1>::deserialize(deserializer).map(Count::count)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Spreads names over a table by their first and last letters, which is where names of back ends differ: it is asked twice for
/// every worker account.
fn spread(name: &str) -> usize {
    let bytes = name.as_bytes();
    let ends = bytes.first_chunk::<8>().zip(bytes.last_chunk::<8>());
    let (first, last) = if let Some((first, last)) = ends {
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else {
        let word = bytes
            .iter()
            .fold(0, |word, byte| (word << 8) | u64::from(*byte));
        (word, 0)
    };
    let mixed =
        (first ^ last.rotate_left(29) ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as usize
}

/// What some texts share the work by: FNV-1a with the last steps of SplitMix64, so that texts that differ in one letter are far
/// apart. It must never change: all nodes share the work by it.
pub fn share_hash(texts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for text in texts {
        text.bytes().for_each(&mut add);
        // No text has this byte, so that the border between two counts.
        add(0xff);
    }
    mix(hash)
}

/// What a job shares the work with at one route, of the hash of each.
pub fn joint_hash(job: u64, route: u64) -> u64 {
    mix(job ^ route)
}

fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(backend: &str, weight: u32) -> Route {
        Route {
            backend: backend.to_owned(),
            model: None,
            weight,
            rank: None,
            cost: None,
            stop_loss: None,
            paused: None,
        }
    }

    /// The promise: what is found is what a search through all of them finds, whatever the back ends are called.
    #[test]
    fn every_route_of_a_back_end_is_found_and_no_other() {
        let names: [fn(usize) -> String; 4] = [
            |one| format!("b{one}"),
            |one| format!("backend-{one:03}"),
            // The same first and last letters everywhere.
            |one| format!("0195c0de-{one:02}-7000-8000"),
            |one| format!("{}-a", one % 7),
        ];
        for name in names {
            let list = (0..50).map(|one| Route {
                paused: (one % 9 == 3).then(|| "it loses".to_owned()),
                ..route(&name(one), one as u32)
            });
            let list: Vec<Route> = list.collect();
            let routes = Routes::from(list.clone());
            for one in (0..60)
                .map(name)
                .chain([String::new(), "nobody".to_owned()])
            {
                let mut found: Vec<&Route> = routes.to(&one).map(|place| &routes[place]).collect();
                found.sort_by_key(|route| route.weight);
                let open = list.iter().filter(|r| r.paused.is_none());
                let wanted: Vec<&Route> = open.filter(|r| r.backend == one).collect();
                assert_eq!(found, wanted, "{one}");
            }
        }
        assert_eq!(Routes::default().to("a").next(), None);
    }

    #[test]
    fn all_releases_share_the_work_by_the_same_numbers() {
        assert_eq!(share_hash(&["job-1", "a", "m"]), 0x2882_70e0_45fc_07ac);
        assert_ne!(share_hash(&["ab", "c"]), share_hash(&["a", "bc"]));
        let joint = joint_hash(share_hash(&["job-1"]), share_hash(&["a", "m"]));
        assert_eq!(joint, 0xa1ec_0207_b7f3_b578);
    }
}
