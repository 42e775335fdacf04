//! If a collector accepts a message but rejects spans in it, they are lost. They are counted as
//! lost, and the reason is reported.

use super::collector::{Behaviour, Collector};
use crate::{
    http::{Served, token},
    metrics::{get, parsed, sum},
    support::Terminal,
};

#[test]
fn spans_that_a_collector_rejects_are_lost_and_its_reason_is_said_once() {
    for (rejected, lost, said) in [
        (1, 2.0, "the collector rejected 1 of 2 spans: too\\u{202e} many\\n (1 spans lost so far)"),
        // No more spans can be lost than were sent.
        (i64::MAX, 4.0, "the collector rejected 2 of 2 spans: too\\u{202e} many\\n (2 spans lost so far)"),
        (-1, 0.0, "the collector of spans says: too\\u{202e} many\\n (0 spans lost so far)"),
    ] {
        let behaviour = Behaviour::Rejects(rejected);
        for (protocol, collector) in
            [("http/protobuf", Collector::over_http(behaviour)), ("grpc", Collector::over_grpc(behaviour))]
        {
            let terminal = Terminal::new().with_variables([
                ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.to_owned()),
                // A message has the two spans of a run: that of its request, and its own.
                ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2".to_owned()),
                ("OTEL_BSP_SCHEDULE_DELAY", "3600000".to_owned()),
            ]);
            let scraper = token(&terminal, &["add", "prometheus", "--scope", "metrics"]);
            let served = Served::of(terminal, &[]);
            served.value("1");
            served.value("2");
            let counts = loop {
                let answer = get(&served, &scraper);
                let samples = parsed(answer.split_once("\r\n\r\n").unwrap().1);
                let count = |outcome| sum(&samples, "belljar_spans_total", &[("outcome", outcome)]);
                if count("sent") + count("lost") == 4.0 {
                    break (count("sent"), count("lost"));
                }
            };
            assert_eq!(counts, (4.0 - lost, lost), "{rejected} {protocol}");
            served.signal("-TERM");
            let lines: Vec<String> = served.said.iter().filter(|line| line.contains("many")).collect();
            assert!(lines.len() == 1 && lines[0].contains(said), "{rejected} {protocol}: {lines:?}");
        }
    }
}
