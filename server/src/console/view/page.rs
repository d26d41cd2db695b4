//! The list of pages.

use super::icon::Icon;

/// A page. The variants are in the order of the navigation. A new page needs its handlers in
/// [`crate::console`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Overview,
    Outbox,
    Loans,
    Payouts,
    Scenario,
    Faults,
    Traffic,
    Traces,
    Contract,
    Events,
    Staff,
    Data,
    Clock,
    Slices,
    Sandboxes,
    Stories,
}

impl Page {
    /// Every page.
    pub const ALL: [Self; 16] = [
        Self::Overview,
        Self::Outbox,
        Self::Loans,
        Self::Payouts,
        Self::Scenario,
        Self::Faults,
        Self::Traffic,
        Self::Traces,
        Self::Contract,
        Self::Events,
        Self::Staff,
        Self::Data,
        Self::Clock,
        Self::Slices,
        Self::Sandboxes,
        Self::Stories,
    ];

    /// Its title.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Outbox => "Outbox",
            Self::Loans => "Loans",
            Self::Payouts => "Payouts",
            Self::Scenario => "Scenario",
            Self::Faults => "Faults",
            Self::Traffic => "Traffic",
            Self::Traces => "Traces",
            Self::Contract => "Contract",
            Self::Events => "Events",
            Self::Staff => "Staff",
            Self::Data => "Data",
            Self::Clock => "Clock",
            Self::Slices => "Slices",
            Self::Sandboxes => "Sandboxes",
            Self::Stories => "Stories",
        }
    }

    /// Its path.
    pub fn address(self) -> &'static str {
        match self {
            Self::Overview => "/console",
            Self::Outbox => "/console/outbox",
            Self::Loans => "/console/loans",
            Self::Payouts => "/console/payouts",
            Self::Scenario => "/console/scenario",
            Self::Faults => "/console/faults",
            Self::Traffic => "/console/traffic",
            Self::Traces => "/console/traces",
            Self::Contract => "/console/contract",
            Self::Events => "/console/events",
            Self::Staff => "/console/staff",
            Self::Data => "/console/data",
            Self::Clock => "/console/clock",
            Self::Slices => "/console/slices",
            Self::Sandboxes => "/console/sandboxes",
            Self::Stories => "/console/stories",
        }
    }

    /// Its icon in the navigation.
    pub fn icon(self) -> Icon {
        match self {
            Self::Overview => Icon::Chart,
            Self::Outbox => Icon::Mail,
            Self::Loans => Icon::Money,
            Self::Payouts => Icon::Transfer,
            Self::Scenario => Icon::Phone,
            Self::Faults => Icon::Alert,
            Self::Traffic => Icon::List,
            Self::Traces => Icon::Trace,
            Self::Contract => Icon::Success,
            Self::Events => Icon::Events,
            Self::Staff => Icon::User,
            Self::Data => Icon::Store,
            Self::Clock => Icon::Clock,
            Self::Slices => Icon::Slices,
            Self::Sandboxes => Icon::Sandboxes,
            Self::Stories => Icon::Stories,
        }
    }

    /// The page with this path.
    pub fn at(address: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.address() == address)
    }
}
