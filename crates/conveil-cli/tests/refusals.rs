//! Specs, problems, files and flags with one mistake each: exactly what the command says, and its exit code.
//!
//! Each case is a good pair of files, what is changed in the spec and in the problem, the words after `conveil`, the
//! exit code, and the whole of standard error.

mod running;

use running::{directory, ended, examples, text, without_nominal, write};

/// A spec and its problem.
#[derive(Clone, Copy)]
enum Good {
    Example(&'static str),
    Own(&'static str, &'static str, &'static str),
}

const SCALAR: Good = Good::Example("scalar-lp");
const GENERATORS: Good = Good::Example("two-generators");
const FIT: Good = Good::Example("least-squares");
const PORTFOLIO: Good = Good::Example("portfolio");
const SAMPLED: Good = Good::Example("sampled-dispatch");
const EPIGRAPH: Good = Good::Own("epigraph.json", EPIGRAPH_SPEC, EPIGRAPH_PROBLEM);
const MANY: Good = Good::Own("many-noises.json", MANY_SPEC, MANY_PROBLEM);

/// min t, t ≥ x, t ≥ 2 − x, 0 ≤ x ≤ 3: t is an epigraph.
const EPIGRAPH_SPEC: &str = r#"# min t s.t. t ≥ x, t ≥ 2 − x, 0 ≤ x ≤ 3: t is an epigraph.
[problem]
model = "conic"
file = "epigraph.json"
[[problem.variable]]
name = "x"
stage = "decision"
[[problem.variable]]
name = "t"
stage = "epigraph"
[private]
adjacency = { kind = "one-entry", alpha = 0.1 }
[[private.parameter]]
name = "d"
at = [{ in = "b", row = 1, coef = -1.0 }]
[query]
release = "identity"
variables = ["t"]
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = 1.0, reason = "the height moves by at most as much as d" }
[feasibility]
eta = 0.05
"#;

const EPIGRAPH_PROBLEM: &str = r#"{
  "P": {"m": 2, "n": 2, "colptr": [0, 0, 0], "rowval": [], "nzval": []},
  "q": [0.0, 1.0],
  "A": {"m": 4, "n": 2, "colptr": [0, 4, 6], "rowval": [0, 1, 2, 3, 0, 1], "nzval": [1.0, -1.0, -1.0, 1.0, -1.0, -1.0]},
  "b": [0.0, -2.0, 0.0, 3.0],
  "cones": [{"NonnegativeConeT": 4}]
}
"#;

/// 18 numbers in one second-order cone, all released.
const MANY_SPEC: &str = r#"[problem]
model = "conic"
file = "many-noises.json"
[[problem.variable]]
name = "x"
size = 18
stage = "decision"
[private]
adjacency = { kind = "one-entry", alpha = 0.1 }
[[private.parameter]]
name = "d"
at = [{ in = "q", column = 0 }]
[query]
release = "identity"
[privacy]
mechanism = "laplace"
epsilon = 1.0
sensitivity = { by = "declared", per_alpha = 1.0, reason = "strong convexity" }
[feasibility]
eta = 0.05
"#;

const MANY_PROBLEM: &str = r#"{"P": {"m": 18, "n": 18, "colptr": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18], "rowval": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17], "nzval": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]},
"q": [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0],
"A": {"m": 19, "n": 18, "colptr": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18], "rowval": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18], "nzval": [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]},
"b": [100.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
"cones": [{"SecondOrderConeT": 19}]}"#;

const CHECK: &[&str] = &["check", "spec.toml"];

type Edits = &'static [(&'static str, &'static str)];
type Case = (
    Good,
    Edits,
    Edits,
    &'static [&'static str],
    i32,
    &'static str,
);

fn edited(text: &str, edits: Edits) -> String {
    let mut text = String::from(text);
    for (piece, mistake) in edits {
        assert!(text.contains(piece), "{piece}");
        text = text.replacen(piece, mistake, 1);
    }
    text
}

fn refused(cases: &[Case]) {
    let name = std::thread::current().name().map(String::from);
    let place = directory(&name.unwrap_or_default());
    for &(good, spec_edits, problem_edits, words, code, message) in cases {
        let (file, spec, problem) = match good {
            Good::Own(file, spec, problem) => (file.into(), spec.into(), problem.into()),
            Good::Example(name) => (
                format!("{name}.json"),
                without_nominal(name),
                text(&examples().join(format!("{name}.json"))),
            ),
        };
        write(&place.join("spec.toml"), edited(&spec, spec_edits));
        write(&place.join(file), edited(&problem, problem_edits));
        let (found_code, stdout, stderr) = ended(&place, words);
        assert_eq!(stderr, message);
        assert_eq!((found_code, stdout.as_str()), (code, ""), "{message}");
    }
}

#[test]
#[rustfmt::skip] // one case after the other
fn mistakes_in_the_spec() {
    refused(&[
        (SCALAR, &[("[query]", "[query")], &[],
            CHECK, 2,
            "error: spec.toml:30:7: not valid TOML: unclosed table, expected `]`\n"),
        (SCALAR, &[("version = 1", "version = 3")], &[],
            CHECK, 2,
            "error: spec.toml:8:11: version 3 is not known; this program reads versions 1 and 2\n"),
        (SCALAR, &[("epsilon = 1.0", "epsilonn = 1.0")], &[],
            CHECK, 2,
            "error: spec.toml:35:1: unknown key `epsilonn` in [privacy]; did you mean `epsilon`?\n"),
        (SCALAR, &[("epsilon = 1.0", "epsilon = nan")], &[],
            CHECK, 2,
            "error: spec.toml:35:11: `epsilon` must be finite, found nan\n"),
        (SCALAR, &[("epsilon = 1.0", "epsilon = \"1\"")], &[],
            CHECK, 2,
            "error: spec.toml:35:11: `epsilon` must be a number, found a string\n"),
        (SCALAR, &[("[query]\nrelease = \"cost\"                # q'x = 1.5·x\n", "")], &[],
            CHECK, 2,
            "error: spec.toml:1:1: the section [query] is missing\n  help: for example: [query] with release = \"cost\"\n"),
        (SCALAR, &[("model = \"conic\"", "model = \"ellipsoid\"")], &[],
            CHECK, 2,
            "error: spec.toml:14:11: `variable` makes no sense with model `ellipsoid`\n"),
        (SCALAR, &[("eta = 0.01", "eta = 0.7")], &[],
            CHECK, 2,
            "error: spec.toml:39:7: `eta` must lie strictly between 0 and 1/2, found 0.7\n"),
        (SCALAR, &[("\"laplace\"", "\"laplase\"")], &[],
            CHECK, 2,
            "error: spec.toml:34:13: `mechanism` must be `laplace`, `gaussian` or `truncated-laplace`, found `laplase`\n  help: did you mean `laplace`?\n"),
        (SCALAR, &[("eta = 0.01", "eta = 0.01\nmethod = \"ball\"\n#")], &[],
            CHECK, 2,
            "error: spec.toml:40:10: method `ball` needs mechanism `gaussian`\n"),
        (SCALAR, &[("eta = 0.01", "eta = 0.01\nsplit = \"optimize\"\n#")], &[],
            CHECK, 2,
            "error: spec.toml:40:9: `split` must be `symmetric` or `optimise`, found `optimize`\n  help: did you mean `optimise`?\n"),
        (SCALAR, &[("by = \"declared\", per_alpha = 1.5", "by = \"declared\"")], &[],
            CHECK, 2,
            "error: spec.toml:36:15: `sensitivity` needs `value` or `per_alpha`\n  help: for example: value = 1.0\n"),
        (SCALAR, &[("by = \"declared\"", "by = \"envelope\"")], &[],
            CHECK, 2,
            "error: spec.toml:36:15: sensitivity by `envelope` needs `price`\n  help: price = 1000.0 is what deviating from the data by one unit costs, a public number: the value of lost load, a price cap\n"),
        (FIT, &[("release = \"identity\"", "release = \"identity\"\nshape = \"curve\"\n#")], &[],
            CHECK, 2,
            "error: spec.toml:55:9: `shape` must be `curvature` or `isotropic`, found `curve`\n  help: or give the matrix by rows: [[2.0, 0.0], [0.5, 1.0]]\n"),
        (SCALAR, &[("by = \"declared\", per_alpha = 1.5, reason = \"the optimal x follows l one to one at every noise scale, and the cost is 1.5 x\"", "by = \"envelope\", price = 10.0")], &[],
            CHECK, 2,
            "error: spec.toml:26:8: sensitivity by `envelope` needs `bounds` on every parameter, and `l` has none\n  help: the bounds must hold every admissible value, of either sign\n"),
        (SCALAR, &[("kind = \"one-entry\", alpha = 1.0", "kind = \"one-record\", record = 2")], &[],
            CHECK, 2,
            "error: spec.toml:23:13: 1 parameter cannot be split into records of 2\n"),
        (SCALAR, &[("release = \"cost\"", "release = \"weighted\"\nweights = { y = 1.0 }\n#")], &[],
            CHECK, 2,
            "error: spec.toml:32:13: no variable `y`\n"),
        (GENERATORS, &[("name = \"dear\"", "name = \"cheap\"")], &[],
            CHECK, 2,
            "error: spec.toml:18:8: the name `cheap` is taken\n"),
        (GENERATORS, &[("name = \"dear\"\nstage = \"decision\"", "name = \"dear\"\nstage = \"wait-and-see\"")], &[],
            CHECK, 2,
            "error: spec.toml:19:9: `stage` must be `decision`, `here-and-now`, `witness` or `epigraph`, found `wait-and-see`\n"),
        (GENERATORS, &[("name = \"dear\"\nstage = \"decision\"", "name = \"dear\"")], &[],
            CHECK, 2,
            "error: spec.toml:18:8: the variable `dear` does not say what it is\n  help: for `dear` write one line: stage = \"decision\" (`decision` for a real quantity that somebody carries out, `here-and-now` for one that is decided before the noise, `witness` for a slack or another variable of which only the existence is claimed, `epigraph` for one that bounds a convex cost from above)\n"),
        (GENERATORS, &[("name = \"dear\"\nstage = \"decision\"", "name = \"dear\"\nstage = \"recourse\"")], &[],
            CHECK, 2,
            "error: spec.toml:19:9: `recourse` does not say whether somebody carries out the variable `dear`\n  help: for `dear` write one line: stage = \"decision\" (`decision` for a real quantity that somebody carries out, `here-and-now` for one that is decided before the noise, `witness` for a slack or another variable of which only the existence is claimed, `epigraph` for one that bounds a convex cost from above)\n"),
        (GENERATORS, &[("[[problem.variable]]\nname = \"cheap\"\nstage = \"decision\"\n\n[[problem.variable]]\nname = \"dear\"\nstage = \"decision\"\n", "")], &[],
            CHECK, 2,
            "error: spec.toml:11:8: the spec does not say what the variables of the problem are\n  help: if each is a real quantity that somebody carries out, write below [problem]:\n\n    [[problem.variable]]\n    name = \"x\"\n    size = 2\n    stage = \"decision\"\n\n  else one block for each run of columns, with stage = \"decision\", \"here-and-now\", \"witness\" or \"epigraph\"\n"),
        (GENERATORS, &[("release = \"cost\"", "release = \"cost\"\nshape = [[1.0, 0.0], [0.0, 1.0]]")], &[],
            CHECK, 2,
            "error: spec.toml:37:9: `shape` is 2×2, but the answer has 1 number\n"),
        (FIT, &[("name = \"y3\"                     # t = 0: it moves the level only\nvalue = 4.2", "name = \"y3\"")], &[],
            CHECK, 2,
            "error: spec.toml:40:7: parameter `y3` has no `value`, and shares q[0] with another parameter\n  help: the file holds one number for both: give each a `value`\n"),
        (SAMPLED, &[("[private.universe]              # public: what the loads may be at all\nkind = \"box\"\ncenter = [49.0, 61.0]           # a public forecast, never the private loads themselves\nhalf_width = [5.0, 5.0]\n", "")], &[],
            CHECK, 2,
            "error: spec.toml:57:15: sensitivity by `sampled` needs [private.universe]\n"),
        (SAMPLED, &[("center = [49.0, 61.0]", "center = [50.0]")], &[],
            CHECK, 2,
            "error: spec.toml:52:14: `half_width` has 2 numbers, but there are 1 coordinates of `center`\n"),
    ]);
}

#[test]
#[rustfmt::skip] // one case after the other
fn mistakes_in_the_problem_file() {
    refused(&[
        (SCALAR, &[], &[("\"q\": [1.5]", "\"q\": [1.5")],
            CHECK, 2,
            "error: scalar-lp.json:7:6: not valid JSON: expected `,` or `]`\n"),
        (SCALAR, &[], &[("\"q\": [1.5]", "\"q\": [NaN]")],
            CHECK, 2,
            "error: scalar-lp.json:6:9: not valid JSON: expected value\n"),
        (SCALAR, &[], &[("\"q\": [1.5]", "\"q\": [1.5, 2.0]")],
            CHECK, 2,
            "error: scalar-lp.json:2:8: `P` is 1×1, but `q` has 2 entries: `P` must be 2×2\n"),
        (SCALAR, &[], &[("160.0", "1e20")],
            CHECK, 2,
            "error: scalar-lp.json:11:17: `b[1]` is 1e20\n  help: 1e20 stands for 'no bound' in Clarabel; leave the row out\n"),
        (SCALAR, &[], &[("\"rowval\": [0, 1]", "\"rowval\": [0, 7]")],
            CHECK, 2,
            "error: scalar-lp.json:9:23: `A.rowval[1]` must be less than `A.m`, 2, found 7\n"),
        (SCALAR, &[], &[("\"NonnegativeConeT\": 2", "\"NonnegativeConeT\": 3")],
            CHECK, 2,
            "error: scalar-lp.json:12:12: the cones cover 3 rows, but `A` has 2\n"),
        (SCALAR, &[], &[("\"NonnegativeConeT\": 2", "\"PositiveConeT\": 2")],
            CHECK, 2,
            "error: scalar-lp.json:12:31: unknown key `PositiveConeT` in `cones[0]`; known keys: ZeroConeT, NonnegativeConeT, SecondOrderConeT, ExponentialConeT, PowerConeT, GenPowerConeT, PSDTriangleConeT\n"),
        (FIT, &[], &[("\"colptr\": [0, 1, 2],\n        \"rowval\": [0, 1],\n        \"nzval\": [5.0, 10.0]", "\"colptr\": [0, 2, 2],\n        \"rowval\": [0, 1],\n        \"nzval\": [5.0, 10.0]")],
            CHECK, 2,
            "error: least-squares.json:2:8: `P` has an entry below the diagonal, at row 1, column 0\n  help: Clarabel saves the upper triangle of P; leave the lower one out\n"),
        (FIT, &[], &[("\"nzval\": [5.0, 10.0]", "\"nzval\": [5.0, -10.0]")],
            CHECK, 2,
            "error: least-squares.json: P is not positive semidefinite: the objective is not convex in `slope`\n"),
    ]);
}

#[test]
#[rustfmt::skip] // one case after the other
fn a_spec_and_a_problem_that_disagree() {
    refused(&[
        (GENERATORS, &[("[[problem.variable]]\nname = \"dear\"\nstage = \"decision\"\n", "")], &[],
            CHECK, 2,
            "error: spec.toml:14:8: the variable blocks have 1 entry in all, but two-generators.json has 2 columns\n  help: name every column, in order; `size` says how many a block takes\n"),
        (GENERATORS, &[("name = \"dear\"", "name = \"dear\"\nsize = 1000000000")], &[],
            CHECK, 2,
            "error: spec.toml:18:8: the variable blocks have 1000000001 entries in all, but two-generators.json has 2 columns\n  help: name every column, in order; `size` says how many a block takes\n"),
        (GENERATORS, &[("[[problem.constraint]]\nname = \"limits\"\nrows = [\"cheap ≥ 0\", \"dear ≥ 0\", \"cheap ≤ 10\", \"dear ≤ 2\"]\n", "")], &[],
            CHECK, 2,
            "error: spec.toml:22:8: 1 constraint block is named, but two-generators.json has 2 cones\n  help: name one block for each cone, in order: zero (1), non-negative (4)\n"),
        (SCALAR, &[("[private]\n", "[[problem.constraint]]\nname = \"more\"\n[private]\n")], &[],
            CHECK, 2,
            "error: spec.toml:23:8: 2 constraint blocks are named, but scalar-lp.json has 1 cone\n  help: name one block for each cone, in order: non-negative (2)\n"),
        (GENERATORS, &[("\"cheap ≤ 10\", ", "")], &[],
            CHECK, 2,
            "error: spec.toml:26:34: `limits` has 3 row names, but its cone has 4 rows\n"),
        (GENERATORS, &[("name = \"balance\"", "holds = \"at-the-mean\"\nname = \"balance\"")], &[],
            CHECK, 2,
            "error: spec.toml:23:8: `balance` is an equality and cannot hold at the mean only\n"),
        (SCALAR, &[("in = \"b\", row = 0", "in = \"b\", row = 2")], &[],
            CHECK, 2,
            "error: spec.toml:28:7: b[2] is not in scalar-lp.json: the problem has rows 0 to 1\n"),
        (SCALAR, &[("in = \"b\", row = 0", "in = \"q\", column = 1")], &[],
            CHECK, 2,
            "error: spec.toml:28:7: q[1] is not in scalar-lp.json: the problem has column 0 only\n"),
        (GENERATORS, &[("in = \"b\", row = 0", "in = \"A\", row = 1, column = 1")], &[],
            CHECK, 2,
            "error: spec.toml:33:7: A[1, 1] is not in two-generators.json: the matrix stores no entry there\n  help: which entries exist is public: store an explicit 0 in the file\n"),
        (SCALAR, &[("release = \"cost\"", "release = \"identity\"\nvariables = [\"x[3]\"]\n#")], &[],
            CHECK, 2,
            "error: spec.toml:32:14: `x` has indexes 0 to 0, found 3\n"),
        (GENERATORS, &[("[[problem.constraint]]\nname = \"balance\"                # a zero cone: it holds whatever the noise\n\n[[problem.constraint]]\nname = \"limits\"\nrows = [\"cheap ≥ 0\", \"dear ≥ 0\", \"cheap ≤ 10\", \"dear ≤ 2\"]\n", ""), ("eta = 0.05", "eta = 0.05\n[[feasibility.block]]\nname = \"limits\"\nweight = 2.0")], &[],
            CHECK, 2,
            "error: spec.toml:40:8: no constraint `limits`\n  help: there are: `c0`, `c1`\n"),
        (FIT, &[("rows = [\"level ≥ 0\", \"slope ≥ 0\", \"level ≤ 10\", \"slope ≤ 1\"]", ""), ("eta = 0.05", "eta = 0.05\n[[feasibility.block]]\nname = \"bounds\"\neta = [0.01, 0.01]")], &[],
            CHECK, 2,
            "error: spec.toml:66:7: `eta` has 2 numbers, but `bounds` has 4 rows\n"),
    ]);
}

#[test]
#[rustfmt::skip] // one case after the other
fn asks_that_no_guarantee_can_answer() {
    refused(&[
        (GENERATORS, &[("name = \"dear\"\nstage = \"decision\"", "name = \"dear\"\nstage = \"witness\""), ("release = \"cost\"", "release = \"identity\"\nvariables = [\"cheap\", \"dear\"]")], &[],
            CHECK, 2,
            "error: spec.toml:37:23: refused: a query on `dear`\n  because it is declared a witness: only the existence of a value is claimed, so no value of it can be released or carry noise\n  instead: leave it out of the query; or, if `dear` is a real quantity that somebody carries out, declare it a decision (`stage = \"decision\"` in a spec, `Builder::variable` in Rust)\n"),
        (GENERATORS, &[("name = \"dear\"\nstage = \"decision\"", "name = \"dear\"\nstage = \"here-and-now\""), ("name = \"cheap\"\nstage = \"decision\"", "name = \"cheap\"\nstage = \"here-and-now\"")], &[],
            CHECK, 2,
            "error: spec.toml: refused: noise on the query `cost`\n  because it has no variable that may respond to the noise: what stands in it is decided before the noise\n  instead: a query of variables that are declared decisions\n"),
        (EPIGRAPH, &[], &[],
            CHECK, 2,
            "error: spec.toml:18:14: refused: a query on `t`\n  because it is declared an epigraph, which would take up the noise while the decision stays where it is\n  instead: release it as `at-most` with a public slope, or query the cost as a row over the decisions; or, if `t` is a real quantity that somebody carries out, declare it a decision (`stage = \"decision\"` in a spec, `Builder::variable` in Rust)\n"),
        (FIT, &[("release = \"identity\"", "release = \"cost\"\n#")], &[],
            CHECK, 2,
            "error: spec.toml: refused: a query of the cost\n  because the cost coefficients are private, so the query itself would depend on the data\n  instead: query public combinations of the variables; or release = \"value\" with strategy = output\n"),
        (SCALAR, &[], &[("\"colptr\": [0, 0],\n        \"rowval\": [],\n        \"nzval\": []", "\"colptr\": [0, 1],\n        \"rowval\": [0],\n        \"nzval\": [1.0]")],
            CHECK, 2,
            "error: spec.toml: refused: a query of the cost\n  because the cost is quadratic, and this query is linear\n  instead: release = \"value\" with strategy = output, which is the optimal value alone; or write the cost through an epigraph variable and release it as `at-most` with a public slope\n"),
        (SCALAR, &[("eta = 0.01", "eta = 0.01\nsplit = \"optimise\"\n#")], &[],
            CHECK, 2,
            "error: spec.toml: refused: split = optimise on this basis\n  because the winning split depends on the data, and only a certificate that envelopes the value of every split keeps its bound under that choice\n  instead: split = symmetric, or a lower tail share fixed in advance\n"),
        (SCALAR, &[("eta = 0.01", "eta = 0.01\n[[feasibility.block]]\nname = \"limits\"\neta = 0.005\n#")], &[],
            CHECK, 2,
            "error: spec.toml: `limits` is served by mass box: it has no η per row\n"),
        (PORTFOLIO, &[("eta = 0.05", "eta = 0.05\nmethod = \"row-by-row\"")], &[],
            CHECK, 2,
            "error: spec.toml: refused: row by row on the second-order block `risk`\n  because that method serves linear rows only\n  instead: mass-box, safe-box, sampled-box or scenario for this block\n"),
        (PORTFOLIO, &[("eta = 0.05", "eta = 0.05\n[[feasibility.block]]\nname = \"long only\"\nmethod = \"fixed-recourse\"")], &[],
            CHECK, 2,
            "error: spec.toml: refused: fixed recourse on `long only[0]`\n  because its noise depends on free recourse, so it has no fixed quantile\n  instead: row by row, or the mass box\n"),
        (FIT, &[("eta = 0.05", "eta = 0.05\n[risk]\nobjective = \"cvar\"\ntail = 0.1")], &[],
            CHECK, 2,
            "error: spec.toml: refused: CVaR of a quadratic objective\n  because CVaR is computed for a linear cost\n  instead: write the quadratic part through an epigraph variable, or minimise the expectation\n"),
        (SCALAR, &[("release = \"cost\"", "release = \"cost\"\nshape = [[0.0]]\n#")], &[],
            CHECK, 2,
            "error: spec.toml: refused: this shape T\n  because it is not invertible (or nearly not): some combination of the answers would carry no noise\n  instead: an invertible matrix\n"),
        (SCALAR, &[("eta = 0.01", "eta = 0.01\n[lattice]\nstep = 10.0\n#")], &[],
            CHECK, 2,
            "error: spec.toml: the lattice step must be positive and at most the noise scale 1.5, found 10\n"),
        (SAMPLED, &[("seed = 1", "seed = 1, on = \"deterministic\"")], &[],
            CHECK, 2,
            "error: spec.toml: refused: noise calibrated to the deterministic map\n  because another map is released, and it can move many times more\n  instead: on = \"released\", or paper mode for a study that releases nothing\n"),
        (MANY, &[], &[],
            CHECK, 2,
            "error: spec.toml: refused: a box on the second-order block `c0`\n  because 18 noises reach it, and at the 2^18 vertices of a box it would take 4980736 rows\n  instead: `method = \"safe-box\"`, a bound of the block's own size, or `method = \"scenario\"`\n"),
    ]);
}

#[test]
#[rustfmt::skip] // one case after the other
fn programs_and_noise_that_do_not_fit() {
    refused(&[
        (SCALAR, &[("value = 100.0", "value = 200.0")], &[],
            &["solve", "spec.toml"], 3,
            "error: spec.toml: the program itself is infeasible: these constraints exclude each other: `lower` (50%), `upper` (50%)\n  help: the data and the limits contradict each other before any noise is added\n"),
        (SCALAR, &[("value = 100.0", "value = 200.0")], &[],
            &["explain", "spec.toml"], 3,
            "error: spec.toml: the program itself is infeasible: these constraints exclude each other: `lower` (50%), `upper` (50%)\n  help: the data and the limits contradict each other before any noise is added\n"),
        (SCALAR, &[], &[("\"q\": [1.5]", "\"q\": [-1.5]"), ("\"nzval\": [-1.0, 1.0]", "\"nzval\": [-1.0, -1.0]")],
            &["solve", "spec.toml"], 3,
            "warning: `cost` can move without limit inside the feasible set: in that direction noise is never infeasible\nerror: spec.toml: the program itself is unbounded: the objective falls without limit along `x` up\n"),
        (SCALAR, &[("epsilon = 1.0", "epsilon = 0.01")], &[],
            &["solve", "spec.toml"], 4,
            "error: spec.toml: feasible without noise, but not with this noise: these constraints exclude each other: `lower` (50%), `upper` (50%)\n  help: `conveil explain spec.toml` finds the smallest epsilon or eta, or the largest alpha, that fits\n"),
        (SCALAR, &[("[query]", "[private.universe]\nkind = \"box\"\ncenter = [100.0]\nhalf_width = [5.0]\n[query]"), ("epsilon = 1.0", "epsilon = 0.01"), ("sensitivity = {", "sensitivity = { by = \"sampled\", gamma = 0.1, beta = 0.1 } # {")], &[],
            CHECK, 4,
            "error: spec.toml: not attainable: no noise scale gives ε = 0.01 for the released map: at this noise pair 0 has no answer (feasible without noise, but not with this noise: these constraints exclude each other: `lower` (50%), `upper` (50%)); no tried scale had an answer for every pair\n  help: what can change this: epsilon, eta, the universe, the constraints\n"),
        (SCALAR, &[("[query]", "[private.universe]\nkind = \"box\"\ncenter = [300.0]\nhalf_width = [5.0]\n[query]"), ("epsilon = 1.0", "epsilon = 1.0"), ("sensitivity = {", "sensitivity = { by = \"sampled\", gamma = 0.1, beta = 0.1 } # {")], &[],
            CHECK, 4,
            "error: spec.toml: not attainable: pair 0 of the universe has no answer even without noise: the program itself is infeasible: these constraints exclude each other: `lower` (50%), `upper` (50%)\n  help: what can change this: epsilon, eta, the universe, the constraints\n"),
        (SAMPLED, &[("half_width = [5.0, 5.0]", "half_width = [0.0, 0.0]")], &[],
            CHECK, 4,
            "error: spec.toml: not attainable: no sampled pair moved the answer at all: the sample says nothing about the sensitivity\n  help: what can change this: epsilon, eta, the universe, the constraints\n"),
        (SCALAR, &[("at = [{ in = \"b\", row = 0, coef = -1.0 }]", "at = [{ in = \"b\", row = 0, coef = 1e-307 }]"), ("value = 100.0                   # the private number; `check` never looks at it\n", "")], &[],
            &["solve", "spec.toml", "--quiet"], 2,
            "error: spec.toml:27:7: (-100 − 0)/0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001 at b[0] is not a finite number: give `l` a `value`\n"),
        (SCALAR, &[("value = 100.0", "value = 1e300")], &[],
            &["solve", "spec.toml"], 2,
            "error: spec.toml: the right-hand side of `lower` is -1e300: it must be a finite number below 1e20 (leave the row out for no bound)\n"),
    ]);
}

#[test]
#[rustfmt::skip] // one case after the other
fn flags_that_make_no_sense() {
    refused(&[
        (SCALAR, &[], &[],
            &["check"], 2,
            "error: the following required arguments were not provided:\n  <SPEC.toml>\n\nUsage: conveil check <SPEC.toml>\n\nFor more information, try '--help'.\n"),
        (SCALAR, &[], &[],
            &["chekc", "spec.toml"], 2,
            "error: unrecognized subcommand 'chekc'\n\n  tip: a similar subcommand exists: 'check'\n\nUsage: conveil [COMMAND]\n\nFor more information, try '--help'.\n"),
        (SCALAR, &[], &[],
            &["compare", "spec.toml", "--draws", "0"], 2,
            "error: invalid value '0' for '--draws <N>': 0 is not in 1..=10000000\n\nFor more information, try '--help'.\n"),
        (SCALAR, &[], &[],
            &["compare", "spec.toml", "--seed", "-1"], 2,
            "error: unexpected argument '-1' found\n\n  tip: to pass '-1' as a value, use '-- -1'\n\nUsage: conveil compare [OPTIONS] <SPEC.toml>\n\nFor more information, try '--help'.\n"),
        (SCALAR, &[], &[],
            &["frontier", "spec.toml", "--values", "1,-1"], 2,
            "error: invalid value '-1' for '--values <V,V,…>': must be a positive number\n\nFor more information, try '--help'.\n"),
        (SCALAR, &[], &[],
            &["frontier", "spec.toml", "--over", "delta"], 2,
            "error: invalid value 'delta' for '--over <OVER>'\n  [possible values: epsilon, alpha, eta, width, curvature, price]\n\nFor more information, try '--help'.\n"),
        (SCALAR, &[], &[],
            &["frontier", "spec.toml", "--over", "eta", "--values", "0.1,0.9"], 2,
            "error: spec.toml: η must lie strictly between 0 and 1/2, found 0.9\n"),
        (SCALAR, &[("per_alpha = 1.5", "value = 1.5")], &[],
            &["frontier", "spec.toml", "--over", "alpha"], 2,
            "error: spec.toml: a frontier over α needs a sensitivity declared per α (`per_alpha`), or an envelope\n"),
        (SCALAR, &[("kind = \"one-entry\", alpha = 1.0", "kind = \"one-record\", record = 1"), ("per_alpha = 1.5", "value = 1.5")], &[],
            &["frontier", "spec.toml", "--over", "alpha"], 2,
            "error: spec.toml:23:13: a frontier over alpha needs an adjacency with an alpha\n  help: one-entry, l1 and l2 have one\n"),
    ]);
}
/// The rank test names the equality that leaves no room for noise.
#[test]
fn a_query_that_an_equality_fixes_is_refused() {
    let place = directory("fixed-by-an-equality");
    let spec = text(&examples().join("two-generators.toml"));
    write(
        &place.join("two-generators.json"),
        text(&examples().join("two-generators.json")),
    );
    for release in ["identity", "sum"] {
        let query = format!("release = \"{release}\"");
        write(
            &place.join("spec.toml"),
            spec.replacen("release = \"cost\"", &query, 1),
        );
        let (code, stdout, stderr) = ended(&place, CHECK);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        let start = "error: spec.toml: refused: noise on the query `";
        assert!(stderr.starts_with(start), "{stderr}");
        assert!(
            release == "identity" || stderr.contains("fixed by `balance`"),
            "{stderr}"
        );
    }
}

#[test]
fn files_that_cannot_be_read() {
    let place = directory("files-that-cannot-be-read");
    let spec = text(&examples().join("scalar-lp.toml"));
    let help = "\n  help: give the path of a spec file; `conveil check --help` shows how\n";
    let says = |words: &[&str], message: &str| {
        let (code, stdout, stderr) = ended(&place, words);
        assert_eq!(stderr, message);
        assert_eq!((code, stdout.as_str()), (2, ""), "{message}");
    };
    says(
        &["check", "none.toml"],
        &format!("error: none.toml: no such file{help}"),
    );
    says(
        &["solve", "."],
        &format!("error: .: this is a directory, not a file{help}"),
    );
    write(&place.join("empty.toml"), "\n \n");
    says(
        &["check", "empty.toml"],
        &format!("error: empty.toml: the file is empty{help}"),
    );
    write(&place.join("latin.toml"), b"# caf\xe9\n");
    says(
        &["check", "latin.toml"],
        &format!("error: latin.toml: not a text file: byte 6 is not UTF-8{help}"),
    );
    write(&place.join("spec.toml"), &spec);
    let at = "error: spec.toml:12:8: cannot read the problem scalar-lp.json:";
    let help = "\n  help: `file` is a path relative to the spec's directory\n";
    says(CHECK, &format!("{at} no such file{help}"));
    write(&place.join("scalar-lp.json"), "");
    says(CHECK, &format!("{at} the file is empty{help}"));
    write(&place.join("scalar-lp.json"), b"{\"P\": \xff}");
    says(
        CHECK,
        &format!("{at} not a text file: byte 7 is not UTF-8{help}"),
    );
    let nested = spec.replacen("\"scalar-lp.json\"", "\"..\"", 1);
    write(&place.join("spec.toml"), nested);
    let at = "error: spec.toml:12:8: cannot read the problem ..:";
    says(
        CHECK,
        &format!("{at} this is a directory, not a file{help}"),
    );
}

/// An administrator may read everything: there is nothing to see then.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = directory("a-file-that-may-not-be-read");
    let path = place.join("spec.toml");
    write(&path, "");
    let none = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&path, none).unwrap_or_else(|e| panic!("{e}"));
    if std::fs::read(&path).is_ok() {
        return;
    }
    let (code, _, stderr) = ended(&place, CHECK);
    assert_eq!(code, 2);
    assert!(stderr.contains("permission denied"), "{stderr}");
}

/// A certificate for private numbers anywhere names the public fact that it lacks, before any data are looked at.
#[test]
fn a_saddle_certificate_names_the_public_fact_that_is_missing() {
    let place = directory("missing-facts");
    let stated = "sensitivity = { by = \"saddle\", price = 1000.0 }";
    let point = "release = \"sum\"\nvariables = [\"maize\"]";
    let sum = |spec: &str| spec.replace("release = \"cost\"", point);
    let by = |spec: &str, terms: &str| {
        let terms = format!("sensitivity = {{ by = \"saddle\"{terms} }}");
        spec.replace(stated, &terms)
    };
    let blending = text(&examples().join("blending.toml"));
    assert!(blending.contains(stated) && blending.contains("release = \"cost\""));
    let covariance = text(&examples().join("private-covariance.toml"));
    let unbounded = covariance.replace("bounds = [4.0, 16.0]\n", "");
    assert_ne!(covariance, unbounded);
    let problem = |name: &str| text(&examples().join(format!("{name}.json")));
    for (spec, problem, expected) in [
        (
            by(&blending, ""),
            problem("blending"),
            &[
                "`protein` holds private numbers and has no price",
                "has no default",
                "instead: price = 1000.0 for all such rows, or prices = { \"protein\" = 1000.0 } beside the certificate",
            ] as &[&str],
        ),
        (
            by(&blending, ", prices = { protien = 900.0 }"),
            problem("blending"),
            &[
                "`prices` names `protien`, but no row with private numbers is called so; did you mean `protein`?",
            ],
        ),
        // A row that is there, and holds no private number.
        (
            by(&blending, ", prices = { fibre = 900.0 }"),
            problem("blending"),
            &["`prices` names `fibre`, but no row with private numbers is called so"],
        ),
        (
            sum(&blending),
            problem("blending"),
            &[
                "what is released is not the optimal value",
                "`width` beside the prices",
            ],
        ),
        // A rule that is still to be decided would meet the private coefficients.
        (
            by(&sum(&blending), ", price = 1000.0, width = 0.001"),
            problem("blending"),
            &[
                "how `barley` follows the noise there is still to be decided",
                "strategy = output",
            ],
        ),
        (
            by(&sum(&blending), ", price = 1000.0, width = 0.001")
                .replace("[feasibility]", "[feasibility]\nstrategy = \"output\""),
            problem("blending"),
            &[
                "`maize` is released, and the cost has no curvature on it",
                "curvature = 0.1",
            ],
        ),
        (
            unbounded,
            problem("private-covariance"),
            &[
                "`variance of growth` stands in P and has no public bounds",
                "public bounds on every number in P",
            ],
        ),
        (
            covariance.replace("bounds = [4.0, 16.0]", "bounds = [-40.0, 16.0]"),
            problem("private-covariance"),
            &[
                "not positive definite",
                "narrower public bounds on the numbers in P",
            ],
        ),
        (
            covariance.replace(
                "row = 0, column = 1, coef = 1.2",
                "row = 0, column = 7, coef = 1.2",
            ),
            problem("private-covariance"),
            &["P[0, 7] is not in", "the problem has columns 0 to 4"],
        ),
        (
            covariance.clone(),
            problem("private-covariance")
                .replacen(
                    "\"colptr\": [0, 1, 3, 6, 10, 15]",
                    "\"colptr\": [0, 1, 2, 5, 9, 14]",
                    1,
                )
                .replacen("\"rowval\": [0, 0, 1, 0", "\"rowval\": [0, 1, 0", 1)
                .replacen("\"nzval\": [9.0, 0.0, 12.0", "\"nzval\": [9.0, 12.0", 1),
            &["P[0, 1] is not in", "store an explicit 0"],
        ),
    ] {
        write(&place.join("spec.toml"), &spec);
        write(&place.join("blending.json"), &problem);
        write(&place.join("private-covariance.json"), &problem);
        let (code, stdout, stderr) = ended(&place, &["check", "spec.toml"]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{expected:?}: {stderr}");
        for expected in expected {
            assert!(stderr.contains(expected), "{expected}\n{stderr}");
        }
        // No number of the data is said.
        assert!(
            !stderr.contains("8.3") && !stderr.contains("9.6"),
            "{stderr}"
        );
    }
}
