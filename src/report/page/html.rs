//! Rendering of a page as a single HTML file without external resources, with a light and a dark theme and a print
//! style.
//!
//! All texts are escaped.

use super::timeline;
use super::{PageBlock, PageChart, PageSection, ReportPage};
use crate::{draw::svg, table::write_html};
use sim_base::escape::for_html;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Content security policy. It forbids all requests even if a text were not escaped correctly.
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:";

pub fn html(page: &ReportPage) -> String {
    let mut out = String::with_capacity(1 << 16);
    let title = for_html(&page.title);
    let kicker = for_html(&page.kicker);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{CONTENT_SECURITY_POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} - {kicker}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{}\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n",
        svg::font_face()
    );
    head(&mut out, page);
    out.push_str("<main id=\"main\">\n");
    for section in &page.sections {
        write_section(&mut out, section);
    }
    out.push_str("</main>\n<footer>\n");
    for line in &page.provenance_lines {
        let _ = writeln!(out, "<p>{}</p>", for_html(line));
    }
    let _ = write!(out, "</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

fn head(out: &mut String, page: &ReportPage) {
    let _ = write!(
        out,
        "<header>\n<div class=\"top\"><p class=\"kicker\">{}</p>\
         <button type=\"button\" id=\"theme\" hidden>Dark</button></div>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
        for_html(&page.kicker),
        for_html(&page.title),
        for_html(&page.lead)
    );
    if !page.figures.is_empty() {
        out.push_str("<dl class=\"figures\">\n");
        for f in &page.figures {
            let (what, value) = (for_html(&f.label), for_html(&f.value));
            let _ = writeln!(out, "<div><dt>{what}</dt><dd>{value}</dd></div>");
        }
        out.push_str("</dl>\n");
    }
    out.push_str("<nav aria-label=\"Sections\"><ul>\n");
    for s in &page.sections {
        let title = for_html(&s.title);
        let _ = writeln!(out, "<li><a href=\"#{}\">{title}</a></li>", s.id);
    }
    out.push_str("</ul></nav>\n</header>\n");
}

fn write_section(out: &mut String, section: &PageSection) {
    let _ = writeln!(
        out,
        "<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>",
        section.id,
        for_html(&section.title)
    );
    for block in &section.blocks {
        match block {
            PageBlock::Text(text) => {
                let _ = writeln!(out, "<p>{}</p>", for_html(text));
            }
            PageBlock::Heading(text) => {
                let _ = writeln!(out, "<h3>{}</h3>", for_html(text));
            }
            PageBlock::List(items) => {
                out.push_str("<ul>\n");
                for item in items {
                    let _ = writeln!(out, "<li>{}</li>", for_html(item));
                }
                out.push_str("</ul>\n");
            }
            PageBlock::Table(table) => write_html(out, table),
            PageBlock::Chart(chart) => write_chart(out, chart),
            PageBlock::Timeline(lanes, chart) => timeline::write(out, lanes, &chart.alt),
            PageBlock::Code(text) => {
                let _ = writeln!(out, "<pre tabindex=\"0\"><code>{}</code></pre>", for_html(text));
            }
        }
    }
    out.push_str("</section>\n");
}

fn write_chart(out: &mut String, chart: &PageChart) {
    let svg = svg::inline(&chart.scene, &chart.alt);
    let _ = write!(out, "<figure>\n{svg}</figure>\n");
}
