//! Decorative icons beside text.

use leptos::prelude::*;

/// An icon, in the style of the portal's icons: the path of its drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icon(&'static str);

impl Icon {
    pub const ALERT: Self = Self("M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v6M12 16.5v.1");
    pub const CHART: Self = Self("M4 20V4M4 20h16M8 16v-4M13 16V8M18 16v-6");
    pub const CLOCK: Self = Self("M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v5l3.5 2");
    pub const COPY: Self = Self("M9 9h11v11H9zM5 15H4V4h11v1");
    pub const EMPTY: Self = Self("M4 13 7 5h10l3 8v6H4zM4 13h5l1 2h4l1-2h5");
    pub const EVENTS: Self = Self("M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6");
    pub const FAILURE: Self = Self("M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M9 9l6 6M15 9l-6 6");
    pub const LIST: Self = Self("M8 6h12M8 12h12M8 18h12M4 6v.1M4 12v.1M4 18v.1");
    pub const MAIL: Self = Self("M3 6h18v12H3zM3 7l9 7 9-7");
    pub const MENU: Self = Self("M4 7h16M4 12h16M4 17h16");
    pub const MONEY: Self = Self("M4 7h16v11H4zM4 10h16M8 15h3");
    pub const PHONE: Self = Self("M7 3h10v18H7zM11 18h2");
    pub const SANDBOXES: Self = Self("M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z");
    pub const SEND: Self = Self("M21 3 10 14M21 3l-7 18-4-7-7-4z");
    pub const SIGN_OUT: Self = Self("M10 4H4v16h6M15 8l4 4-4 4M19 12H9");
    pub const SLICES: Self = Self("M12 3l9 5-9 5-9-5zM3 12.5l9 5 9-5M3 17l9 5 9-5");
    pub const STORE: Self = Self("M4 6c0-4 16-4 16 0s-16 4-16 0v12c0 4 16 4 16 0V6M4 12c0 4 16 4 16 0");
    pub const STORIES: Self = Self(
        "M4 5c3-1.5 5.500-1.500 8 0v15c-2.500-1.500-5-1.500-8 0zM20 5c-3-1.500-5.500-1.500-8 0v15c2.500-1.500 5-1.500 8 0z",
    );
    pub const SUCCESS: Self = Self("M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M8 12.5l2.7 2.7L16 9.5");
    pub const TRACE: Self = Self("M3 5h9M7 10h10M11 15h6M14 20h7");
    pub const TRANSFER: Self = Self("M7 4 3 8l4 4M3 8h14M17 12l4 4-4 4M21 16H7");
    pub const USER: Self = Self("M8 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0M4 21a8 8 0 0 1 16 0");

    /// The SVG, in the color of the text.
    pub fn view(self) -> AnyView {
        view! {
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
                <path d=self.0></path>
            </svg>
        }
        .into_any()
    }
}
