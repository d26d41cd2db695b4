//! The list of pages.

use super::icon::Icon;

macro_rules! pages {
    ($($page:ident $address:literal $icon:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Page {
            $($page,)*
        }

        impl Page {
            /// Every page, in the order of the navigation.
            pub const ALL: &[Self] = &[$(Self::$page,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$page => stringify!($page),)*
                }
            }

            pub fn address(self) -> &'static str {
                match self {
                    $(Self::$page => $address,)*
                }
            }

            pub fn icon(self) -> Icon {
                match self {
                    $(Self::$page => Icon::$icon,)*
                }
            }
        }
    };
}

// A new page needs its handlers in [`crate`], and `console/tools.rs` says where it is offered.
pages! {
    Overview "/console" CHART,
    Outbox "/console/outbox" MAIL,
    Loans "/console/loans" MONEY,
    Payouts "/console/payouts" TRANSFER,
    Scenario "/console/scenario" PHONE,
    Faults "/console/faults" ALERT,
    Traffic "/console/traffic" LIST,
    Traces "/console/traces" TRACE,
    Contract "/console/contract" SUCCESS,
    Events "/console/events" EVENTS,
    Staff "/console/staff" USER,
    Data "/console/data" STORE,
    Clock "/console/clock" CLOCK,
    Slices "/console/slices" SLICES,
    Sandboxes "/console/sandboxes" SANDBOXES,
    Stories "/console/stories" STORIES,
}

impl Page {
    pub fn at(address: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|page| page.address() == address)
    }
}
