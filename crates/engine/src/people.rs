//! People: persons, the accounts that they are members of, invitations, and how they sign in.

mod invitations;
mod letters;
mod members;
mod people_deps;
mod persons;
mod sign_ins;
mod words;

pub use invitations::{InvitationRequest, Invitations};
pub use members::{MemberEdit, MemberRequest, Members};
pub(crate) use people_deps::PeopleDeps;
pub use persons::{AddressedPerson, Persons};
pub(crate) use sign_ins::SIGN_IN_MS;
pub use sign_ins::{LinkPage, LinkRequest, ProviderReturn, SignInBrowser, SignIns, SignedIn};

/// Looks after people.
pub struct People {
    members: Members,
    invitations: Invitations,
    persons: Persons,
    sign_ins: SignIns,
}

impl People {
    pub(crate) fn new(deps: &PeopleDeps) -> Self {
        Self {
            members: Members::new(deps.clone()),
            invitations: Invitations::new(deps.clone()),
            persons: Persons::new(deps.clone()),
            sign_ins: SignIns::new(deps.clone()),
        }
    }

    /// Members of accounts.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Who is asked to join.
    pub fn invitations(&self) -> &Invitations {
        &self.invitations
    }

    /// Persons, whatever they are members of.
    pub fn persons(&self) -> &Persons {
        &self.persons
    }

    /// How people sign in.
    pub fn sign_ins(&self) -> &SignIns {
        &self.sign_ins
    }
}
