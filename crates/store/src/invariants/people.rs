//! People: a member is the head of its keys, an account that has an owner keeps one, and of whoever was deleted nothing is left that
//! says who it was.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "members.head",
        what: "member has no key at the head of its own that may do what its role says",
        of: RowKind::Members,
        broken: "member.removed_ms IS NULL AND NOT EXISTS (SELECT 1 FROM api_key WHERE api_key.id = member.id \
            AND api_key.account_id = member.account_id AND api_key.member_id = member.id AND api_key.above IS NULL \
            AND api_key.revoked_ms IS NULL AND api_key.expires_ms IS NULL \
            AND api_key.scopes = CASE member.role WHEN 'owner' THEN 'all' WHEN 'member' THEN 'submit,read,keys' ELSE 'read' END)",
        at_work: false,
    },
    Invariant {
        name: "members.keys",
        what: "key of a member is not below the head of its keys, or outlived it",
        of: RowKind::Members,
        broken: "EXISTS (SELECT 1 FROM api_key WHERE api_key.member_id = member.id AND ((api_key.id <> member.id \
              AND COALESCE(api_key.above, '') <> member.id AND COALESCE(api_key.above, '') NOT LIKE member.id || ' %') \
            OR (member.removed_ms IS NOT NULL AND api_key.revoked_ms IS NULL)))",
        at_work: false,
    },
    Invariant {
        name: "members.person",
        what: "member is a person who was deleted",
        of: RowKind::Members,
        broken: "member.removed_ms IS NULL AND NOT EXISTS (SELECT 1 FROM person WHERE person.id = member.person_id \
            AND person.deleted_ms IS NULL)",
        at_work: false,
    },
    Invariant {
        name: "members.once",
        what: "person is a member of an account twice",
        of: RowKind::Members,
        broken: "member.removed_ms IS NULL AND EXISTS (SELECT 1 FROM member AS other WHERE other.person_id = member.person_id \
            AND other.account_id = member.account_id AND other.removed_ms IS NULL AND other.id <> member.id)",
        at_work: false,
    },
    Invariant {
        name: "members.owner",
        what: "last owner of an account went while others were members",
        of: RowKind::Accounts,
        broken: "EXISTS (SELECT 1 FROM member JOIN member AS gone ON gone.account_id = member.account_id \
              WHERE member.account_id = account.id AND member.removed_ms IS NULL AND gone.role = 'owner' \
              AND gone.removed_ms > member.created_ms) \
            AND NOT EXISTS (SELECT 1 FROM member WHERE member.account_id = account.id AND member.removed_ms IS NULL \
              AND member.role = 'owner')",
        at_work: false,
    },
    Invariant {
        name: "people.deleted",
        what: "of a person who was deleted something is left",
        of: RowKind::People,
        broken: "person.deleted_ms IS NOT NULL AND (person.name <> '' \
            OR EXISTS (SELECT 1 FROM console_session WHERE console_session.person_id = person.id) \
            OR EXISTS (SELECT 1 FROM person_identity WHERE person_identity.person_id = person.id) \
            OR EXISTS (SELECT 1 FROM operator_token WHERE operator_token.person_id = person.id AND operator_token.revoked_ms IS NULL))",
        at_work: false,
    },
    Invariant {
        name: "people.beside",
        what: "there is a person, and programs that know of none may start",
        of: RowKind::People,
        broken: "EXISTS (SELECT 1 FROM schema_version WHERE schema_version.name = '0063_people' AND schema_version.widens <> 0)",
        at_work: false,
    },
    Invariant {
        name: "people.session",
        what: "session of a person stands for somebody else's membership",
        of: RowKind::PersonSessions,
        broken: "console_session.key_hash IS NOT NULL AND console_session.bound_hash IS NULL \
            AND NOT EXISTS (SELECT 1 FROM api_key JOIN member ON member.id = api_key.id \
              WHERE api_key.hash = console_session.key_hash AND member.person_id = console_session.person_id)",
        at_work: false,
    },
    Invariant {
        name: "people.welcome",
        what: "new account was given nothing, or something else",
        of: RowKind::Welcomes,
        // The row may have gone to the archive.
        broken: "NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.id = welcome.ledger_id AND ledger.account_id = welcome.account_id \
              AND ledger.kind = 'grant' AND ledger.amount = welcome.amount) \
            AND (EXISTS (SELECT 1 FROM ledger WHERE ledger.id = welcome.ledger_id) \
              OR NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = welcome.account_id \
                AND c.before_ms > welcome.granted_ms))",
        at_work: false,
    },
];
