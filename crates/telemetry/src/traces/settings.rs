//! Where spans are sent, and which ones: OpenTelemetry's environment variables.

use std::{fmt, time::Duration};

use belljar_gateway::Sampling;
use belljar_model::TraceContext;
use opentelemetry::{
    Context,
    trace::{SpanKind, TraceContextExt as _, TraceId},
};
use opentelemetry_otlp::{
    Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _, WithTonicConfig as _,
    tonic_types::transport::ClientTlsConfig,
};
use opentelemetry_sdk::{
    Resource,
    trace::{Sampler, SamplingDecision, ShouldSample as _, SpanExporter as _},
};
use reqwest::Url;

use super::fold;

/// Looks up a variable.
pub type Variables<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// Variables that the library would ignore, or that would lose every span: for compression that is
/// not built in, and for the owner's own certificates.
const UNSUPPORTED: [&str; 8] = [
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
];

/// Enables the content of calls in spans, as for other GenAI instrumentations.
const CAPTURE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// The name of the service, unless a variable sets another one.
const SERVICE: &str = "belljar";

/// How spans are sent, and which ones.
#[derive(Clone)]
pub struct TraceSettings {
    protocol: Protocol,
    /// The longest time for one attempt over HTTP.
    attempt: Duration,
    is_private_grpc: bool,
    is_named: bool,
    pub(super) sampler: TraceSampler,
    /// The most spans that may wait.
    pub(super) max_queue: usize,
    /// The most spans in one message.
    pub(super) max_batch: usize,
    /// How long a span waits for others.
    pub(super) delay: Duration,
    /// How long a message may take, including all attempts.
    pub(super) export: Duration,
}

/// Why spans cannot be sent as the variables demand.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceSettingsError {
    /// A value that is not supported.
    #[error("{variable} is '{value}', which belljar does not know; it knows {known}")]
    Unknown {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The values that are supported.
        known: &'static str,
    },
    /// An endpoint that is not a URL. It may contain a password, so the message does not quote it.
    #[error("{variable} is not an address like {example}")]
    Endpoint {
        /// The variable.
        variable: &'static str,
        /// An example of a valid value.
        example: &'static str,
    },
}

impl TraceSettings {
    /// The settings in these variables, or `None` if they ask for no traces: without an endpoint,
    /// nothing is sent.
    ///
    /// # Errors
    /// They ask for something that is not supported.
    pub fn of(variables: &Variables<'_>) -> Result<Option<Self>, TraceSettingsError> {
        let text = |name: &str| variables(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let given = |variable: &'static str| text(variable).map(|endpoint| (variable, endpoint));
        let endpoint = given("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(|| given("OTEL_EXPORTER_OTLP_ENDPOINT"));
        let is_disabled = text("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let exporter = text("OTEL_TRACES_EXPORTER");
        let Some((endpoint_variable, endpoint)) =
            endpoint.filter(|_| !is_disabled && exporter.as_deref() != Some("none"))
        else {
            return Ok(None);
        };
        if let Some(value) = exporter.filter(|exporter| exporter != "otlp") {
            return Err(TraceSettingsError::Unknown {
                variable: "OTEL_TRACES_EXPORTER",
                value: shown(&value),
                known: "otlp and none",
            });
        }
        let (variable, protocol) = match text("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") {
            Some(protocol) => ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", Some(protocol)),
            None => ("OTEL_EXPORTER_OTLP_PROTOCOL", text("OTEL_EXPORTER_OTLP_PROTOCOL")),
        };
        let protocol = match protocol.as_deref() {
            None | Some("http/protobuf") => Protocol::HttpBinary,
            Some("grpc") => Protocol::Grpc,
            Some(other) => {
                let known = "http/protobuf and grpc";
                return Err(TraceSettingsError::Unknown { variable, value: shown(other), known });
            }
        };
        if !is_address(&endpoint, protocol) {
            let example = match protocol {
                Protocol::Grpc => "http://localhost:4317",
                _ => "http://localhost:4318",
            };
            return Err(TraceSettingsError::Endpoint { variable: endpoint_variable, example });
        }
        for variable in UNSUPPORTED {
            let value = text(variable).filter(|value| value != "none");
            if let Some(value) = value {
                return Err(TraceSettingsError::Unknown { variable, value: shown(&value), known: "none" });
            }
        }
        let number = |variable: &'static str| match text(variable) {
            None => Ok(None),
            Some(value) => value.parse::<u32>().map(Some).map_err(|_| TraceSettingsError::Unknown {
                variable,
                value: shown(&value),
                known: "whole numbers up to 4294967295",
            }),
        };
        let milliseconds = |name: &'static str, default: u32| {
            number(name).map(|found| Duration::from_millis(found.unwrap_or(default).into()))
        };
        let attempt = match number("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")? {
            Some(attempt) => Some(attempt),
            None => number("OTEL_EXPORTER_OTLP_TIMEOUT")?,
        };
        let count = |name: &'static str, default: u32| {
            number(name).map(|found| usize::try_from(found.unwrap_or(default)).unwrap_or(usize::MAX).max(1))
        };
        // Holding more in memory is of no use.
        let max_queue = count("OTEL_BSP_MAX_QUEUE_SIZE", 2048)?.min(65_536);
        let takes_content = match text(CAPTURE).map(|text| text.to_ascii_lowercase()).as_deref() {
            None | Some("false" | "no_content") => false,
            Some("true" | "span_only") => true,
            Some(other) => {
                let known = "true, false, span_only and no_content";
                return Err(TraceSettingsError::Unknown { variable: CAPTURE, value: shown(other), known });
            }
        };
        let is_insecure = text("OTEL_EXPORTER_OTLP_TRACES_INSECURE").or_else(|| text("OTEL_EXPORTER_OTLP_INSECURE"));
        let is_insecure = is_insecure.is_some_and(|text| text.eq_ignore_ascii_case("true"));
        Ok(Some(Self {
            protocol,
            attempt: Duration::from_millis(attempt.unwrap_or(10_000).into()),
            is_private_grpc: is_private(&endpoint, is_insecure),
            is_named: text("OTEL_SERVICE_NAME").is_some()
                || text("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|text| names_a_service(&text)),
            sampler: TraceSampler {
                takes_content,
                ..TraceSampler::of(text("OTEL_TRACES_SAMPLER"), text("OTEL_TRACES_SAMPLER_ARG"))?
            },
            max_queue,
            max_batch: count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)?.min(max_queue),
            delay: milliseconds("OTEL_BSP_SCHEDULE_DELAY", 5000)?,
            export: milliseconds("OTEL_BSP_EXPORT_TIMEOUT", 30_000)?,
        }))
    }

    /// The exporter that sends them. The library itself reads the variables for endpoint and
    /// headers. It needs a runtime.
    pub(super) fn exporter(&self) -> Result<SpanExporter, String> {
        // The first provider installed in this process stays, and any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let exporter = match self.protocol {
            Protocol::Grpc => {
                let builder = SpanExporter::builder().with_tonic().with_protocol(Protocol::Grpc);
                match self.is_private_grpc {
                    true => builder.with_tls_config(ClientTlsConfig::new().with_enabled_roots()).build(),
                    false => builder.build(),
                }
            }
            _ => {
                // Headers may contain a key, so they must only go to the address that the owner
                // named.
                let client = reqwest::Client::builder()
                    .timeout(self.attempt)
                    .redirect(reqwest::redirect::Policy::none())
                    .no_proxy()
                    .referer(false)
                    .build()
                    .map_err(|error| error.to_string())?;
                SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).with_http_client(client).build()
            }
        };
        let mut exporter = exporter.map_err(|error| error.to_string())?;
        let resource = Resource::builder();
        let resource = if self.is_named { resource } else { resource.with_service_name(SERVICE) };
        exporter.set_resource(&resource.build());
        Ok(exporter)
    }
}

impl fmt::Debug for TraceSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TraceSettings").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

/// Whether gRPC to this endpoint is encrypted: without a scheme it is, unless the owner says
/// otherwise.
fn is_private(endpoint: &str, is_insecure: bool) -> bool {
    match endpoint.split_once("://") {
        Some((scheme, _)) => scheme.eq_ignore_ascii_case("https"),
        None => !is_insecure,
    }
}

/// Whether spans can be sent to an endpoint. Only gRPC accepts those without a scheme, and its
/// library quotes the whole of an endpoint that it does not understand.
fn is_address(endpoint: &str, protocol: Protocol) -> bool {
    let is_web = |text: &str| {
        Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
    };
    let is_bare = protocol == Protocol::Grpc && !endpoint.contains("://") && !endpoint.contains('@');
    if is_bare { is_web(&format!("http://{endpoint}")) } else { is_web(endpoint) }
}

fn names_a_service(attributes: &str) -> bool {
    attributes.split(',').any(|attribute| attribute.split('=').next().is_some_and(|key| key.trim() == "service.name"))
}

/// A value for a message, on one line and shortened.
fn shown(value: &str) -> String {
    belljar_model::display::line(value).chars().take(60).collect()
}

/// Decides which traces are recorded, and whether they include the content of calls.
#[derive(Debug, Clone)]
pub(super) struct TraceSampler {
    sampler: Sampler,
    takes_content: bool,
}

impl TraceSampler {
    fn of(name: Option<String>, argument: Option<String>) -> Result<Self, TraceSettingsError> {
        let ratio = || match argument.as_deref().map(|text| (text, text.parse::<f64>())) {
            None => Ok(1.0),
            Some((_, Ok(ratio))) if (0.0..=1.0).contains(&ratio) => Ok(ratio),
            Some((text, _)) => Err(TraceSettingsError::Unknown {
                variable: "OTEL_TRACES_SAMPLER_ARG",
                value: shown(text),
                known: "numbers from 0 to 1",
            }),
        };
        let of_parent = |sampler: Sampler| Sampler::ParentBased(Box::new(sampler));
        let sampler = match name.as_deref() {
            None | Some("parentbased_always_on") => of_parent(Sampler::AlwaysOn),
            Some("parentbased_always_off") => of_parent(Sampler::AlwaysOff),
            Some("parentbased_traceidratio") => of_parent(Sampler::TraceIdRatioBased(ratio()?)),
            Some("always_on") => Sampler::AlwaysOn,
            Some("always_off") => Sampler::AlwaysOff,
            Some("traceidratio") => Sampler::TraceIdRatioBased(ratio()?),
            Some(other) => {
                return Err(TraceSettingsError::Unknown {
                    variable: "OTEL_TRACES_SAMPLER",
                    value: shown(other),
                    known: "always_on, always_off, traceidratio, and each of them with parentbased_ before it",
                });
            }
        };
        Ok(Self { sampler, takes_content: false })
    }
}

impl Sampling for TraceSampler {
    fn is_sampled(&self, trace: u128, parent: Option<&TraceContext>) -> bool {
        let parent = parent.map(|parent| Context::new().with_remote_span_context(fold::remote(parent)));
        let trace = TraceId::from(trace);
        let sampled = self.sampler.should_sample(parent.as_ref(), trace, fold::RUN, &SpanKind::Internal, &[], &[]);
        sampled.decision == SamplingDecision::RecordAndSample
    }

    fn takes_content(&self) -> bool {
        self.takes_content
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<TraceSettings>, TraceSettingsError> {
        let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
        TraceSettings::of(&|name| variables.get(name).map(|value| (*value).to_owned()))
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");

    #[test]
    fn nothing_is_sent_without_an_endpoint_or_where_the_owner_says_so() {
        let off: [&[(&str, &str)]; 5] = [
            &[],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_TRACES_EXPORTER", "otlp")],
            &[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")],
            &[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")],
        ];
        for variables in off {
            assert!(of(variables).expect("they are right").is_none(), "{variables:?}");
        }
        assert!(of(&[ENDPOINT]).expect("they are right").is_some());
        assert!(of(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c")]).expect("they are right").is_some());
    }

    #[test]
    fn what_is_not_supported_is_said_and_never_guessed() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "carrier\u{202e}pigeon"),
            ("OTEL_TRACES_EXPORTER", "zipkin"),
            ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "1e5"),
            ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
            (CAPTURE, "span_and_event"),
            (CAPTURE, "1"),
        ] {
            let error = of(&[ENDPOINT, (name, value)]).expect_err("it is not supported").to_string();
            assert!(error.contains(name) && error.contains("knows") && !error.contains('\u{202e}'), "{error}");
        }
    }

    #[test]
    fn an_endpoint_that_is_not_an_address_is_refused_without_what_it_holds() {
        const GRPC: (&str, &str) = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
        for name in ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] {
            for endpoint in ["me:secret@collector:4318", "collector:4318/secret", "ftp://secret", "secret"] {
                let error = of(&[(name, endpoint)]).expect_err("it is not an address").to_string();
                assert!(error.contains(name) && error.contains(":4318") && !error.contains("secret"), "{error}");
            }
            let error = of(&[GRPC, (name, "me:secret@collector:4317")]).expect_err("it is not an address").to_string();
            assert!(error.contains(":4317") && !error.contains("secret"), "{error}");
            for endpoint in ["collector:4317", "[::1]:4317", "https://me:secret@collector"] {
                assert!(of(&[GRPC, (name, endpoint)]).expect("it is an address").is_some(), "{endpoint}");
            }
        }
    }

    #[test]
    fn what_calls_carry_is_taken_only_where_the_owner_asks_for_it() {
        let takes = |variables: &[(&str, &str)]| {
            of(variables).expect("they are right").expect("there is an endpoint").sampler.takes_content()
        };
        assert!(!takes(&[ENDPOINT]));
        for (value, taken) in
            [("True", true), ("SPAN_ONLY", true), (" ", false), ("false", false), ("NO_CONTENT", false)]
        {
            assert_eq!(takes(&[ENDPOINT, (CAPTURE, value)]), taken, "{value}");
        }
    }

    #[test]
    fn sizes_and_times_are_those_of_the_variables_within_bounds() {
        let settings = of(&[
            ENDPOINT,
            ("OTEL_BSP_MAX_QUEUE_SIZE", "4000000000"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "7"),
            ("OTEL_BSP_SCHEDULE_DELAY", "20"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "300"),
        ]);
        let settings = settings.expect("they are right").expect("there is an endpoint");
        assert_eq!((settings.max_queue, settings.max_batch), (65_536, 7));
        assert_eq!((settings.delay, settings.attempt), (Duration::from_millis(20), Duration::from_millis(300)));
        assert_eq!(settings.export, Duration::from_secs(30));
    }

    #[test]
    fn the_parent_decides_unless_the_owner_does() {
        let parent = |sampled| TraceContext { trace: 1, span: 2, sampled, state: None };
        let sampler = |name: &str, ratio: &str| {
            let ratio = Some(ratio.to_owned()).filter(|ratio| !ratio.is_empty());
            TraceSampler::of(Some(name.to_owned()), ratio).expect("a sampler")
        };
        let default = TraceSampler::of(None, None).expect("a sampler");
        assert!(default.is_sampled(1, None) && default.is_sampled(1, Some(&parent(true))));
        assert!(!default.is_sampled(1, Some(&parent(false))));
        assert!(sampler("always_on", "").is_sampled(1, Some(&parent(false))));
        assert!(!sampler("always_off", "").is_sampled(1, Some(&parent(true))));
        assert!(!sampler("traceidratio", "0").is_sampled(u128::MAX, None));
        for wrong in ["5%", "2", "NaN", "-0.1"] {
            assert!(TraceSampler::of(Some("traceidratio".to_owned()), Some(wrong.to_owned())).is_err(), "{wrong}");
        }
        for (endpoint, insecure, private) in
            [("c:4317", false, true), ("c:4317", true, false), ("HTTPS://c", true, true), ("http://c", false, false)]
        {
            assert_eq!(is_private(endpoint, insecure), private, "{endpoint}");
        }
        assert!(sampler("parentbased_traceidratio", "0").is_sampled(u128::MAX, Some(&parent(true))));
    }
}
