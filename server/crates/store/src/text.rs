//! Enums that are stored as text.

/// Stores and displays enums as text, by the names that they have in the contract: those that `serde` gives them.
#[macro_export]
macro_rules! stored_as_text {
    ($name:ty) => {
        $crate::serde_plain::derive_display_from_serialize!($name);

        impl<DB: sqlx::Database> sqlx::Type<DB> for $name
        where
            String: sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                String::type_info()
            }

            fn compatible(stored: &DB::TypeInfo) -> bool {
                String::compatible(stored)
            }
        }

        impl<'q, DB: sqlx::Database> sqlx::Encode<'q, DB> for $name
        where
            String: sqlx::Encode<'q, DB>,
        {
            fn encode_by_ref(
                &self,
                buffer: &mut DB::ArgumentBuffer,
            ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
                sqlx::Encode::<DB>::encode($crate::serde_plain::to_string(self)?, buffer)
            }
        }

        impl<'r, DB: sqlx::Database> sqlx::Decode<'r, DB> for $name
        where
            &'r str: sqlx::Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, sqlx::error::BoxDynError> {
                Ok($crate::serde_plain::from_str(<&str as sqlx::Decode<DB>>::decode(value)?)?)
            }
        }
    };
}
