//! Case files with one mistake each, and exactly what is said about it.
//!
//! Each case is a piece of a good file, what stands in its place, and the diagnostic.

use conveil_grid::matpower::read;

const CASE: &str = include_str!("../../../fuzz/seeds/matpower/five-buses.m");

fn refused(cases: &[(&str, &str, &str)]) {
    assert!(read("case.m", CASE).is_ok());
    for (piece, mistake, expected) in cases {
        assert!(CASE.contains(piece), "{piece}");
        says(&CASE.replacen(piece, mistake, 1), expected);
    }
}

fn says(text: &str, expected: &str) {
    match read("case.m", text) {
        Ok(_) => panic!("accepted, instead of {expected}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

/// The text with the matrix of a field replaced.
fn with_matrix(field: &str, matrix: &str) -> String {
    let start = CASE.find(&format!("mpc.{field} = [")).unwrap();
    let end = start + CASE[start..].find("];").unwrap();
    format!("{}mpc.{field} = [{matrix}{}", &CASE[..start], &CASE[end..])
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_the_text() {
    refused(&[
        (CASE, "",
            "case.m:1:1: expected `function`, found the end of the file\n  help: a case file starts with `function mpc = NAME`"),
        (CASE, "hello, world",
            "case.m:1:1: expected `function`, found `hello`\n  help: a case file starts with `function mpc = NAME`"),
        (CASE, "% only a comment\n",
            "case.m:2:1: expected `function`, found the end of the file\n  help: a case file starts with `function mpc = NAME`"),
        ("function mpc = five_buses", "function [baseMVA, bus, gen, branch] = five_buses",
            "case.m:2:10: this is a case file of version 1, which returns several matrices\n  help: version 2 is read: MATPOWER's `savecase` converts"),
        ("function mpc = five_buses", "function mpc five_buses",
            "case.m:2:14: expected `=`, found `five_buses`\n  help: a case file starts with `function mpc = NAME`"),
        ("function mpc = five_buses", "function mpc =",
            "case.m:2:15: expected the name of the case, found the end of the line\n  help: a case file starts with `function mpc = NAME`"),
        ("mpc.version = '2'", "mpc.version = '1'",
            "case.m:3:15: the version is `1`\n  help: case files of version '2' are read; MATPOWER's `savecase` converts"),
        ("mpc.version = '2'", "mpc.version = '2",
            "case.m:3:15: this quote is not closed\n  help: quoted text ends on the line where it starts"),
        ("mpc.version = '2';\n", "",
            "case.m:43:1: `mpc.version` is missing\n  help: write `mpc.version = '2';`"),
        ("mpc.baseMVA = 100;", "mpc.baseMVA = 100 + x;",
            "case.m:4:19: expected the end of the statement, found `+`"),
        ("mpc.baseMVA = 100;", "mpc.baseMVA = 100; mpc.baseMVA = 10;",
            "case.m:4:24: `baseMVA` is assigned twice, first on line 4"),
        ("mpc.areas", "define_constants;\nmpc.areas",
            "case.m:43:1: expected an assignment to a field of `mpc`, found `define_constants`\n  help: only plain assignments such as `mpc.baseMVA = 100;` are read; run a case that computes in MATPOWER and save it with `savecase`"),
        ("mpc.areas", "mpc.bus(:, 3) = 2 * mpc.bus(:, 3);\nmpc.areas",
            "case.m:43:1: expected an assignment to a field of `mpc`, found `mpc.bus`\n  help: only plain assignments such as `mpc.baseMVA = 100;` are read; run a case that computes in MATPOWER and save it with `savecase`"),
        ("'one'; 'two", "'one'; two",
            "case.m:42:1: `}` does not close the `[` of line 40"),
        ("'four'; 'five'\n}", "'four'; 'five'\n]",
            "case.m:42:1: `]` does not close the `{` of line 39"),
        ("[ 1, 5; ]", "[ 1, 5; ",
            "case.m:43:13: this bracket is not closed"),
        ("[ 1, 5; ]", "1, 5; ]",
            "case.m:43:16: expected an assignment to a field of `mpc`, found `5`\n  help: only plain assignments such as `mpc.baseMVA = 100;` are read; run a case that computes in MATPOWER and save it with `savecase`"),
        ("[ 1, 5; ]", "1 )",
            "case.m:43:15: `)` closes no bracket"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_matrices() {
    refused(&[
        ("\t60\t0\t0\t0\t0\t1\t0\t0;\n];\n\nmpc.bus_name", "\t60\t0\t0\t0\t0\t1\t0\t0;\n\nmpc.bus_name",
            "case.m:38:1: row 7 of `branch`, entry 1 must be a number, found `mpc.bus_name`\n  help: numbers are read, not names; a matrix ends with `];`"),
        ("1\t200\t0;", "1\t200;",
            "case.m:16:2: row 2 of `gen` has 10 entries, row 1 has 9"),
        ("\t2\t2\t80.5", "\t2\t2\t80.5\t0",
            "case.m:8:2: row 2 of `bus` has 14 entries, row 1 has 13"),
        ("80.5", "NaN",
            "case.m:8:6: row 2 of `bus`, entry 3 is not a number (NaN)"),
        ("80.5", "80,,5x",
            "case.m:8:9: row 2 of `bus`, entry 4 must be a number, found `,`"),
        ("80.5", "8o.5",
            "case.m:8:6: row 2 of `bus`, entry 3 must be a number, found `8o.5`"),
        ("80.5", "1e999",
            "case.m:8:6: row 2 of `bus`, entry 3 is too large: 1e999"),
        ("80.5", "Inf",
            "case.m:8:6: the demand of bus 2 is not finite (inf)"),
        ("80.5", "40 - 3",
            "case.m:8:9: row 2 of `bus`, entry 4 must be a number, found `-`"),
        ("mpc.gen = [", "mpc.gen = zeros(3, 10);\nmpc.gen = [",
            "case.m:14:11: `gen` must be a matrix, found `zeros`\n  help: a matrix starts with `[`"),
        ("mpc.branch = [", "mpc.branchs = [",
            "case.m:30:5: `mpc.branch` is missing\n  help: did you mean `mpc.branch` by `mpc.branchs`?"),
        ("mpc.areas = [ 1, 5; ]", "mpc.bus = [ 1, 5; ]",
            "case.m:43:5: `bus` is assigned twice, first on line 6"),
    ]);
    let cut = CASE.find("\t2\t3\t0.02").unwrap() + 7;
    says(&CASE[..cut],
        "case.m:30:14: the bracket of `branch` is not closed\n  help: a matrix ends with `];`; the file may be cut off");
    says(&with_matrix("branch", "1 2 0.01 0.1 0 100 0 0 0 0 1"),
        "case.m:30:15: `branch` has 11 columns, version 2 has 13 or more");
    says(&with_matrix("gen", ""),
        "case.m:14:11: `gen` is empty");
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_the_network() {
    refused(&[
        ("mpc.baseMVA = 100", "mpc.baseMVA = 0",
            "case.m:4:15: the base power must be positive, found 0\n  help: 100 MVA is usual"),
        ("\t3\t1\t-12", "\t2\t1\t-12",
            "case.m:9:2: bus 2 is there twice, in the rows 2 and 3"),
        ("\t3\t1\t-12", "\t3.5\t1\t-12",
            "case.m:9:2: a bus number must be a whole number from 1 on, found 3.5"),
        ("\t3\t1\t-12", "\t0\t1\t-12",
            "case.m:9:2: a bus number must be a whole number from 1 on, found 0"),
        ("\t3\t1\t-12", "\t3\t7\t-12",
            "case.m:9:4: the type of bus 3 is 7\n  help: types are 1 (PQ), 2 (PV), 3 (reference) and 4 (isolated)"),
        ("\t1\t3\t50", "\t1\t2\t50",
            "case.m:6:11: the network has no reference bus\n  help: angles count from a reference bus: mark one, usually that of a large unit"),
        ("\t2\t2\t80.5", "\t2\t3\t80.5",
            "case.m:8:4: the buses 1 and 2 are connected, and both are reference buses\n  help: two fixed angles would force a flow; keep one of them"),
        ("\t50\t4\t0", "\t50\t4\t7",
            "case.m:11:7: bus 50 is isolated (type 4), but has a demand of 7 MW that nothing can serve\n  help: connect the bus, or set its demand to 0 to leave it out"),
        ("\t50\t4\t0", "\t60\t1\t-4.5\t0\t0\t0\t1\t1\t0\t230\t1\t1.1\t0.9;\n\t50\t4\t0",
            "case.m:11:7: bus 60 has no branch and no unit in service, but has a demand of -4.5 MW that nothing can serve\n  help: connect the bus, or set its demand to 0 to leave it out"),
        ("\t50\t4\t0", "\t60\t1\t0\t0\t2\t0\t1\t1\t0\t230\t1\t1.1\t0.9;\n\t50\t4\t0",
            "case.m:11:11: bus 60 has no branch and no unit in service, but has a shunt of 2 MW that nothing can serve\n  help: connect the bus, or set its shunt to 0 to leave it out"),
        ("\t40\t0\t0\t30", "\t41\t0\t0\t30",
            "case.m:18:2: row 4 of `gen` is at bus 41, which is not in `bus`"),
        ("\t1\t200\t0;", "\t1\t200\t300;",
            "case.m:15:29: generator 1 has a least output of 300 MW above its greatest of 200 MW"),
        ("\t1\t200\t0;", "\t1\tInf\t0;",
            "case.m:15:25: the greatest output of generator 1 is not finite (inf)\n  help: a limit beyond every dispatch will do"),
        ("\t2\t3\t0.02\t0.2", "\t2\t33\t0.02\t0.2",
            "case.m:33:4: row 3 of `branch` is at bus 33, which is not in `bus`"),
        ("\t2\t3\t0.02\t0.2", "\t2\t2\t0.02\t0.2",
            "case.m:33:4: branch 3 (line 2-2) leads from a bus to itself"),
        ("\t2\t3\t0.02\t0.2", "\t2\t3\t0.02\t0",
            "case.m:33:11: branch 3 (line 2-3) has no reactance\n  help: the DC power flow divides by it; merge the two buses, or give a small reactance such as 0.0001"),
        ("\t2\t3\t0.02\t0.2", "\t2\t3\t0.02\t1e-320",
            "case.m:33:11: branch 3 (line 2-3) has a reactance of 1e-320, too extreme for a susceptance"),
        ("0.2\t0\t40", "0.2\t0\t-40",
            "case.m:33:17: branch 3 (line 2-3) has a limit of -40 MW\n  help: a limit must be positive"),
        ("0.978", "-0.978",
            "case.m:33:24: branch 3 (line 2-3) has a turns ratio of -0.978\n  help: it must be positive"),
        ("-30\t30", "30\t-30",
            "case.m:31:31: branch 1 (line 1-2) has a least angle above its greatest"),
        ("mpc.areas", "mpc.dcline = [1 2 1 10 10 0 0 1 1 0 10 0 0 0 0 0 0];\nmpc.areas",
            "case.m:43:19: DC line 1 is in service\n  help: networks have no DC lines; set its status to 0 to go without it"),
        ("mpc.areas", "mpc.A = [1 2 3];\nmpc.areas",
            "case.m:43:5: the case has user-defined constraints in `A`\n  help: the DC dispatch knows none; take them out to go without"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_costs() {
    refused(&[
        ("\t2\t0\t0\t1\t0\t0\t0\t0\t0\t0;\n", "",
            "case.m:23:2: `gencost` has 4 rows for 5 rows of `gen`; it needs 5, or 10 with reactive power"),
        ("\t3\t0.02\t20\t100", "\t3\t-0.02\t20\t100",
            "case.m:23:10: the cost of generator 1 is not convex: its p² term is -0.02\n  help: the p² term must not be negative"),
        ("\t3\t0.02\t20\t100", "\t4\t0.02\t20\t100",
            "case.m:23:10: the cost of generator 1 is a polynomial of degree 3\n  help: costs up to p² are read; a convex piecewise-linear cost can stand in"),
        ("\t3\t0.02\t20\t100", "\t7\t0.02\t20\t100",
            "case.m:23:8: the cost of generator 1 has a count of 7 coefficients, the row has room for 6"),
        ("\t3\t0.02\t20\t100", "\t0\t0.02\t20\t100",
            "case.m:23:8: the cost of generator 1 has a count of 0 coefficients, the row has room for 6"),
        ("\t3\t0.02\t20\t100", "\t3\t0.02\tInf\t100",
            "case.m:23:10: the cost of generator 1 is not finite (inf)"),
        ("\t2\t0\t0\t3\t0.02", "\t3\t0\t0\t3\t0.02",
            "case.m:23:2: the cost model of generator 1 is 3\n  help: models are 1 (piecewise linear) and 2 (polynomial)"),
        ("20\t300\t60\t1000", "20\t900\t60\t1000",
            "case.m:26:10: the cost of generator 4 is not convex: at point 2 (20 MW) its slope falls from 45 to 2.5\n  help: slopes must not fall, or the dispatch is no convex problem"),
        ("20\t300\t60\t1000", "60\t300\t60\t1000",
            "case.m:26:10: the cost points of generator 4 must increase in MW: point 2 is at 60, point 3 at 60"),
        ("\t1\t0\t0\t3\t0\t0\t20", "\t1\t0\t0\t1\t0\t0\t20",
            "case.m:26:10: the piecewise-linear cost of generator 4 has 1 of the at least 2 points it needs"),
    ]);
}
