//! Rendering of scenes to SVG: standalone files with an embedded font, and inline figures of a page in its theme
//! colors.
//!
//! All texts are escaped, and the output is deterministic.

use super::scene::{BACKGROUND_COLOR, DrawScene, GRID, MUTED_COLOR, Rgb, SceneShape, TEXT_COLOR, TextAnchor};
use sim_base::escape::for_html;
use std::fmt::Write;

/// The printable ASCII characters of DejaVu Sans. All text widths are measured with this font.
pub const FONT: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
pub const FONT_NAME: &str = "jobset-sim";

/// Opacity of areas. Two overlapping areas remain lighter than a line of their color.
pub const AREA_OPACITY: f64 = 0.25;

/// An animated scene that repeats.
#[derive(Clone, Debug)]
pub struct Animation {
    pub scene: DrawScene,
    pub animated: Vec<AnimatedItem>,
    /// Duration of one repetition in seconds.
    pub seconds: f64,
    /// Width and height at which viewers show the scene.
    pub shown: (u32, u32),
}

/// An animated part of a scene. Instants are fractions of the duration.
#[derive(Clone, Debug, PartialEq)]
pub enum AnimatedItem {
    /// Squares (left, top, side) with a shared sequence of colors. Each color has the instant from which it applies;
    /// the first starts at 0.
    Squares { squares: Vec<(i32, i32, i32)>, colors: Vec<(f64, Rgb)> },
    /// A vertical line that moves from the first to the second `x` and stops there.
    Line { y: (i32, i32), x: (i32, i32), until: f64 },
}

/// The output medium, which determines the colors.
#[derive(Copy, Clone, PartialEq, Eq)]
enum AnimationTarget {
    Paper,
    /// A page with a light or dark theme.
    Page,
}

/// Returns a standalone SVG file that looks the same in every viewer.
pub fn file(scene: &DrawScene) -> String {
    file_at(scene, (scene.width, scene.height))
}

fn file_at(scene: &DrawScene, (width, height): (u32, u32)) -> String {
    let (w, h) = (scene.width, scene.height);
    // `xml:space` for image libraries, `white-space` for browsers, where `text` does not inherit `xml:space`.
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         font-family=\"{FONT_NAME}, sans-serif\" xml:space=\"preserve\">\n{}<style>text{{white-space:pre}}{}</style>\n<rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>\n",
        title_and_description(scene),
        font_face()
    );
    shapes(&mut out, scene, AnimationTarget::Paper);
    out.push_str("</svg>\n");
    out
}

/// Returns the elements that screen readers and search engines read.
fn title_and_description(scene: &DrawScene) -> String {
    let mut out = String::new();
    for (name, text) in [("title", &scene.title), ("desc", &scene.description)] {
        if !text.is_empty() {
            let _ = writeln!(out, "<{name}>{}</{name}>", for_html(text));
        }
    }
    out
}

/// Returns a standalone animated SVG file. It uses SMIL, which browsers play without a script. Viewers without
/// animation show the first frame.
pub fn animated_svg(film: &Animation) -> String {
    let still = file_at(&film.scene, film.shown);
    let mut out = still.trim_end().trim_end_matches("</svg>").to_owned();
    let lasts = format!("dur=\"{:.3}s\" repeatCount=\"indefinite\"", film.seconds);
    for moving in &film.animated {
        match moving {
            AnimatedItem::Squares { squares, colors } => {
                let corner = |(x, y, side): &(i32, i32, i32)| format!("M{x} {y}h{side}v{side}h-{side}z");
                let d: String = squares.iter().map(corner).collect();
                let first = colors.first().map_or(BACKGROUND_COLOR, |(_, color)| *color);
                let _ = write!(out, "<path d=\"{d}\" fill=\"{}\"", hex(first));
                let _ = match colors.as_slice() {
                    [] | [_] => writeln!(out, "/>"),
                    many => {
                        let times: Vec<String> = many.iter().map(|(at, _)| format!("{at:.4}")).collect();
                        let values: Vec<String> = many.iter().map(|(_, color)| hex(*color)).collect();
                        writeln!(
                            out,
                            "><animate attributeName=\"fill\" calcMode=\"discrete\" keyTimes=\"{}\" values=\"{}\" {lasts}/></path>",
                            times.join(";"),
                            values.join(";")
                        )
                    }
                };
            }
            AnimatedItem::Line { y, x, until } => {
                let _ = writeln!(
                    out,
                    "<path d=\"M{} {}v{}\" stroke=\"{}\" stroke-width=\"3\"><animateTransform \
                     attributeName=\"transform\" type=\"translate\" keyTimes=\"0;{until:.4};1\" values=\"0;{};{}\" {lasts}/></path>",
                    x.0,
                    y.0,
                    y.1 - y.0,
                    hex(TEXT_COLOR),
                    x.1 - x.0,
                    x.1 - x.0,
                );
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Returns inline SVG for a page that defines the font and the colors of text, lines and background. `alt` is the
/// alternative text.
pub fn inline(scene: &DrawScene, alt: &str) -> String {
    let (w, h) = (scene.width, scene.height);
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {w} {h}\" role=\"img\" xml:space=\"preserve\" aria-label=\"{}\">\n{}",
        for_html(alt),
        title_and_description(scene)
    );
    shapes(&mut out, scene, AnimationTarget::Page);
    out.push_str("</svg>\n");
    out
}

/// Returns the CSS rule that embeds the font.
pub fn font_face() -> String {
    let data = base64(FONT);
    format!("@font-face{{font-family:{FONT_NAME};src:url(data:font/ttf;base64,{data})}}")
}

fn shapes(out: &mut String, scene: &DrawScene, on: AnimationTarget) {
    let mut rest = scene.shapes.as_slice();
    while let Some((shape, more)) = rest.split_first() {
        rest = more;
        match shape {
            SceneShape::Rect { color, .. } => {
                let is_similar = |s: &&SceneShape| matches!(s, SceneShape::Rect { color: c, .. } if c == color);
                let n = more.iter().take_while(is_similar).count();
                let mut d = corners(shape);
                more[..n].iter().for_each(|s| d.push_str(&corners(s)));
                rest = &more[n..];
                element(out, &format!("<path d=\"{d}\""), "fill", *color, on);
            }
            SceneShape::Line { points, width, color } => {
                let head = format!("<path d=\"{}\" fill=\"none\" stroke-width=\"{width}\"", path_points(points));
                element(out, &head, "stroke", *color, on);
            }
            SceneShape::Area { points, color } => {
                let head = format!("<path d=\"{}z\" fill-opacity=\"{AREA_OPACITY}\"", path_points(points));
                element(out, &head, "fill", *color, on);
            }
            SceneShape::Text { x, y, size, anchor, color, text } => {
                let anchor = match anchor {
                    TextAnchor::Left => "",
                    TextAnchor::Middle => " text-anchor=\"middle\"",
                    TextAnchor::Right => " text-anchor=\"end\"",
                };
                //  The baseline is half the capital height below the center.
                let baseline = y + size * 36 / 100;
                let text = for_html(text).replace('\n', " ");
                let paint = color_attribute("fill", *color, on);
                let _ =
                    writeln!(out, "<text x=\"{x}\" y=\"{baseline}\" font-size=\"{size}\"{anchor}{paint}>{text}</text>");
            }
        }
    }
}

fn corners(shape: &SceneShape) -> String {
    match shape {
        SceneShape::Rect { x, y, w, h, .. } => format!("M{x} {y}h{w}v{h}h{}z", -w),
        _ => String::new(),
    }
}

fn path_points(points: &[(i32, i32)]) -> String {
    let mut d = String::new();
    let mut at: Option<(i32, i32)> = None;
    for &(x, y) in points {
        let _ = match at {
            None => write!(d, "M{x} {y}"),
            Some((px, py)) if px == x && py == y => Ok(()),
            Some((px, py)) if py == y => write!(d, "h{}", x - px),
            Some((px, py)) if px == x => write!(d, "v{}", y - py),
            Some((px, py)) => write!(d, "l{} {}", x - px, y - py),
        };
        at = Some((x, y));
    }
    d
}

fn element(out: &mut String, head: &str, what: &str, color: Rgb, on: AnimationTarget) {
    let _ = writeln!(out, "{head}{}/>", color_attribute(what, color, on));
}

fn color_attribute(what: &str, color: Rgb, on: AnimationTarget) -> String {
    let themed = match color {
        TEXT_COLOR => "ink",
        MUTED_COLOR => "faint",
        GRID => "grid",
        BACKGROUND_COLOR => "paper",
        _ => "",
    };
    if on == AnimationTarget::Page && !themed.is_empty() {
        return format!(" style=\"{what}:var(--{themed})\"");
    }
    format!(" {what}=\"{}\"", hex(color))
}

/// Formats a color as `#rrggbb`.
pub fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Encodes bytes in base64 (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}
