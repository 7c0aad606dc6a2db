//! Who may talk to the server. Other programs of this machine, and pages of other sites in the same browser, may not.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What the page may load: itself. Figures have attributes of style, written by us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Bytes of a secret.
const SECRET: usize = 32;

/// The token of the first address and the cookie that it becomes.
pub(crate) struct Guard {
    port: u16,
    token: String,
    cookie: String,
}

impl Guard {
    pub(crate) fn new(port: u16) -> Result<Self, String> {
        Ok(Guard {
            port,
            token: secret()?,
            cookie: secret()?,
        })
    }

    /// The first address.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Cookies are shared between ports.
    fn cookie_name(&self) -> String {
        format!("conveil_studio_{}", self.port)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter();
        let mut pairs = cookies
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && is_same(value, &self.cookie))
    }

    fn is_our_host(&self, headers: &HeaderMap) -> bool {
        let host = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        host.is_some_and(|host| {
            host == format!("127.0.0.1:{}", self.port) || host == format!("localhost:{}", self.port)
        })
    }

    /// A change must come from our own page; what reads may come without an origin, as a browser's own requests do.
    fn is_our_origin(&self, method: &Method, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return *method == Method::GET;
        };
        let origin = origin.to_str().unwrap_or_default();
        origin == format!("http://127.0.0.1:{}", self.port)
            || origin == format!("http://localhost:{}", self.port)
    }

    /// The token of an address, where it is the right one.
    fn is_first(&self, request: &Request) -> bool {
        let query = request.uri().query().unwrap_or_default();
        let token = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("token="));
        request.method() == Method::GET
            && request.uri().path() == "/"
            && token.is_some_and(|token| is_same(token, &self.token))
    }
}

/// Lets through what may pass, and puts the headers of safety on every answer.
pub(crate) async fn watch(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let mut response = if !guard.is_our_host(headers) {
        refused("this is not the host that the page is served on")
    } else if !guard.is_our_origin(request.method(), headers) || is_of_another_page(&request) {
        refused("this comes from another page")
    } else if guard.is_first(&request) {
        welcome(&guard)
    } else if !guard.has_cookie(headers) {
        refused("open the address that `conveil studio` has printed: it holds the token")
    } else if *request.method() == Method::POST && !is_json(headers) {
        refused("a change is sent as JSON")
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A browser says where a request comes from: another site, or another port of this machine, has nothing to ask.
fn is_of_another_page(request: &Request) -> bool {
    let site = request.headers().get("sec-fetch-site");
    let is_foreign = site.is_some_and(|site| site == "cross-site" || site == "same-site");
    request.uri().path().starts_with("/api/") && is_foreign
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.split(';').next() == Some("application/json"))
}

fn refused(why: &str) -> Response {
    (StatusCode::FORBIDDEN, why.to_string()).into_response()
}

/// The token becomes a cookie, and leaves the address.
fn welcome(guard: &Guard) -> Response {
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/",
        guard.cookie_name(),
        guard.cookie
    );
    // Of a redirect from an address that somebody clicked elsewhere, a strict cookie would not be sent along.
    let page = "<!doctype html><html lang=\"en\"><head><title>Conveil studio</title><meta http-equiv=\"refresh\" content=\"0; url=/\"></head><body><p><a href=\"/\">Open the studio</a></p></body></html>";
    let mut response = Response::new(Body::from(page));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Compared in a time that does not tell where they differ.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len()
        && one
            .bytes()
            .zip(other.bytes())
            .fold(0, |differ, (a, b)| differ | (a ^ b))
            == 0
}

/// Random letters of the operating system.
pub(crate) fn secret() -> Result<String, String> {
    let mut bytes = [0; SECRET];
    getrandom::fill(&mut bytes).map_err(|why| format!("no randomness: {why}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
