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
        self.row().0
    }

    /// Its path.
    pub fn address(self) -> &'static str {
        self.row().1
    }

    /// Its icon in the navigation.
    pub fn icon(self) -> Icon {
        self.row().2
    }

    /// Where it is offered.
    pub fn scope(self) -> Scope {
        self.row().3
    }

    /// The page with this path.
    pub fn at(address: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.address() == address)
    }

    fn row(self) -> (&'static str, &'static str, Icon, Scope) {
        match self {
            Self::Overview => ("Overview", "/console", Icon::Chart, Scope::All),
            Self::Outbox => ("Outbox", "/console/outbox", Icon::Mail, Scope::OwnTool),
            Self::Loans => ("Loans", "/console/loans", Icon::Money, Scope::OwnTool),
            Self::Payouts => ("Payouts", "/console/payouts", Icon::Transfer, Scope::Own),
            Self::Scenario => ("Scenario", "/console/scenario", Icon::Phone, Scope::OwnTool),
            Self::Faults => ("Faults", "/console/faults", Icon::Alert, Scope::Tool),
            Self::Traffic => ("Traffic", "/console/traffic", Icon::List, Scope::All),
            Self::Traces => ("Traces", "/console/traces", Icon::Trace, Scope::All),
            Self::Contract => ("Contract", "/console/contract", Icon::Success, Scope::All),
            Self::Events => ("Events", "/console/events", Icon::Events, Scope::All),
            Self::Staff => ("Staff", "/console/staff", Icon::User, Scope::Own),
            Self::Data => ("Data", "/console/data", Icon::Store, Scope::All),
            Self::Clock => ("Clock", "/console/clock", Icon::Clock, Scope::OwnTool),
            Self::Slices => ("Slices", "/console/slices", Icon::Slices, Scope::All),
            Self::Sandboxes => ("Sandboxes", "/console/sandboxes", Icon::Sandboxes, Scope::All),
            Self::Stories => ("Stories", "/console/stories", Icon::Stories, Scope::All),
        }
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
    /// Whether it is offered only where tools are allowed.
    pub fn is_tool(self) -> bool {
        matches!(self, Self::Tool | Self::OwnTool)
    }

    /// Whether it makes no sense with another provider, which has its own accounts, loans, payouts, messages and
    /// time.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Own | Self::OwnTool)
    }
}
