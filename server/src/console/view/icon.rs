//! Decorative icons beside text.

use leptos::prelude::*;

/// An icon, in the style of the portal's icons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    Alert,
    Chart,
    Clock,
    Copy,
    Empty,
    Events,
    Failure,
    List,
    Mail,
    Menu,
    Money,
    Phone,
    Sandboxes,
    Send,
    SignOut,
    Slices,
    Store,
    Stories,
    Success,
    Trace,
    Transfer,
    User,
}

impl Icon {
    fn path(self) -> &'static str {
        match self {
            Self::Alert => "M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v6M12 16.5v.1",
            Self::Chart => "M4 20V4M4 20h16M8 16v-4M13 16V8M18 16v-6",
            Self::Clock => "M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v5l3.5 2",
            Self::Copy => "M9 9h11v11H9zM5 15H4V4h11v1",
            Self::Empty => "M4 13 7 5h10l3 8v6H4zM4 13h5l1 2h4l1-2h5",
            Self::Events => "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6",
            Self::Failure => "M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M9 9l6 6M15 9l-6 6",
            Self::List => "M8 6h12M8 12h12M8 18h12M4 6v.1M4 12v.1M4 18v.1",
            Self::Mail => "M3 6h18v12H3zM3 7l9 7 9-7",
            Self::Menu => "M4 7h16M4 12h16M4 17h16",
            Self::Money => "M4 7h16v11H4zM4 10h16M8 15h3",
            Self::Phone => "M7 3h10v18H7zM11 18h2",
            Self::Sandboxes => "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
            Self::Send => "M21 3 10 14M21 3l-7 18-4-7-7-4z",
            Self::SignOut => "M10 4H4v16h6M15 8l4 4-4 4M19 12H9",
            Self::Slices => "M12 3l9 5-9 5-9-5zM3 12.5l9 5 9-5M3 17l9 5 9-5",
            Self::Store => "M4 6c0-4 16-4 16 0s-16 4-16 0v12c0 4 16 4 16 0V6M4 12c0 4 16 4 16 0",
            Self::Stories => {
                "M4 5c3-1.5 5.500-1.500 8 0v15c-2.500-1.500-5-1.500-8 0zM20 5c-3-1.500-5.500-1.500-8 0v15c2.500-1.500 5-1.500 8 0z"
            }
            Self::Success => "M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M8 12.5l2.7 2.7L16 9.5",
            Self::Trace => "M3 5h9M7 10h10M11 15h6M14 20h7",
            Self::Transfer => "M7 4 3 8l4 4M3 8h14M17 12l4 4-4 4M21 16H7",
            Self::User => "M8 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0M4 21a8 8 0 0 1 16 0",
        }
    }

    /// The SVG, in the color of the text.
    pub fn view(self) -> AnyView {
        view! {
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
                <path d=self.path()></path>
            </svg>
        }
        .into_any()
    }
}
