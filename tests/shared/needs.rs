//! Tests of cases that not every run can be put to. Their modules say what they need, and `scripts/test` chooses by that.

/// Makes tests of cases: `postgres` and `sqlite` are about one database, `proofs` take long and belong to `scripts/proofs`.
macro_rules! needs {
    (sqlite: $($case:ident),+ $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $case() {
                    super::$case().await;
                }
            )+
        }
    };
    (postgres: $($case:ident),+ $(,)?) => {
        mod postgres {
            $(
                #[tokio::test]
                #[ignore = "needs PostgreSQL"]
                async fn $case() {
                    super::$case().await;
                }
            )+
        }
    };
    (proofs: $($case:ident),+ $(,)?) => {
        mod proofs {
            $(
                #[tokio::test]
                #[ignore = "takes long"]
                async fn $case() {
                    super::$case().await;
                }
            )+
        }
    };
}
