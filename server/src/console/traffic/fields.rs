//! The fields and parameters of the contract whose values are shown or masked.

/// The fields of the contract that are shown masked.
pub(super) const SECRET_FIELDS: [&str; 4] = ["new_password", "otp", "password", "token"];
/// The fields of the contract that are shown, in alphabetical order. Others are not shown, because a
/// caller may have put a secret under any name.
pub(super) const SHOWN_FIELDS: [&str; 59] = [
    "account_number",
    "account_status",
    "agent_id",
    "amount",
    "approved_at",
    "approver_email",
    "approver_id",
    "approver_name",
    "code",
    "created_at",
    "credit_score",
    "customer_account_id",
    "customer_first_name",
    "customer_gender",
    "customer_id",
    "customer_id_number",
    "customer_last_name",
    "customer_nickname",
    "customer_phone_number",
    "customer_status",
    "detail",
    "disbursed_at",
    "disbursed_by",
    "disbursement_status",
    "email",
    "error",
    "error_message",
    "id",
    "interest_rate",
    "loan_created_at",
    "loan_id",
    "loan_status",
    "loan_updated_at",
    "message",
    "mpesa_ref",
    "name",
    "notes",
    "phone",
    "phone_number",
    "processed_at",
    "purpose",
    "record",
    "remaining_balance",
    "request_id",
    "result_code",
    "risk_level",
    "role",
    "status",
    "term",
    "title",
    "total_loan_amount",
    "transaction_id",
    "type",
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

    #[test]
    fn the_shown_fields_can_be_searched() {
        assert!(SHOWN_FIELDS.is_sorted());
    }
}
