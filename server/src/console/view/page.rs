//! The list of pages.

use super::icon::Icon;

macro_rules! pages {
    ($($page:ident $address:literal $icon:ident,)*) => {
        /// A page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Page {
            $($page,)*
        }

        impl Page {
            /// Every page, in the order of the navigation.
            pub const ALL: &[Self] = &[$(Self::$page,)*];

            /// Its title.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$page => stringify!($page),)*
                }
            }

            /// Its path.
            pub fn address(self) -> &'static str {
                match self {
                    $(Self::$page => $address,)*
                }
            }

            /// Its icon in the navigation.
            pub fn icon(self) -> Icon {
                match self {
                    $(Self::$page => Icon::$icon,)*
                }
            }
        }
    };
}

// A new page needs its handlers in [`crate::console`], and `console/tools.rs` says where it is offered.
pages! {
    Overview "/console" Chart,
    Outbox "/console/outbox" Mail,
    Loans "/console/loans" Money,
    Payouts "/console/payouts" Transfer,
    Scenario "/console/scenario" Phone,
    Faults "/console/faults" Alert,
    Traffic "/console/traffic" List,
    Traces "/console/traces" Trace,
    Contract "/console/contract" Success,
    Events "/console/events" Events,
    Staff "/console/staff" User,
    Data "/console/data" Store,
    Clock "/console/clock" Clock,
    Slices "/console/slices" Slices,
    Sandboxes "/console/sandboxes" Sandboxes,
    Stories "/console/stories" Stories,
}

impl Page {
    /// The page with this path.
    pub fn at(address: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|page| page.address() == address)
    }
}
