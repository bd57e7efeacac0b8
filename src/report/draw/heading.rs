//! Titles, subtitles and footers of charts, with font sizes that fit the width.

use super::scene::{DrawScene, MUTED_COLOR, SceneShape, TEXT_COLOR, TextAnchor, text_width};

pub(crate) const MARGIN: i32 = 60;

/// Draws title and subtitle. Returns the y coordinate below them, which is lower if the subtitle takes two lines.
pub(crate) fn heading(scene: &mut DrawScene, title: &str, subtitle: &str) -> i32 {
    let (w, h) = (scene.width as i32, scene.height as i32);
    let (big, normal) = ((h / 20).clamp(28, 45), (h / 36).clamp(22, 25));
    let width = w - 2 * MARGIN;
    draw_title(scene, title, big);
    scene.description = subtitle.to_owned();
    let below = MARGIN + big;
    let size = fitting_font_size(subtitle, normal, width);
    let lines = split_in_two_lines(subtitle, size, width);
    for (i, line) in (0..).zip(&lines) {
        let at = (MARGIN, below + normal / 2 + i * 3 * size / 2);
        scene.text(at, size, TextAnchor::Left, MUTED_COLOR, line);
    }
    below + (lines.len() as i32 - 1) * 3 * size / 2
}

/// Draws the title at the upper edge, at most `size` pixels high.
pub(crate) fn draw_title(scene: &mut DrawScene, title: &str, size: i32) {
    let width = scene.width as i32 - 2 * MARGIN;
    let size = fitting_font_size(title, size, width);
    scene.title = title.to_owned();
    scene.title_shape = Some(scene.shapes.len());
    scene.text((MARGIN, MARGIN), size, TextAnchor::Left, TEXT_COLOR, &shorten(title, size, width));
}

impl DrawScene {
    /// Replaces the title. The subtitle and everything below it keep their places.
    pub fn with_title(mut self, title: &str) -> DrawScene {
        self.title = title.to_owned();
        let width = self.width as i32 - 2 * MARGIN;
        let shape = self.title_shape.and_then(|at| self.shapes.get_mut(at));
        if let Some(SceneShape::Text { size, text, .. }) = shape {
            *size = fitting_font_size(title, *size, width);
            *text = shorten(title, *size, width);
        }
        self
    }
}

/// Breaks a text into at most two lines that fit the width. The second line is shortened if necessary.
fn split_in_two_lines(text: &str, size: i32, width: i32) -> Vec<String> {
    if text_width(text, size) <= width {
        return vec![text.to_owned()];
    }
    let ends = text.match_indices(' ').map(|(at, _)| at);
    let fits = |at: &usize| text_width(&text[..*at], size) <= width;
    match ends.take_while(fits).last() {
        Some(at) => vec![text[..at].to_owned(), shorten(&text[at + 1..], size, width)],
        None => vec![shorten(text, size, width)],
    }
}

/// Returns the largest font size up to `size` at which the text fits, but at least 22 pixels.
pub(crate) fn fitting_font_size(text: &str, size: i32, width: i32) -> i32 {
    let needed = text_width(text, size);
    if needed <= width { size } else { (size * width / needed).max(22) }
}

/// Truncates a text with an ellipsis so that it fits the width at this size.
pub(crate) fn shorten(text: &str, size: i32, width: i32) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    //  Bisection keeps this fast for names of any length.
    let room = width - text_width("...", size);
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let fits = ends.partition_point(|end| text_width(&text[..*end], size) <= room);
    let end = ends[..fits].last().copied().unwrap_or(0);
    format!("{}...", text[..end].trim_end())
}

/// Shortens a name in the middle so that it fits the width at this size: the ends of names distinguish them.
pub(crate) fn shorten_name(name: &str, size: i32, width: i32) -> String {
    if text_width(name, size) <= width {
        return name.to_owned();
    }
    let chars: Vec<char> = name.chars().collect();
    let shortened = |kept: usize| {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let ends = [&chars[..head], &chars[chars.len() - tail..]].map(String::from_iter);
        format!("{}...{}", ends[0], ends[1])
    };
    let kept = (0..chars.len()).rev().find(|kept| text_width(&shortened(*kept), size) <= width);
    shortened(kept.unwrap_or(0))
}

/// Font size of the footer, and the separator between its parts.
const FOOTER_FONT_SIZE: i32 = 18;
const PARTS: &str = "  ·  ";

/// Breaks footer lines that are too wide at the separators between their parts.
fn wrap_footer_lines(lines: &[String], width: i32) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in lines {
        let mut open = String::new();
        for part in line.split(PARTS) {
            let longer = if open.is_empty() { part.to_owned() } else { format!("{open}{PARTS}{part}") };
            if !open.is_empty() && text_width(&longer, FOOTER_FONT_SIZE) > width {
                all.push(std::mem::replace(&mut open, format!("     {part}")));
            } else {
                open = longer;
            }
        }
        all.push(open);
    }
    all
}

pub(crate) fn footer_height(lines: &[String], width: i32) -> i32 {
    match wrap_footer_lines(lines, width - 2 * MARGIN).len() {
        0 => 0,
        n => n as i32 * (FOOTER_FONT_SIZE + 8) + MARGIN / 2,
    }
}

/// Draws the footer at the lower edge: provenance and assumptions.
pub(crate) fn draw_footer(scene: &mut DrawScene, lines: &[String]) {
    let width = scene.width as i32 - 2 * MARGIN;
    let top = scene.height as i32 - footer_height(lines, scene.width as i32) + FOOTER_FONT_SIZE / 2;
    for (i, line) in wrap_footer_lines(lines, width).iter().enumerate() {
        let y = top + i as i32 * (FOOTER_FONT_SIZE + 8);
        let line = shorten(line, FOOTER_FONT_SIZE, width);
        scene.text((MARGIN, y), FOOTER_FONT_SIZE, TextAnchor::Left, MUTED_COLOR, &line);
    }
}
