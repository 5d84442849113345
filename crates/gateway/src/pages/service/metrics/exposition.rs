//! The text form of metrics: every line of the table with its sentence and its rows.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use atelier_contract::metrics::{CounterVec, Exemplar, Histogram, HistogramVec, METRICS, Metric};

/// Rows by the name of their metric.
#[derive(Default)]
pub(super) struct Exposition {
    rows: BTreeMap<&'static str, String>,
    /// In the form of OpenMetrics, with the last recorded trace of each step.
    open: bool,
}

impl Exposition {
    pub(super) fn new(open: bool) -> Self {
        let rows = BTreeMap::new();
        Self { rows, open }
    }

    /// A row of a counter or a gauge, with the values of its labels in their order.
    pub(super) fn value(&mut self, metric: &'static Metric, values: &[&str], value: impl Display) {
        let labels = labels(metric, values, None);
        let rows = self.rows.entry(metric.name).or_default();
        let _ = writeln!(rows, "{}{labels} {value}", metric.name);
    }

    /// The rows of counters; pairs of values that never came together are left out.
    pub(super) fn counters(&mut self, counters: &CounterVec) {
        for (values, count) in counters.rows() {
            if count > 0 || values.len() < 2 {
                self.value(counters.metric(), &values, count);
            }
        }
    }

    /// The rows of histograms; those of values that never came are left out.
    pub(super) fn series(&mut self, series: &HistogramVec) {
        for (values, histogram) in series.rows() {
            self.histogram(series.metric(), &values, histogram);
        }
    }

    fn histogram(&mut self, metric: &'static Metric, values: &[&str], histogram: &Histogram) {
        let (up_to, sum) = histogram.read();
        let count = up_to.last().copied().unwrap_or(0);
        if count == 0 && !values.is_empty() {
            return;
        }
        let (name, scale) = (metric.name, histogram.scale());
        let unit = |amount: u64| amount as f64 / scale.per_unit as f64;
        let bounds = scale.bounds.iter().map(|bound| unit(*bound).to_string());
        let exemplars = if self.open {
            histogram.exemplars()
        } else {
            Vec::new()
        };
        let mut exemplars = exemplars.into_iter();
        let rows = self.rows.entry(name).or_default();
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(up_to) {
            let labels = labels(metric, values, Some(&bound));
            let _ = write!(rows, "{name}_bucket{labels} {count}");
            if let Some(Exemplar { mark, amount }) = exemplars.next().flatten() {
                let (trace, time_s) = (mark.trace, mark.time_ms as f64 / 1000.0);
                let amount = unit(amount);
                let _ = write!(
                    rows,
                    " # {{trace_id=\"{trace:032x}\"}} {amount} {time_s:.3}"
                );
            }
            rows.push('\n');
        }
        let labels = labels(metric, values, None);
        let _ = writeln!(rows, "{name}_sum{labels} {}", unit(sum));
        let _ = writeln!(rows, "{name}_count{labels} {count}");
    }

    /// All of it, in the order of the table.
    pub(super) fn text(self) -> String {
        let mut text = String::with_capacity(16 * 1024);
        for metric in METRICS {
            let (name, kind) = (metric.name, metric.kind.word());
            // There a counter is named without what its rows end in.
            let family = name.strip_suffix("_total").filter(|_| self.open);
            let family = family.unwrap_or(name);
            let _ = writeln!(text, "# HELP {family} {}", metric.about);
            let _ = writeln!(text, "# TYPE {family} {kind}");
            text.push_str(self.rows.get(name).map_or("", String::as_str));
        }
        if self.open {
            text.push_str("# EOF\n");
        }
        text
    }
}

/// The labels of a row; nothing for none.
fn labels(metric: &Metric, values: &[&str], bound: Option<&str>) -> String {
    let named = metric.labels.iter().copied().zip(values.iter().copied());
    let named = named.chain(bound.map(|bound| ("le", bound)));
    let mut text = String::new();
    for (name, value) in named {
        let comma = if text.is_empty() { '{' } else { ',' };
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = write!(text, "{comma}{name}=\"{}\"", value.replace('\n', "\\n"));
    }
    if !text.is_empty() {
        text.push('}');
    }
    text
}

#[cfg(test)]
mod tests {
    use atelier_contract::metrics::{TraceMark, table};

    use super::*;

    #[test]
    fn a_histogram_is_written_as_prometheus_reads_it() {
        let calls = HistogramVec::new(
            &table::VENDOR_CALL_DURATION,
            [vec!["fal", "veo"], vec!["start"]],
        );
        calls.at("fal", "start").observe(300_000);
        let mut page = Exposition::default();
        page.series(&calls);
        let text = page.text();
        for line in [
            "atelier_vendor_call_duration_seconds_bucket{vendor=\"fal\",call=\"start\",le=\"0.25\"} 0",
            "atelier_vendor_call_duration_seconds_bucket{vendor=\"fal\",call=\"start\",le=\"0.5\"} 1",
            "atelier_vendor_call_duration_seconds_bucket{vendor=\"fal\",call=\"start\",le=\"+Inf\"} 1",
            "atelier_vendor_call_duration_seconds_sum{vendor=\"fal\",call=\"start\"} 0.3",
            "atelier_vendor_call_duration_seconds_count{vendor=\"fal\",call=\"start\"} 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in {text}");
        }
        assert!(!text.contains("veo"), "nobody asked it");
    }

    #[test]
    fn the_open_form_names_the_trace_of_a_step_and_ends() {
        let waits = HistogramVec::new(&table::JOB_WAIT, [vec!["artgen"], vec![]]);
        let mark = TraceMark {
            trace: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            time_ms: 1_790_000_000_250,
        };
        waits.at("artgen", "").observe_ms(300, Some(mark));
        let written = |open| {
            let mut page = Exposition::new(open);
            page.series(&waits);
            page.value(&table::AUDITED, &[], 1);
            page.text()
        };
        let text = written(true);
        for line in [
            "atelier_job_wait_seconds_bucket{family=\"artgen\",le=\"0.25\"} 0",
            "atelier_job_wait_seconds_bucket{family=\"artgen\",le=\"0.5\"} 1 # {trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"} 0.3 1790000000.250",
            "# TYPE atelier_audited_accounts counter",
            "atelier_audited_accounts_total 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in {text}");
        }
        assert!(text.ends_with("# EOF\n"));
        let plain = written(false);
        assert!(
            !plain.contains("trace_id") && !plain.contains("EOF"),
            "{plain}"
        );
    }

    #[test]
    fn what_a_label_says_cannot_end_it() {
        let mut page = Exposition::default();
        page.value(&table::WORKER_BUSY, &["a\"b\\c\nd"], 1);
        let line = r#"atelier_worker_busy{worker="a\"b\\c\nd"} 1"#;
        assert!(page.text().contains(line));
    }
}
