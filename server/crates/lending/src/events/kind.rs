//! The kinds of events.

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($kind:ident $name:literal $text:literal,)*) => {
        /// The kind of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "the texts say it")]
        pub enum Kind {
            $($kind,)*
        }

        store::stored_as_text!(Kind);

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the name in the API, the log and the database.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

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
    SignedIn "signed_in" "Signed in",
    SignInFailed "sign_in_failed" "Sign-in failed",
    SignedOut "signed_out" "Signed out",
    PasswordReset "password_reset" "Password reset",
    PasswordResetFailed "password_reset_failed" "Password reset failed",
    ConsoleSignedIn "console_signed_in" "Signed in to the console",
    ConsoleSignInFailed "console_sign_in_failed" "Wrong console token",
    ConsoleSignedOut "console_signed_out" "Signed out of the console",
    FailuresNotListed "failures_not_listed" "More failures, not listed",
    AccountOpened "account_opened" "Account opened",
    AccountActivated "account_activated" "Account activated",
    AccountDeactivated "account_deactivated" "Account deactivated",
    RoleChanged "role_changed" "Role changed",
    ProfileChanged "profile_changed" "Profile changed",
    PasswordChanged "password_changed" "Password changed",
    PasswordChangeFailed "password_change_failed" "Wrong password in the profile",
    SignInCodeChanged "sign_in_code_changed" "Sign-in codes turned on or off",
    PreferencesChanged "preferences_changed" "Preferences changed",
    SettingsChanged "settings_changed" "Settings of the portal changed",
    SessionsEnded "sessions_ended" "Sessions ended",
    LoansApproved "loans_approved" "Loans approved",
    PayoutMade "payout_made" "Payout of the past made",
    ScenarioChanged "scenario_changed" "Scenario changed",
    ClockSet "clock_set" "Clock set",
    FaultAdded "fault_added" "Fault added",
    FaultsRemoved "faults_removed" "Faults removed",
    MessagesDeleted "messages_deleted" "Messages deleted",
    TrafficCleared "traffic_cleared" "Calls cleared",
    DataReset "data_reset" "Data reset",
    DataCopied "data_copied" "Data copied from another database",
    DataRestored "data_restored" "Backup restored",
    DataCopyFound "data_copy_found" "Another copy of the data found",
    DataSeeded "data_seeded" "Generated data added",
    SnapshotSaved "snapshot_saved" "Snapshot saved",
    SnapshotRestored "snapshot_restored" "Snapshot restored",
    SnapshotRemoved "snapshot_removed" "Snapshot removed",
    SlicePublished "slice_published" "Build of a slice published",
    SliceActivated "slice_activated" "Build of a slice activated",
    SliceRolledBack "slice_rolled_back" "Slice rolled back",
    SliceRemoved "slice_removed" "Slice's builds removed",
    DeployTokenAdded "deploy_token_added" "Deploy token added",
    DeployTokenRevoked "deploy_token_revoked" "Deploy token revoked",
    DeployTokenRefused "deploy_token_refused" "Wrong deploy token",
    SliceRolledOut "slice_rolled_out" "Build of a slice rolled out to some",
    SliceRolloutHeld "slice_rollout_held" "Rollout of a slice held",
    SlicePromoted "slice_promoted" "Build of a slice promoted",
    SliceRolloutAborted "slice_rollout_aborted" "Rollout of a slice aborted",
    SandboxMade "sandbox_made" "Sandbox made",
    SandboxRemoved "sandbox_removed" "Sandbox removed",
    StoryGoneOn "story_gone_on" "Story gone on",
    StoryLinkMade "story_link_made" "Link to a story made",
    StoryLinkRevoked "story_link_revoked" "Link to a story revoked",
    // Written by earlier versions only.
    ConsoleChange "console_change" "Change on the console",
}

impl Kind {
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

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name_everywhere() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(Kind::named(kind.name()), Some(*kind));
        }
    }
}
