//! The fields and parameters of the contract whose values are shown or masked.

/// The fields of the contract that are shown masked.
pub(super) const SECRET_FIELDS: [&str; 5] = ["current_password", "new_password", "otp", "password", "token"];
/// The fields of the contract that are shown, in alphabetical order. Others are not: a caller may have
/// put a secret under any name.
pub(super) const SHOWN_FIELDS: &[&str] = &[
    "account_number",
    "account_status",
    "address",
    "agent_id",
    "amount",
    "approved",
    "approved_at",
    "approver_email",
    "approver_id",
    "approver_name",
    "at",
    "auto_retry",
    "average_disbursement",
    "before_from",
    "before_to",
    "change",
    "code",
    "completed",
    "confirmation_required",
    "created_at",
    "credit_score",
    "customer_account_id",
    "customer_first_name",
    "customer_gender",
    "customer_id",
    "customer_id_number",
    "customer_last_name",
    "customer_name",
    "customer_nickname",
    "customer_phone_number",
    "customer_status",
    "detail",
    "device",
    "disbursed_at",
    "disbursed_by",
    "disbursement_status",
    "email",
    "error",
    "error_message",
    "expires_at",
    "failed",
    "field",
    "figures",
    "figures_before",
    "first_name",
    "from",
    "id",
    "interest_rate",
    "is_current",
    "is_read",
    "kind",
    "language",
    "last_name",
    "latest",
    "loan_created_at",
    "loan_id",
    "loan_status",
    "loan_updated_at",
    "longest_session_minutes",
    "maximum_amount",
    "message",
    "mpesa_ref",
    "name",
    "notes",
    "notifications",
    "notify_by_email",
    "notify_by_sms",
    "password_changed_at",
    "payouts",
    "pending",
    "period",
    "phone",
    "phone_number",
    "preferences",
    "processed_at",
    "purpose",
    "read_until",
    "record",
    "remaining_balance",
    "request_id",
    "required",
    "result_code",
    "retry_attempts",
    "risk_level",
    "role",
    "rules",
    "series",
    "session_minutes",
    "sign_in_code_required",
    "status",
    "success_rate",
    "term",
    "time_zone",
    "title",
    "to",
    "total_disbursed",
    "total_loan_amount",
    "total_transactions",
    "transaction_id",
    "type",
    "unit",
    "unread",
    "unread_approved",
    "until",
    "user",
    "user_email",
    "user_first_name",
    "user_id",
    "user_last_name",
    "username",
];

/// The parameters of the contract that are shown, besides those with the name of a shown field.
pub(super) const PARAMETERS: [&str; 4] = ["cursor", "limit", "period", "unit"];

#[cfg(test)]
mod tests {
    use super::*;
    use contract::listed::{assert_same, fields_of_calls};

    #[test]
    fn each_field_of_the_contract_is_shown_or_masked() {
        assert_same(
            SHOWN_FIELDS.iter().copied().chain(SECRET_FIELDS),
            &fields_of_calls("/api/"),
            "Add a field to SHOWN_FIELDS if operators may see what is in it, or else to SECRET_FIELDS.",
        );
    }

    #[test]
    fn the_shown_fields_can_be_searched() {
        assert!(SHOWN_FIELDS.is_sorted());
    }
}
