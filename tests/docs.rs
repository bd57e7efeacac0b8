//! `README.md` and the pages of `docs/`: their commands print the output that they show, and draw their pictures.
//!
//! trycmd runs the commands of every `console` block. A line `...` in the output matches any number of lines, `[..]`
//! for any characters of a line, and `? 4` after a command is its exit code. The commands of a page run one after the
//! other in a temporary directory with links to the directories in [`INPUTS`]; pages run in parallel.
//!
//! `TRYCMD=overwrite cargo test --test docs` writes the output and the pictures into the pages.
#![cfg(unix)]

use std::fmt::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, io::Write as _, os::unix::fs::symlink};
use trycmd::TestCases;

const PROGRAM: &str = env!("CARGO_BIN_EXE_jobset-sim");

/// Directories of the repository that commands may name.
const INPUTS: [&str; 4] = ["scenarios", "topologies", "tests", "reports"];

/// A picture, and the file that a command of a page writes.
struct Picture {
    file: &'static str,
    page: &'static str,
    drawn: &'static str,
}

const fn picture(file: &'static str, page: &'static str, drawn: &'static str) -> Picture {
    Picture { file, page, drawn }
}

const PICTURES: [Picture; 19] = [
    picture("docs/demo.svg", "README.md", "jobset-sim-demo/demo.svg"),
    picture("docs/differences.svg", "docs/compare.md", "strategies/charts/differences.svg"),
    picture("docs/ledger.svg", "docs/compare.md", "strategies/charts/ledger.svg"),
    picture("docs/goodput.svg", "docs/compare.md", "strategies/charts/goodput.svg"),
    picture("docs/knee.svg", "docs/planning.md", "planning/charts/knee.svg"),
    picture("docs/waterfall.svg", "docs/reports.md", "waterfall.svg"),
    picture("docs/sweep/heat.svg", "docs/sweep.md", "sweep-spares/charts/heat.svg"),
    picture("docs/sweep/bands.svg", "docs/sweep.md", "sweep-spares/charts/bands.svg"),
    picture("docs/sweep/knee.svg", "docs/sweep.md", "sweep-spares/charts/knee.svg"),
    picture("docs/stories/spare-slices.svg", "docs/stories-clusters.md", "spare-slices/charts/goodput.svg"),
    picture("docs/stories/cube-spares.svg", "docs/stories-clusters.md", "cube-spares/charts/goodput.svg"),
    picture("docs/stories/elastic.svg", "docs/stories.md", "elastic/charts/goodput.svg"),
    picture("docs/stories/levers.svg", "docs/stories.md", "levers/charts/ledger.svg"),
    picture("docs/stories/hangs-and-stragglers.svg", "docs/stories.md", "hangs-and-stragglers/charts/ledger.svg"),
    picture("docs/stories/slice-shapes.svg", "docs/stories-clusters.md", "slice-shapes/charts/ledger.svg"),
    picture("docs/stories/block-crossing.svg", "docs/stories-clusters.md", "block-crossing/charts/ledger.svg"),
    picture("docs/stories/nvl72-faults.svg", "docs/stories-clusters.md", "nvl72-faults/charts/goodput.svg"),
    picture("docs/stories/blast-radius.svg", "docs/stories.md", "blast-radius/charts/restarts.svg"),
    picture("docs/stories/silent-node.svg", "docs/stories.md", "silent-node/charts/ledger.svg"),
];

#[test]
fn commands_print_and_draw_what_the_pages_show() {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs");
    let _ = fs::remove_dir_all(&work);
    let cases = TestCases::new();
    cases.register_bin("jobset-sim", Path::new(PROGRAM));
    for page in pages().iter().filter(|page| text(page).contains("\n```console\n")) {
        // trycmd runs the commands of a page in the directory with the extension `in`. It writes through the link.
        let link = work.join(page);
        let directory = directory(&work, page);
        fs::create_dir_all(&directory).expect("a directory is created");
        symlink(root().join(page), &link).expect("a page is linked");
        for input in INPUTS {
            symlink(root().join(input), directory.join(input)).expect("an input is linked");
        }
        cases.case(link);
    }
    cases.run();
    let mut stale = String::new();
    for Picture { file, page, drawn } in PICTURES {
        let drawn = fs::read(directory(&work, page).join(drawn)).expect("a command of the page draws the picture");
        compare(&mut stale, file, &drawn);
    }
    assert!(stale.is_empty(), "{stale}TRYCMD=overwrite writes the files");
    fs::remove_dir_all(&work).expect("the directory is removed");
}

/// Directory in which the commands of a page run.
fn directory(work: &Path, page: &str) -> PathBuf {
    work.join(page).with_extension("in")
}

#[test]
fn pictures_of_topologies_are_current() {
    let mut stale = String::new();
    for file in files("docs/topologies", "svg") {
        let name = Path::new(&file).file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let drawn = run(&["topology", "show", name, "--format", "svg"], "");
        compare(&mut stale, &file, &drawn.stdout);
    }
    assert!(stale.is_empty(), "{stale}TRYCMD=overwrite writes the files");
}

/// The table of recordings has one row per recorded restart.
#[test]
fn the_table_of_restart_times_is_current() {
    let page = "docs/recordings.md";
    let output = run(&["validate", "tests/recordings/times", "--format", "csv"], "").stdout;
    let mut rows = String::new();
    for line in String::from_utf8_lossy(&output).lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let [file, _, "restart", _, recorded, simulated, difference] = cells[..] else { continue };
        let name = file.trim_start_matches("tests/recordings/times/").trim_end_matches(".json");
        let number = |cell: &str| cell.trim_end().parse::<f64>().expect("a number");
        let (recorded, simulated, difference) = (number(recorded), number(simulated), 100.0 * number(difference));
        writeln!(rows, "| {name} | {recorded:.1} s | {simulated:.1} s | {difference:+.1} % |").expect("text grows");
    }
    let head = "| recording | recorded | simulated | difference |\n|---|---|---|---|\n";
    let before = text(page);
    let (start, rest) = before.split_once(head).expect("the page has a table");
    let (_, end) = rest.split_once("\n\n").expect("a table has an end");
    let mut stale = String::new();
    compare(&mut stale, page, format!("{start}{head}{rows}\n{end}").as_bytes());
    assert!(stale.is_empty(), "{stale}TRYCMD=overwrite writes the table:\n{rows}");
}

/// A session of `step` is shown as on a terminal, with the prompt before each command.
#[test]
fn the_session_of_step_is_current() {
    let (page, prompt) = ("docs/why.md", "(step) ");
    let start = "```text\n$ jobset-sim step ";
    let before = text(page);
    let (head, rest) = before.split_once(start).expect("the page has a session");
    let (session, tail) = rest.split_once("\n```\n").expect("a block has an end");
    let mut lines = session.lines();
    let arguments = lines.next().expect("a block has a command");
    let mut args = vec!["step"];
    args.extend(arguments.split(' '));
    let mut shown = arguments.to_owned();
    let (mut input, mut printed) = (String::new(), 0);
    for command in lines.filter_map(|line| line.strip_prefix(prompt)) {
        writeln!(input, "{command}").expect("text grows");
        let output = run(&args, &input).stdout;
        let new = String::from_utf8_lossy(&output[printed..]).trim_end().to_owned();
        write!(shown, "\n{prompt}{command}\n{new}").expect("text grows");
        printed = output.len();
    }
    let mut stale = String::new();
    compare(&mut stale, page, format!("{head}{start}{shown}\n```\n{tail}").as_bytes());
    assert!(stale.is_empty(), "{stale}TRYCMD=overwrite writes the session:\n{shown}");
}

#[test]
fn commands_are_those_of_the_program_and_can_be_typed_as_shown() {
    for page in pages() {
        let mut block = None;
        for (number, line) in text(&page).lines().enumerate() {
            let at = format!("{page}:{}: {line}", number + 1);
            if let Some(language) = line.trim_start().strip_prefix("```") {
                let is_start = block.is_none();
                block = is_start.then(|| language.to_owned());
                // trycmd takes a block without a language for commands, and sees no indented one.
                assert!(!is_start || !language.is_empty(), "{at} has no language");
                assert!(language != "console" || line.starts_with("```"), "{at} is indented");
            }
            if block.as_deref() == Some("console") && line.starts_with("$ ") {
                // trycmd skips programs that it does not find.
                assert!(line.starts_with("$ jobset-sim "), "{at}");
            }
            let is_command = line.starts_with("$ ") || block.as_deref() == Some("sh");
            for filter in ["| sed", "| awk", "| grep", "| head", "| tail", "|| true"] {
                assert!(!is_command || !line.contains(filter), "{at}");
            }
        }
    }
}

/// A block `yaml` of the README repeats the file that was named last before it.
#[test]
fn the_scenario_in_the_readme_is_a_file() {
    let readme = text("README.md");
    let blocks: Vec<&str> = readme.split("\n```yaml\n").collect();
    assert!(blocks.len() > 1, "the README shows a scenario");
    for pair in blocks.windows(2) {
        let name = pair[0].rsplit("](scenarios/").next().and_then(|rest| rest.split(')').next()).expect("a link");
        let shown = pair[1].split("```").next().expect("a block has an end");
        assert_eq!(shown, text(&format!("scenarios/{name}")), "scenarios/{name}");
    }
}

#[test]
fn the_table_of_contents_has_every_page() {
    let summary = text("docs/SUMMARY.md");
    let mut listed: Vec<String> = links(&summary).map(|link| format!("docs/{link}")).collect();
    listed.push("docs/SUMMARY.md".to_owned());
    listed.sort();
    let mut expected = files("docs", "md");
    expected.sort();
    assert_eq!(listed, expected);
}

#[test]
fn links_between_pages_lead_to_files_and_headings() {
    let mut broken = String::new();
    for page in pages() {
        for link in links(&text(&page)) {
            let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            // A page of GitHub, relative to the page of this file.
            if file.contains("://") || file == "../../releases" {
                continue;
            }
            let here = Path::new(&page).parent().expect("a page is in a directory");
            let target = if file.is_empty() { PathBuf::from(&page) } else { here.join(file) };
            let path = root().join(&target);
            let has_heading = |wanted: &str| {
                let lines = fs::read_to_string(&path).unwrap_or_default();
                lines
                    .lines()
                    .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').map(anchor))
                    .any(|a| a == wanted)
            };
            // The pages are also a site, which has only the files of docs/.
            let is_outside = page != "README.md" && !is_in_docs(&target);
            if is_outside || !path.exists() || heading.is_some_and(|heading| !has_heading(heading)) {
                writeln!(broken, "{page}: {link}").expect("text grows");
            }
        }
    }
    assert!(broken.is_empty(), "{broken}");
}

/// Returns whether a path with `..` leads to a file below docs/.
fn is_in_docs(path: &Path) -> bool {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part.as_os_str()),
        }
    }
    parts.first().is_some_and(|first| *first == "docs")
}

/// Returns the anchor of a heading: lower-case letters, digits and dashes.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().to_lowercase();
    letters
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Returns the targets of the links and pictures in a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link)
}

/// Compares a file with its current content, or writes it.
fn compare(stale: &mut String, file: &str, current: &[u8]) {
    let path = root().join(file);
    if fs::read(&path).is_ok_and(|stored| stored == current) {
        return;
    }
    if overwrites() {
        fs::write(path, current).expect("a file is written");
    } else {
        writeln!(stale, "{file} is not current").expect("text grows");
    }
}

#[expect(clippy::disallowed_methods, reason = "the switch of trycmd")]
fn overwrites() -> bool {
    std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite")
}

/// Runs the program in the root of the repository.
fn run(args: &[&str], input: &str) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(args).current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the program reads");
    child.wait_with_output().expect("the program ends")
}

/// Returns the pages whose commands are tested.
fn pages() -> Vec<String> {
    let mut pages = files("docs", "md");
    pages.push("README.md".to_owned());
    pages
}

/// Returns the files below a directory with an extension, as paths in the repository.
fn files(directory: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(directory)).expect("a directory") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name in UTF-8");
        let path = format!("{directory}/{name}");
        if root().join(&path).is_dir() {
            found.extend(files(&path, extension));
        } else if Path::new(&name).extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect("a file can be read")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
