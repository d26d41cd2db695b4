//! The list of pages.

use super::icon::Icon;

macro_rules! pages {
    ($($page:ident $address:literal $icon:ident $scope:ident,)*) => {
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

            /// Where it is offered.
            pub fn scope(self) -> Scope {
                match self {
                    $(Self::$page => Scope::$scope,)*
                }
            }
        }
    };
}

// A new page needs its handlers in [`crate::console`].
pages! {
    Overview "/console" Chart All,
    Outbox "/console/outbox" Mail OwnTool,
    Loans "/console/loans" Money OwnTool,
    Payouts "/console/payouts" Transfer Own,
    Scenario "/console/scenario" Phone OwnTool,
    Faults "/console/faults" Alert Tool,
    Traffic "/console/traffic" List All,
    Traces "/console/traces" Trace All,
    Contract "/console/contract" Success All,
    Events "/console/events" Events All,
    Staff "/console/staff" User Own,
    Data "/console/data" Store All,
    Clock "/console/clock" Clock OwnTool,
    Slices "/console/slices" Slices All,
    Sandboxes "/console/sandboxes" Sandboxes All,
    Stories "/console/stories" Stories All,
}

impl Page {
    /// The page with this path.
    pub fn at(address: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|page| page.address() == address)
    }
}

/// The deployments in which a page is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those that allow tools: it changes the behaviour of the service.
    Tool,
    /// Those without another provider: it shows data of this service.
    Own,
    /// Those that allow tools and have no other provider.
    OwnTool,
}

impl Scope {
    /// Returns whether the page is offered only where tools are allowed.
    pub fn is_tool(self) -> bool {
        matches!(self, Self::Tool | Self::OwnTool)
    }

    /// Returns whether the page makes no sense with another provider, which has its own accounts, loans, payouts,
    /// messages and time.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Own | Self::OwnTool)
    }
}
