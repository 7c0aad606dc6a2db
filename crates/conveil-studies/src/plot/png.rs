//! PNG from the SVG.

use resvg::{tiny_skia, usvg};

/// Why a figure could not become pixels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlotError {
    /// The SVG does not parse.
    #[error("the figure's SVG is not valid: {0}")]
    Svg(String),
    /// No pixels, or too many.
    #[error("a picture of {width} × {height} pixels cannot be made")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The pixels could not be packed.
    #[error("the picture could not be written: {0}")]
    Packing(String),
}

/// At most this many pixels on a side.
const LARGEST: f32 = 20_000.0;

pub(super) fn render(svg: &str, pixels_per_unit: f32) -> Result<Vec<u8>, PlotError> {
    let tree = usvg::Tree::from_str(svg, &usvg::Options::default())
        .map_err(|e| PlotError::Svg(e.to_string()))?;
    let pixels = |side: f32| (side * pixels_per_unit).ceil().clamp(0.0, LARGEST) as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let mut picture =
        tiny_skia::Pixmap::new(width, height).ok_or(PlotError::Size { width, height })?;
    let zoom = tiny_skia::Transform::from_scale(pixels_per_unit, pixels_per_unit);
    resvg::render(&tree, zoom, &mut picture.as_mut());
    picture
        .encode_png()
        .map_err(|e| PlotError::Packing(e.to_string()))
}
