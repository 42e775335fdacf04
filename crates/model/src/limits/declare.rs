//! Generates the types and functions from the rows of the table.

macro_rules! limits {
    (@wider) => { None };
    (@wider $follows:ident) => { Some(LimitName::$follows) };
    (
        run {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $name:ident: $type:ty = $default:expr, $unit:literal, $summary:literal
                $(, follows $follows:ident)?;
            )+
        }
        others {
            $($(#[doc = $other_doc:literal])+ $other:ident $other_text:literal, $other_unit:literal;)+
        }
    ) => {
        /// The limits of one run.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        /// Some of the [`Limits`], as named in a configuration, on a command line or in a request.
        ///
        /// Durations and sizes are texts with a unit (`"30s"`, `"64MiB"`), counts are numbers.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        #[expect(missing_docs, reason = "each field is documented at Limits")]
        pub struct LimitsPatch {
            $(#[serde(deserialize_with = "optional")] pub $field: Option<$type>,)+
        }

        impl LimitsPatch {
            /// The names of all limits, for messages.
            pub const NAMES: [&'static str; LimitSpec::ALL.len()] = [$(stringify!($field)),+];

            /// `limits`, with the limits that are set here replaced, each independently.
            pub(super) fn instead_of(&self, limits: &Limits) -> Limits {
                Limits { $($field: self.$field.unwrap_or(limits.$field),)+ }
            }
        }

        /// A patch that sets every limit: applied to any limits, it results in these.
        impl From<&Limits> for LimitsPatch {
            fn from(limits: &Limits) -> Self {
                Self { $($field: Some(limits.$field),)+ }
            }
        }

        /// Serialises the limits that are set: durations with a unit, sizes in bytes.
        impl Serialize for LimitsPatch {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let set = [$((stringify!($field), self.$field.map(LimitValue::to_json)),)+];
                serializer.collect_map(set.into_iter().filter_map(|(name, value)| Some((name, value?))))
            }
        }

        /// The name of a limit: of one in [`Limits`], or of one in another part of belljar.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum LimitName {
            $(#[doc = concat!("`", stringify!($field), "` of [`Limits`].")] $name,)+
            $($(#[doc = $other_doc])+ $other,)+
        }

        impl LimitName {
            /// All of them.
            const ALL: &[Self] = &[$(Self::$name,)+ $(Self::$other,)+];

            /// The name as it is written.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($field),)+
                    $(Self::$other => $other_text,)+
                }
            }

            /// The unit of the limit and of what was used: `ms` for durations, `bytes` for sizes.
            pub const fn unit(self) -> &'static str {
                match self {
                    $(Self::$name => $unit,)+
                    $(Self::$other => $other_unit,)+
                }
            }

            /// The limit with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|limit| limit.as_str() == name)
            }
        }

        impl LimitSpec {
            /// Every limit of a run, in the order of the table.
            pub const ALL: &[Self] = &[$(Self {
                name: LimitName::$name,
                kind: <$type as LimitValue>::KIND,
                summary: $summary,
                reason: concat!($($doc),+),
                follows: limits!(@wider $($follows)?),
                get: |limits| limits.$field.number(),
                set: |limits, number| limits.$field = LimitValue::from_number(number),
                is_set: |patch| patch.$field.is_some(),
                set_in: |patch, number| patch.$field = Some(LimitValue::from_number(number)),
            },)+];
        }
    };
}

pub(super) use limits;
