//! Groups of accounts: every account is in one that is there, and no revision is missing.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "groups.account",
        what: "account is in a group that is not there",
        of: RowKind::Accounts,
        broken: "account.group_key IS NOT NULL AND COALESCE((SELECT price_group.removed FROM price_group \
            WHERE price_group.name_key = account.group_key ORDER BY price_group.revision DESC LIMIT 1), TRUE)",
        at_work: false,
    },
    Invariant {
        name: "groups.follows",
        what: "revision of a group does not follow from the one before it",
        of: RowKind::PriceGroups,
        broken: "price_group.name_key <> {lower:price_group.name} OR (price_group.revision <> 1 AND NOT EXISTS (SELECT 1 FROM price_group AS earlier \
            WHERE earlier.name_key = price_group.name_key AND earlier.revision = price_group.revision - 1))",
        at_work: false,
    },
    Invariant {
        name: "groups.beside",
        what: "there is a group, and programs that know of none may start",
        of: RowKind::PriceGroups,
        broken: "EXISTS (SELECT 1 FROM schema_version WHERE schema_version.name = '0045_groups' AND schema_version.widens <> 0)",
        at_work: false,
    },
];
