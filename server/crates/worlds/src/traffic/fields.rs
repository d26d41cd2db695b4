//! The fields and parameters of the contract whose values are shown or masked.

use std::sync::LazyLock;

use contract::fields_of_calls;

/// The fields of the contract that are shown masked: their format is `password`.
pub(super) static SECRET_FIELDS: LazyLock<Vec<&str>> = LazyLock::new(|| fields(true));
/// The fields of the contract that are shown, in alphabetical order. Others are not: a caller may have
/// put a secret under any name.
pub(super) static SHOWN_FIELDS: LazyLock<Vec<&str>> = LazyLock::new(|| fields(false));

/// The parameters of the contract that are shown, besides those with the name of a shown field.
pub(super) const PARAMETERS: [&str; 4] = ["cursor", "limit", "period", "unit"];

fn fields(secret: bool) -> Vec<&'static str> {
    let fields = fields_of_calls("/api/").into_iter();
    fields.filter(|(_, is_secret)| *is_secret == secret).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_contract_with_the_name_of_a_secret_is_marked_as_one() {
        for name in SHOWN_FIELDS.iter().filter(|name| **name != "password_changed_at") {
            let is_secret = ["password", "otp", "token", "secret"].iter().any(|part| name.contains(part));
            assert!(!is_secret, "{name} has no `format: password` in the contract");
        }
        assert!(SECRET_FIELDS.contains(&"token"));
    }
}
