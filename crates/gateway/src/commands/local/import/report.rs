//! What becomes of each row, in a file, and in short on standard output: how many of each table, those that are not taken over whole,
//! and whether the money meets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use atelier_contract::Quota;
use atelier_import::{ReportAction, ReportRow, Units};

/// Rows that are printed of each table, beside the counts.
const PRINTED_MOST: usize = 20;

/// The report of a run.
pub(super) struct ImportReport {
    file: Option<BufWriter<File>>,
    head: String,
    counts: BTreeMap<String, BTreeMap<ReportAction, u64>>,
    printed: BTreeMap<String, Vec<ReportRow>>,
    sums: String,
}

/// Where the money of a source goes: all of it together is what was there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ImportSums {
    /// What the rows say, all together.
    pub(super) there: Units,
    /// What is granted here, in their unit.
    pub(super) granted: Units,
    /// The same in ours.
    pub(super) quota: Quota,
    /// What an earlier run took over.
    pub(super) earlier: Units,
    /// What stays there, with rows that are not taken over.
    pub(super) left: Units,
    /// What is too little for a thousandth of ours.
    pub(super) rest: Units,
}

impl ImportSums {
    /// Whether all parts together are what was there.
    pub(super) fn meet(&self) -> bool {
        let parts = [self.granted, self.earlier, self.left, self.rest];
        parts.into_iter().fold(Units::ZERO, Units::plus) == self.there
    }
}

impl ImportReport {
    /// A report that writes its rows into a file, if one is named.
    pub(super) fn open(file: Option<&Path>) -> Result<Self> {
        let file = file.map(|path| {
            let file = File::create(path);
            file.with_context(|| format!("--report: {}", path.display()))
        });
        Ok(Self {
            file: file.transpose()?.map(BufWriter::new),
            head: String::new(),
            counts: BTreeMap::new(),
            printed: BTreeMap::new(),
            sums: String::new(),
        })
    }

    /// What is taken over, and what its money comes to.
    pub(super) fn title(&mut self, source: &str, exchange: &str, unit: &str) {
        self.head = format!("{source}: {exchange} {unit} are 1 quota");
    }

    /// What becomes of a row.
    pub(super) fn row(&mut self, row: ReportRow) -> Result<()> {
        if let Some(file) = &mut self.file {
            serde_json::to_writer(&mut *file, &row)?;
            file.write_all(b"\n")?;
        }
        let counts = self.counts.entry(row.table.clone()).or_default();
        *counts.entry(row.action).or_default() += 1;
        if !row.reason.is_empty() {
            let printed = self.printed.entry(row.table.clone()).or_default();
            if printed.len() < PRINTED_MOST {
                printed.push(row);
            }
        }
        Ok(())
    }

    /// Where the money goes.
    pub(super) fn sums(&mut self, sums: &ImportSums, unit: &str) {
        let lines = [
            ("there", sums.there, String::new()),
            (
                "granted here",
                sums.granted,
                format!(" = {} quota", sums.quota),
            ),
            ("taken over before", sums.earlier, String::new()),
            ("left there", sums.left, String::new()),
            ("below 0.001 quota", sums.rest, String::new()),
        ];
        self.sums = format!("money, in {unit} (the parts add up to what is there):\n");
        for (name, units, more) in lines {
            let line = format!("  {name:<18} {units:>24}{more}\n");
            self.sums.push_str(&line);
        }
    }

    /// Prints what there is to say in short.
    #[expect(clippy::print_stdout, reason = "the command's answer")]
    pub(super) fn finish(mut self) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.flush()?;
        }
        println!("{}", self.head);
        for (table, counts) in &self.counts {
            let counts: Vec<String> = counts
                .iter()
                .map(|(action, count)| format!("{count} {}", action.word()))
                .collect();
            println!("{table}: {}", counts.join(", "));
            let printed = self.printed.remove(table).unwrap_or_default();
            let more = printed.len() == PRINTED_MOST;
            for row in printed {
                println!("  {} {}: {}", row.row, row.action.word(), row.reason);
            }
            if more {
                println!("  …; --report FILE has every row");
            }
        }
        print!("{}", self.sums);
        if self.counts.is_empty() {
            bail!("there is nothing to take over");
        }
        Ok(())
    }
}
