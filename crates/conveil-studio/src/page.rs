//! The page itself, as it was bundled.

/// The document.
pub(crate) const INDEX: &str = include_str!(concat!(env!("OUT_DIR"), "/page/index.html"));

/// Its style.
pub(crate) const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/page/studio.css"));

/// Its script.
pub(crate) const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page/studio.js"));

const WHY_NOT: &str = include_str!(concat!(env!("OUT_DIR"), "/why_not.txt"));

/// Why this build has no page, where it has none.
pub(crate) fn why_not() -> Option<&'static str> {
    Some(WHY_NOT).filter(|why| !why.is_empty())
}
