//! Numbers as people read them, and values of JSON documents.

use serde_json::Value;

/// Six digits at most.
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) {
        return format!("{value:.4e}");
    }
    let whole = if size >= 1.0 {
        size.log10().floor() as usize + 1
    } else {
        0
    };
    let text = format!("{value:.*}", 6usize.saturating_sub(whole));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// The same, or a dash.
pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or("–".into(), short)
}

/// A number of a document.
pub(crate) fn number(document: &Value, key: &str) -> Option<f64> {
    document.get(key).and_then(Value::as_f64)
}

/// A text of a document.
pub(crate) fn text<'v>(document: &'v Value, key: &str) -> Option<&'v str> {
    document.get(key).and_then(Value::as_str)
}

/// A list of a document; empty where there is none.
pub(crate) fn list<'v>(document: &'v Value, key: &str) -> &'v [Value] {
    document
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", short((share * 1e12).round() / 1e10))
}
