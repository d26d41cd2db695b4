//! The kinds of events.

use serde::{Deserialize, Serialize};
use store::serde_plain;

macro_rules! kinds {
    ($($kind:ident $text:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum EventKind {
            $($kind,)*
        }

        store::stored_as_text!(EventKind);

        impl EventKind {
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the name on the console's page.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }
    };
}

kinds! {
    SignedIn "Signed in",
    SignInFailed "Sign-in failed",
    SignedOut "Signed out",
    PasswordReset "Password reset",
    PasswordResetFailed "Password reset failed",
    ConsoleSignedIn "Signed in to the console",
    ConsoleSignInFailed "Wrong console token",
    ConsoleSignedOut "Signed out of the console",
    FailuresNotListed "More failures, not listed",
    AccountOpened "Account opened",
    AccountActivated "Account activated",
    AccountDeactivated "Account deactivated",
    RoleChanged "Role changed",
    ProfileChanged "Profile changed",
    PasswordChanged "Password changed",
    PasswordChangeFailed "Wrong password in the profile",
    SignInCodeChanged "Sign-in codes turned on or off",
    PreferencesChanged "Preferences changed",
    SettingsChanged "Settings of the portal changed",
    SessionsEnded "Sessions ended",
    LoansApproved "Loans approved",
    PayoutMade "Payout of the past made",
    ScenarioChanged "Scenario changed",
    ClockSet "Clock set",
    FaultAdded "Fault added",
    FaultsRemoved "Faults removed",
    MessagesDeleted "Messages deleted",
    TrafficCleared "Calls cleared",
    DataReset "Data reset",
    DataCopied "Data copied from another database",
    DataRestored "Backup restored",
    DataCopyFound "Another copy of the data found",
    DataSeeded "Generated data added",
    SnapshotSaved "Snapshot saved",
    SnapshotRestored "Snapshot restored",
    SnapshotRemoved "Snapshot removed",
    SlicePublished "Build of a slice published",
    SliceActivated "Build of a slice activated",
    SliceRolledBack "Slice rolled back",
    SliceNotRolledBack "Failing build of a slice stays live",
    SliceRemoved "Slice's builds removed",
    DeployTokenAdded "Deploy token added",
    DeployTokenRevoked "Deploy token revoked",
    DeployTokenRefused "Wrong deploy token",
    SliceRolledOut "Build of a slice rolled out to some",
    SliceRolloutHeld "Rollout of a slice held",
    SlicePromoted "Build of a slice promoted",
    SliceRolloutAborted "Rollout of a slice aborted",
    SandboxMade "Sandbox made",
    SandboxRemoved "Sandbox removed",
    StoryGoneOn "Story gone on",
    StoryLinkMade "Link to a story made",
    StoryLinkRevoked "Link to a story revoked",
}

impl EventKind {
    /// Returns whether it is a failure that anybody can cause.
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            Self::SignInFailed
                | Self::PasswordResetFailed
                | Self::ConsoleSignInFailed
                | Self::DeployTokenRefused
        )
    }

    pub fn named(name: &str) -> Option<Self> {
        serde_plain::from_str(name).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name_everywhere() {
        for kind in EventKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.to_string());
            assert_eq!(EventKind::named(&kind.to_string()), Some(*kind));
        }
    }
}
