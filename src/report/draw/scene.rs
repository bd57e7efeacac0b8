//! A figure as rectangles, lines and texts with pixel coordinates. Charts are laid out as scenes before they are
//! rendered.
//!
//! This module does not depend on a drawing library, so tests can check layouts for overlapping and clipped texts.

pub type Rgb = (u8, u8, u8);

pub const TEXT_COLOR: Rgb = (30, 30, 30);
pub const MUTED_COLOR: Rgb = (105, 105, 105);
pub const GRID: Rgb = (222, 222, 222);
pub const BACKGROUND_COLOR: Rgb = (255, 255, 255);
/// Text colors on colored shapes. They are the same in the light and the dark theme.
pub const ON_DARK: Rgb = (254, 254, 254);
pub const ON_LIGHT: Rgb = (31, 31, 31);

/// The Okabe-Ito palette, which is readable with all forms of color blindness. The gray is used for waiting.
pub const PALETTE: [Rgb; 8] = [
    (136, 136, 136),
    (213, 94, 0),
    (0, 114, 178),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (204, 121, 167),
    (230, 159, 0),
];

/// Returns the text color with the higher WCAG contrast ratio on this background.
pub fn text_color_on(color: Rgb) -> Rgb {
    let ratio = |ink: Rgb| {
        let (a, b) = (luminance(ink), luminance(color));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    };
    if ratio(ON_DARK) > ratio(ON_LIGHT) { ON_DARK } else { ON_LIGHT }
}

fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |v: u8| match f64::from(v) / 255.0 {
        v if v <= 0.04045 => v / 12.92,
        v => libm::pow((v + 0.055) / 1.055, 2.4),
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TextAnchor {
    Left,
    Middle,
    Right,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SceneShape {
    Rect {
        x: i32,
        y: i32,
        w: i32,
        h: i32,
        color: Rgb,
    },
    Line {
        points: Vec<(i32, i32)>,
        width: u32,
        color: Rgb,
    },
    /// The interior of a polygon, drawn semi-transparent.
    Area {
        points: Vec<(i32, i32)>,
        color: Rgb,
    },
    /// A line of text, vertically centered on `y`.
    Text {
        x: i32,
        y: i32,
        size: i32,
        anchor: TextAnchor,
        color: Rgb,
        text: String,
    },
}

#[derive(Clone, Debug)]
pub struct DrawScene {
    pub width: u32,
    pub height: u32,
    pub shapes: Vec<SceneShape>,
    /// Title and description for readers who do not see the picture; not shortened.
    pub title: String,
    pub description: String,
    /// Index of the shape that shows the title.
    pub(super) title_shape: Option<usize>,
}

impl DrawScene {
    pub fn new((width, height): (u32, u32)) -> DrawScene {
        DrawScene {
            width,
            height,
            shapes: Vec::new(),
            title: String::new(),
            description: String::new(),
            title_shape: None,
        }
    }

    pub fn rect(&mut self, x: i32, y: i32, w: i32, h: i32, color: Rgb) {
        self.shapes.push(SceneShape::Rect { x, y, w, h, color });
    }

    /// Adds a line. Points inside of horizontal or vertical parts are dropped: they would be drawn as notches.
    pub fn line(&mut self, mut points: Vec<(i32, i32)>, width: u32, color: Rgb) {
        points.dedup();
        let mut kept: Vec<(i32, i32)> = Vec::with_capacity(points.len());
        for point in points {
            if let [.., a, b] = kept.as_slice()
                && ((a.0 == b.0 && b.0 == point.0) || (a.1 == b.1 && b.1 == point.1))
            {
                kept.pop();
            }
            kept.push(point);
        }
        let points = kept;
        self.shapes.push(SceneShape::Line { points, width, color });
    }

    /// Adds a square mark centered on a point. A hollow mark has the color as its border.
    pub fn mark(&mut self, (x, y): (i32, i32), side: i32, color: Rgb, is_hollow: bool) {
        const BORDER: i32 = 3;
        self.rect(x - side / 2, y - side / 2, side, side, color);
        if is_hollow {
            let inner = side - 2 * BORDER;
            self.rect(x - side / 2 + BORDER, y - side / 2 + BORDER, inner, inner, BACKGROUND_COLOR);
        }
    }

    /// Adds a dashed vertical line.
    pub fn dashed_vertical(&mut self, x: i32, (top, bottom): (i32, i32), width: u32, color: Rgb) {
        const DASH: usize = 12;
        for from in (top..bottom).step_by(DASH) {
            self.line(vec![(x, from), (x, (from + DASH as i32 / 2).min(bottom))], width, color);
        }
    }

    pub fn area(&mut self, points: Vec<(i32, i32)>, color: Rgb) {
        self.shapes.push(SceneShape::Area { points, color });
    }

    pub fn text(&mut self, at: (i32, i32), size: i32, anchor: TextAnchor, color: Rgb, text: &str) {
        let text = text.to_owned();
        self.shapes.push(SceneShape::Text { x: at.0, y: at.1, size, anchor, color, text });
    }

    /// Scales the scene to fit a picture of the given size and centers it.
    pub fn scaled_to(&self, (width, height): (u32, u32)) -> DrawScene {
        let part = |of: u32, own: u32| f64::from(of) / f64::from(own.max(1));
        let factor = part(width, self.width).min(part(height, self.height));
        let long = |v: i32| (f64::from(v) * factor).round() as i32;
        let middle = |of: u32, own: u32| (of as i32 - long(own as i32)) / 2;
        let (left, top) = (middle(width, self.width), middle(height, self.height));
        let at = |x: i32, y: i32| (left + long(x), top + long(y));
        let all = |points: &[(i32, i32)]| points.iter().map(|(x, y)| at(*x, *y)).collect();
        let one = |shape: &SceneShape| match shape.clone() {
            SceneShape::Rect { x, y, w, h, color } => {
                //  Both corners are rounded the same way, so adjacent rectangles remain adjacent at any size.
                let ((from, up), (to, down)) = (at(x, y), at(x + w, y + h));
                let (w, h) = (to - from, down - up);
                let (x, y) = (from, up);
                SceneShape::Rect { x, y, w, h, color }
            }
            SceneShape::Line { points, width, color } => SceneShape::Line {
                points: all(&points),
                width: (f64::from(width) * factor).round().max(1.0) as u32,
                color,
            },
            SceneShape::Area { points, color } => SceneShape::Area { points: all(&points), color },
            SceneShape::Text { x, y, size, anchor, color, text } => {
                let (x, y) = at(x, y);
                let size = (f64::from(size) * factor).round() as i32;
                SceneShape::Text { x, y, size, anchor, color, text }
            }
        };
        let (title, description, title_shape) = (self.title.clone(), self.description.clone(), self.title_shape);
        DrawScene { width, height, shapes: self.shapes.iter().map(one).collect(), title, description, title_shape }
    }

    /// Draws a text on a background rectangle that hides lines behind it.
    pub fn boxed_text(&mut self, at: (i32, i32), size: i32, color: Rgb, text: &str) {
        if !text.is_empty() {
            let width = text_width(text, size);
            self.rect(at.0 - 4, at.1 - size / 2 - 4, width + 8, size + 8, BACKGROUND_COLOR);
        }
        self.text(at, size, TextAnchor::Left, color, text);
    }

    /// Returns the bounding boxes of all texts: left, top, right, bottom, text.
    pub fn text_boxes(&self) -> Vec<(i32, i32, i32, i32, &str)> {
        let mut boxes = Vec::new();
        for shape in &self.shapes {
            if let SceneShape::Text { x, y, size, anchor, text, .. } = shape
                && !text.is_empty()
            {
                let w = text_width(text, *size);
                let left = match anchor {
                    TextAnchor::Left => *x,
                    TextAnchor::Middle => x - w / 2,
                    TextAnchor::Right => x - w,
                };
                boxes.push((left, y - size / 2, left + w, y + size / 2, text.as_str()));
            }
        }
        boxes
    }

    /// Returns a description of the first text that leaves the picture or overlaps another text.
    pub fn layout_defect(&self) -> Option<String> {
        let boxes = self.text_boxes();
        let (width, height) = (self.width as i32, self.height as i32);
        for (i, a) in boxes.iter().enumerate() {
            if a.0 < 0 || a.1 < 0 || a.2 > width || a.3 > height {
                return Some(format!("{:?} leaves the picture", a.4));
            }
            let overlaps = |b: &&(i32, i32, i32, i32, &str)| a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3;
            if let Some(b) = boxes[i + 1..].iter().find(overlaps) {
                return Some(format!("{:?} overlaps {:?}", a.4, b.4));
            }
        }
        None
    }

    /// Returns the font size of the smallest text; `None` without texts.
    pub fn smallest_font_size(&self) -> Option<i32> {
        let size = |s: &SceneShape| match s {
            SceneShape::Text { size, text, .. } if !text.is_empty() => Some(*size),
            _ => None,
        };
        self.shapes.iter().filter_map(size).min()
    }
}

/// Advance widths of the printable ASCII characters in the bundled font, in thousandths of the font size.
const ADVANCE_WIDTHS: [i32; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
];

/// Returns the width of a text in the bundled font, in pixels.
pub fn text_width(text: &str, size: i32) -> i32 {
    let advance = |c: char| ADVANCE_WIDTHS.get((c as usize).wrapping_sub(32)).copied().unwrap_or(840);
    text.chars().map(advance).sum::<i32>() * size / 1000 + 2
}

/// Returns about `count` round numbers from 0 to `max`.
pub fn ticks(max: f64, count: usize) -> Vec<f64> {
    if max.is_nan() || max <= 0.0 {
        return vec![0.0];
    }
    let rough = max / count as f64;
    let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&s| s >= rough).unwrap_or(power * 10.0);
    (0..).map(|i| f64::from(i) * step).take_while(|&t| t <= max * 1.000_001).collect()
}

/// Formats the label of a tick without trailing zeros.
pub fn tick_label(value: f64) -> String {
    if value >= 1000.0 {
        return sim_analysis::format::thousands(value.round() as u64);
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
