//! Whether a database has the tables that a program keeps, with the columns that are needed of each.

use crate::database::SourceDatabase;
use crate::error::ImportError;

/// A table and the columns that are needed of it.
pub(super) type NeededTable = (&'static str, &'static [&'static str]);

/// Refuses a database that lacks anything, and says all that it lacks.
pub(super) async fn check(
    database: &mut SourceDatabase,
    program: &str,
    needed: &[NeededTable],
) -> Result<(), ImportError> {
    let (mut lacking, mut found) = (Vec::new(), 0);
    for (table, columns) in needed {
        let known = database.columns(table).await?;
        if known.is_empty() {
            lacking.push(format!("the table {table}"));
            continue;
        }
        found += 1;
        for column in *columns {
            if !known.iter().any(|(name, _)| name == column) {
                lacking.push(format!("the column {table}.{column}"));
            }
        }
    }
    if lacking.is_empty() {
        return Ok(());
    }
    let lacks = lacking.join(", ");
    Err(ImportError::Schema(if found == 0 {
        format!("this is no database of {program}: it lacks {lacks}")
    } else {
        format!(
            "the schema of this database of {program} is not whole, or of a version that is not known: it lacks {lacks}. Start the \
             newest version of {program} on it once, so that it ends its migration, and run this again. Nothing was taken over"
        )
    }))
}
