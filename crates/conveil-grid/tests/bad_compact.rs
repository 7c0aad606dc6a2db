//! Compact networks with one mistake each, and exactly what is said about it.

use conveil_grid::compact;

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_compact_networks() {
    let cases = [
        ("",
            "n.txt:1:1: there is no line `network NAME`"),
        ("network a\n",
            "n.txt:2:1: there is no line `base MVA`"),
        ("network a\nbase 100\n",
            "n.txt:2:1: the network has no bus"),
        ("network a\nbase 100\nbus 1 0 0\n",
            "n.txt:2:1: the network has no reference bus\n  help: angles count from a reference bus: mark one, usually that of a large unit"),
        ("network a\nnetwork b\n",
            "n.txt:2:1: there are two `network` lines"),
        ("network a\nbase 100\nbuss 1 0 0\n",
            "n.txt:3:1: unknown kind of line `buss`; did you mean `bus`?"),
        ("network a\nbase x\n",
            "n.txt:2:6: the base power must be a finite number, found `x`"),
        ("network a\nbase 100\nbus 1 0\n",
            "n.txt:3:8: the line ends after 3 words, where the shunt conductance should be"),
        ("network a\nbase 100\nbus 1 0 0 reference x\n",
            "n.txt:3:21: unexpected `x` at the end of a `bus` line"),
        ("network a\nbase 100\nbus 1 0 0 reference\nunit 1 2 0 1 linear 1 0\n",
            "n.txt:4:8: there is no bus 2 before this line"),
        ("network a\nbase 100\nbus 1 0 0 reference\nunit 1 1 0 1 cubic 1 0\n",
            "n.txt:4:14: unknown kind of cost `cubic`\n  help: costs are `linear`, `quadratic` or `points`"),
        ("network a\nbase 100\nbus 1 0 0 reference\nunit 1 1 2 1 linear 1 0\n",
            "n.txt:4:1: generator 1 has a least output of 2 MW above its greatest of 1 MW"),
        ("network a\nbase 100\nbus 1 0 0 reference\nbus 1 0 0\n",
            "n.txt:4:5: bus 1 is there twice"),
        ("network a\nomitted lines 1\n",
            "n.txt:2:9: omitted are buses, units or branches, not `lines`"),
        ("network a\nomitted bus -1\n",
            "n.txt:2:13: a bus number must be a whole number, found `-1`"),
    ];
    for (text, expected) in cases {
        match compact::read("n.txt", text) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
        }
    }
}
