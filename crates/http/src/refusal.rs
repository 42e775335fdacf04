//! The answers to rejected requests.

use http::{HeaderValue, StatusCode, header};
use serde_json::Value;

use crate::{
    Limits,
    answer::{self, Answer, LATER},
    body::{MAX_DEPTH, Unread},
    message::INVALID_REQUEST,
    origin::Stranger,
    shares::Full,
};

/// The body was not read.
pub(crate) fn not_read(unread: &Unread, limits: &Limits) -> Answer {
    answer::last(match unread {
        Unread::TooLarge => {
            let message = format!("the body has more than {} bytes, the limit", limits.body_bytes);
            answer::refused(StatusCode::PAYLOAD_TOO_LARGE, &message)
        }
        Unread::TooManyValues => {
            let message = format!("the body has more than {} JSON values, the limit", limits.body_values);
            answer::refused(StatusCode::PAYLOAD_TOO_LARGE, &message)
        }
        Unread::TooDeep => {
            let message = format!("the body is nested more than {MAX_DEPTH} levels deep, the limit");
            answer::rpc_error(StatusCode::BAD_REQUEST, Value::Null, INVALID_REQUEST, &message)
        }
        Unread::TooSlow => {
            let message = format!("the body took more than {} seconds, the limit", limits.body.as_secs());
            answer::refused(StatusCode::REQUEST_TIMEOUT, &message)
        }
        Unread::NoRoom(reason) => full(*reason),
        Unread::Broken => answer::refused(StatusCode::BAD_REQUEST, "the body ends too early or is malformed"),
    })
}

/// Too much is open.
pub(crate) fn full(reason: Full) -> Answer {
    let message = match reason {
        Full::Requests(most) => format!("too many requests are open: the limit is {most}; try again later"),
        Full::RequestsOfPrincipal(most) => {
            format!(
                "too many requests of this principal are open: the limit is {most}, streams included; end some, or try again later"
            )
        }
        Full::Bytes => "the bodies of open requests have reached their size limit; try again later".to_owned(),
        Full::BytesOfPrincipal => {
            "the bodies of this principal's open requests have reached their size limit; try again later".to_owned()
        }
    };
    answer::last(answer::later(answer::refused(StatusCode::SERVICE_UNAVAILABLE, &message), LATER))
}

pub(crate) fn strange(stranger: &Stranger) -> Answer {
    let (status, message) = match stranger {
        Stranger::NoHost => (StatusCode::BAD_REQUEST, "a request must have exactly one 'Host' header"),
        Stranger::Host => {
            (StatusCode::FORBIDDEN, "the name in 'Host' is not one of this server's; --allow-host adds names")
        }
        Stranger::Origin => (StatusCode::FORBIDDEN, "this 'Origin' is not allowed; --allow-origin adds origins"),
    };
    answer::refused(status, message)
}

pub(crate) fn unauthorized(message: &str, challenge: &str) -> Answer {
    let mut refusal = answer::refused(StatusCode::UNAUTHORIZED, message);
    challenged(&mut refusal, challenge);
    refusal
}

/// Adds a header that says what is needed.
pub(crate) fn challenged(refusal: &mut Answer, challenge: &str) {
    if let Ok(challenge) = HeaderValue::try_from(challenge) {
        refusal.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
}

pub(crate) fn internal() -> Answer {
    answer::refused(StatusCode::INTERNAL_SERVER_ERROR, "the request failed inside the server; its log says more")
}
