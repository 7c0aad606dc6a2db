//! Saved problems with one mistake each, and exactly what is said about it.
//!
//! Each case is a piece of a good problem, what stands in its place, and the diagnostic.

use conveil_text::problem::read;

const PROBLEM: &str = r#"{"P":{"m":2,"n":2,"colptr":[0,1,2],"rowval":[0,1],"nzval":[1.0,2.0]},"q":[1.0,2.0],"A":{"m":3,"n":2,"colptr":[0,2,3],"rowval":[0,2,1],"nzval":[1.0,-1.0,4.0]},"b":[3.0,0.5,1.0],"cones":[{"ZeroConeT":1},{"NonnegativeConeT":2}]}"#;
const CONES: &str = r#"{"ZeroConeT":1},{"NonnegativeConeT":2}"#;

fn refused(cases: &[(&str, &str, &str)]) {
    assert!(read("p.json", PROBLEM).is_ok());
    for (piece, mistake, expected) in cases {
        assert!(PROBLEM.contains(piece), "{piece}");
        let text = PROBLEM.replacen(piece, mistake, 1);
        match read("p.json", &text) {
            Ok(_) => panic!("{mistake} was accepted"),
            Err(error) => assert_eq!(&error.to_string(), expected, "{mistake}"),
        }
    }
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_the_text() {
    refused(&[
        (PROBLEM, "",
            "p.json:1:1: not valid JSON: EOF while parsing a value"),
        (PROBLEM, r#"{"P":"#,
            "p.json:1:5: not valid JSON: EOF while parsing a value"),
        (PROBLEM, "[1, 2]",
            "p.json:1:1: the problem must be an object, found an array"),
        ("2}]}", "2}]} x",
            "p.json:1:227: not valid JSON: trailing characters"),
        ("3.0,0.5", "3.0,,0.5",
            "p.json:1:168: not valid JSON: expected value"),
        (r#""q":[1.0"#, r#""q":[01.0"#,
            "p.json:1:76: not valid JSON: invalid number"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_keys() {
    refused(&[
        (r#""q":[1.0,2.0],"#, "",
            "p.json:1:1: the problem lacks `q`"),
        (r#""b":[3.0,0.5,1.0]"#, r#""c":[3.0,0.5,1.0]"#,
            "p.json:1:163: unknown key `c` in the problem; known keys: P, q, A, b, cones, settings"),
        (r#""cones""#, r#""cone""#,
            "p.json:1:184: unknown key `cone` in the problem; did you mean `cones`?"),
        (r#""q":[1.0,2.0],"#, r#""q":[1.0,2.0],"q":[1.0,2.0],"#,
            "p.json:1:88: the problem has two keys `q`"),
        (r#""colptr":[0,1,2],"#, "",
            "p.json:1:6: `P` lacks `colptr`"),
        (r#""rowval":[0,1]"#, r#""rowvals":[0,1]"#,
            "p.json:1:46: unknown key `rowvals` in `P`; did you mean `rowval`?"),
        ("2}]}", r#"2}],"solution":[1.0]}"#,
            "p.json:1:237: unknown key `solution` in the problem; known keys: P, q, A, b, cones, settings"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_types_and_numbers() {
    refused(&[
        (r#""q":[1.0,2.0]"#, r#""q":3"#,
            "p.json:1:74: `q` must be an array, found 3"),
        (r#""q":[1.0,2.0]"#, r#""q":[1.0,"2"]"#,
            "p.json:1:79: `q[1]` must be a number, found a string"),
        (r#""q":[1.0,2.0]"#, r#""q":[1.0,null]"#,
            "p.json:1:79: `q[1]` is not finite (null)"),
        (r#""q":[1.0,2.0]"#, r#""q":[1.0,1e999]"#,
            "p.json:1:79: `q[1]` is not finite (1e999)"),
        (r#""q":[1.0,2.0]"#, r#""q":[]"#,
            "p.json:1:74: `q` is empty: the problem has no variables"),
        (r#""b":[3.0,0.5,1.0]"#, r#""b":{"0":3.0}"#,
            "p.json:1:163: `b` must be an array, found an object"),
        (r#""P":{"m":2"#, r#""P":{"m":2.0"#,
            "p.json:1:11: `P.m` must be a whole number, 0 or more, found 2.0"),
        (r#""P":{"m":2"#, r#""P":{"m":-2"#,
            "p.json:1:11: `P.m` must be a whole number, 0 or more, found -2"),
        (r#""P":{"m":2"#, r#""P":{"m":99999999999999999999"#,
            "p.json:1:11: `P.m` is too large: 99999999999999999999"),
        ("3.0,0.5", "3.0,1e20",
            "p.json:1:168: `b[1]` is 1e20\n  help: 1e20 stands for 'no bound' in Clarabel; leave the row out"),
        ("3.0,0.5", "3.0,-9.999999999999999e19",
            "p.json:1:168: `b[1]` is -9.999999999999998e19\n  help: 1e20 stands for 'no bound' in Clarabel; leave the row out"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_matrices() {
    refused(&[
        (r#""n":2,"colptr":[0,2,3]"#, r#""n":1000000000000000000,"colptr":[0,2,3]"#,
            "p.json:1:128: `A.colptr` must have one entry more than the 1000000000000000000 of `A.n`, found 3"),
        (r#""n":2,"colptr":[0,2,3]"#, r#""n":18446744073709551615,"colptr":[0,2,3]"#,
            "p.json:1:129: `A.colptr` must have one entry more than the 18446744073709551615 of `A.n`, found 3"),
        (r#""colptr":[0,2,3]"#, r#""colptr":[]"#,
            "p.json:1:110: `A.colptr` must have one entry more than the 2 of `A.n`, found 0"),
        (r#""colptr":[0,2,3]"#, r#""colptr":[1,2,3]"#,
            "p.json:1:111: `A.colptr` must start at 0, found 1"),
        (r#""colptr":[0,2,3]"#, r#""colptr":[0,4,3]"#,
            "p.json:1:115: `A.colptr` must not decrease, but 3 follows 4"),
        (r#""colptr":[0,2,3]"#, r#""colptr":[0,2,2]"#,
            "p.json:1:115: `A.colptr` must end at the number of entries, 3, found 2"),
        (r#""rowval":[0,2,1]"#, r#""rowval":[0,3,1]"#,
            "p.json:1:130: `A.rowval[1]` must be less than `A.m`, 3, found 3"),
        (r#""rowval":[0,2,1]"#, r#""rowval":[2,0,1]"#,
            "p.json:1:130: column 0 of `A` has row 0 after row 2\n  help: the rows of each column must increase"),
        (r#""rowval":[0,2,1]"#, r#""rowval":[0,0,1]"#,
            "p.json:1:130: column 0 of `A` names row 0 twice\n  help: the rows of each column must increase"),
        (r#""nzval":[1.0,-1.0,4.0]"#, r#""nzval":[1.0,-1.0]"#,
            "p.json:1:143: `A.nzval` has 2 entries, but `A.rowval` has 3"),
        (r#""nzval":[1.0,-1.0,4.0]"#, r#""nzval":[1.0,-1e400,4.0]"#,
            "p.json:1:148: `A.nzval[1]` is not finite (-1e400)"),
        (r#"[0,1,2],"rowval":[0,1]"#, r#"[0,2,2],"rowval":[0,1]"#,
            "p.json:1:6: `P` has an entry below the diagonal, at row 1, column 0\n  help: Clarabel saves the upper triangle of P; leave the lower one out"),
        (r#""P":{"m":2"#, r#""P":{"m":3"#,
            "p.json:1:6: `P` is 3×2, but `q` has 2 entries: `P` must be 2×2"),
        (r#""q":[1.0,2.0]"#, r#""q":[1.0,2.0,3.0]"#,
            "p.json:1:6: `P` is 2×2, but `q` has 3 entries: `P` must be 3×3"),
        (r#""n":2,"colptr":[0,2,3]"#, r#""n":3,"colptr":[0,2,3,3]"#,
            "p.json:1:88: `A` has 3 columns, but `q` has 2 entries"),
        (r#""b":[3.0,0.5,1.0]"#, r#""b":[3.0,0.5]"#,
            "p.json:1:163: `b` has 2 entries, but `A` has 3 rows"),
    ]);
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_cones() {
    refused(&[
        (CONES, r#"{"ZeroConeT":1}"#,
            "p.json:1:185: the cones cover 1 row, but `A` has 3"),
        (CONES, r#"{"ZeroConeT":0},{"NonnegativeConeT":3}"#,
            "p.json:1:199: `ZeroConeT` in `cones[0]` is empty; leave it out"),
        (CONES, r#"{"SecondOrderConeT":0},{"NonnegativeConeT":3}"#,
            "p.json:1:206: `SecondOrderConeT` in `cones[0]` is empty; leave it out"),
        (CONES, r#"{"PSDTriangleConeT":0}"#,
            "p.json:1:206: `PSDTriangleConeT` in `cones[0]` is empty; leave it out"),
        (CONES, r#"{"PSDTriangleConeT":3}"#,
            "p.json:1:185: the cones cover 6 rows, but `A` has 3"),
        (CONES, r#"{"PSDTriangleConeT":10000000000}"#,
            "p.json:1:185: the cones cover more rows than a machine can count, but `A` has 3"),
        (CONES, r#"{"ZeroConeT":18446744073709551615},{"ZeroConeT":4}"#,
            "p.json:1:185: the cones cover more rows than a machine can count, but `A` has 3"),
        (CONES, r#"{"NonnegativConeT":3}"#,
            "p.json:1:205: unknown key `NonnegativConeT` in `cones[0]`; did you mean `NonnegativeConeT`?"),
        (CONES, r#"{"BoxConeT":3}"#,
            "p.json:1:198: unknown key `BoxConeT` in `cones[0]`; known keys: ZeroConeT, NonnegativeConeT, SecondOrderConeT, ExponentialConeT, PowerConeT, GenPowerConeT, PSDTriangleConeT"),
        (CONES, r#""ExponentialConeT""#,
            "p.json:1:186: `cones[0]` must be an object, found a string\n  help: Clarabel writes {\"ExponentialConeT\":[]}"),
        (CONES, r#"{"ExponentialConeT":[1]}"#,
            "p.json:1:206: `ExponentialConeT` in `cones[0]` takes no parameters, found 1"),
        (CONES, r#"{"ExponentialConeT":3}"#,
            "p.json:1:206: `ExponentialConeT` in `cones[0]` must be an array, found 3"),
        (CONES, "{}",
            "p.json:1:186: `cones[0]` must name one cone, found 0\n  help: for example {\"NonnegativeConeT\":2}"),
        (CONES, r#"{"ZeroConeT":1,"NonnegativeConeT":2}"#,
            "p.json:1:186: `cones[0]` must name one cone, found 2\n  help: for example {\"NonnegativeConeT\":2}"),
        (CONES, "3",
            "p.json:1:186: `cones[0]` must be an object, found 3"),
        (CONES, r#"{"PowerConeT":1.0}"#,
            "p.json:1:200: `PowerConeT` in `cones[0]` must lie strictly between 0 and 1, found 1.0"),
        (CONES, r#"{"PowerConeT":null}"#,
            "p.json:1:200: `PowerConeT` in `cones[0]` is not finite (null)"),
        (CONES, r#"{"GenPowerConeT":[[0.5,0.6],1]}"#,
            "p.json:1:204: the exponents of `GenPowerConeT` in `cones[0]` must add up to 1, found 1.1\n  help: Clarabel wants the sum of the rounded numbers to be 1 to the last bit"),
        (CONES, r#"{"GenPowerConeT":[[1.5,-0.5],1]}"#,
            "p.json:1:209: an exponent of `GenPowerConeT` in `cones[0]` must be positive, found -0.5"),
        (CONES, r#"{"GenPowerConeT":[[0.5,0.5]]}"#,
            "p.json:1:203: `GenPowerConeT` in `cones[0]` takes the exponents and a dimension, found 1 entry\n  help: for example {\"GenPowerConeT\":[[0.5,0.5],1]}"),
        (CONES, r#"{"GenPowerConeT":[[],3]}"#,
            "p.json:1:204: `GenPowerConeT` in `cones[0]` has no exponents"),
        (CONES, r#"{"GenPowerConeT":[[0.5,0.5],0]}"#,
            "p.json:1:214: the dimension of `GenPowerConeT` in `cones[0]` must be 1 or more, found 0"),
    ]);
}
