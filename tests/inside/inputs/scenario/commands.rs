//! Unit tests of `sim_inputs::scenario::commands`.

use super::*;

#[test]
fn a_command_that_only_sleeps_says_how_long_it_runs() {
    type Case<'c> = (&'c [&'c str], Option<(f64, i32)>);
    let cases: [Case; 14] = [
        (&["sleep", "10"], Some((10.0, 0))),
        (&["/bin/sleep", "1m", "1.5"], Some((61.5, 0))),
        (&["sh", "-c", "sleep 10"], Some((10.0, 0))),
        (&["bash", "-xc", "echo up\nsleep 10\n"], Some((10.0, 0))),
        (&["bash", "-c", "sleep 10 && exit 1"], Some((10.0, 1))),
        (&["bash", "-c", "sleep 1; sleep 2"], Some((3.0, 0))),
        (&["sleep", "infinity"], None),
        (&["sleep"], None),
        (&["sleep", "-1"], None),
        (&["sleep", "1e99"], None),
        (&["bash", "-c", "sleep 10; python train.py"], None),
        (&["bash", "-c", "sleep $N"], None),
        (&["bash", "-c", "echo $(train)\nsleep 1"], None),
        (&["python", "train.py"], None),
    ];
    for (words, expected) in cases {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let actual = read(&words).map(|(d, code)| (d.seconds(), code));
        assert_eq!(actual, expected, "{words:?}");
    }
}
