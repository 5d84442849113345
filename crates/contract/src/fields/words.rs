//! Enums whose variants are the allowed words, exact and case-sensitive.

/// Defines a field type from its words: `words! { /// doc  pub Mode = Fast { Relax "relax", Fast "fast" } }`.
/// The variant after `=` is the default.
macro_rules! words {
    ($(#[$doc:meta])* pub $name:ident $(= $default:ident)? { $($(#[$vdoc:meta])* $variant:ident $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* #[doc = concat!("`", $word, "`")] $variant,)*
        }

        impl $name {
            /// The allowed words, in the order of the documents.
            pub const WORDS: &'static [&'static str] = &[$($word,)*];

            /// The word on the wire.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The variant for a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }

        $(impl Default for $name {
            fn default() -> Self { $name::$default }
        })?

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = $crate::fields::word_text(deserializer)?;
                Self::from_word(&text).ok_or_else(|| $crate::fields::not_a_word(&text, Self::WORDS))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn inline_schema() -> bool { true }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}
pub(crate) use words;
