//! `examples/python/save_conic.py` writes what the reader of saved problems reads.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use conveil_text::problem;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The interpreters to try: the system's, and the one with SciPy where the full tests have made it.
fn interpreters() -> Vec<String> {
    let with_scipy = std::env::var("CONVEIL_PYTHON").ok();
    let usable = |python: &String| Command::new(python).arg("--version").output().is_ok();
    let found: Vec<String> = std::iter::once(String::from("python3"))
        .chain(with_scipy)
        .filter(usable)
        .collect();
    if found.is_empty() {
        println!("there is no python3: the writer is not run");
    }
    found
}

/// Runs a script that can import the writer.
fn run(python: &str, arguments: &[&str]) -> Output {
    Command::new(python)
        .args(arguments)
        .env("PYTHONPATH", examples().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap_or_else(|e| panic!("{python}: {e}"))
}

#[test]
fn the_python_writer_writes_the_example_of_the_guide() {
    let example = examples().join("specs/two-generators.json");
    let expected = std::fs::read_to_string(example).unwrap();
    let expected = problem::read("example", &expected).unwrap();
    for (index, python) in interpreters().iter().enumerate() {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("written-{index}.json"));
        let _ = std::fs::remove_file(&file);
        let script = examples().join("python/save_conic.py");
        let words = [script.to_str().unwrap(), file.to_str().unwrap()];
        let output = run(python, &words);
        assert!(output.status.success(), "{output:?}");
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(problem::read("written", &written).unwrap(), expected);
        // A problem holds private data: it overwrites nothing.
        let again = run(python, &words);
        assert!(!again.status.success());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    }
}

/// Every cone, unsorted and repeated entries, stored zeros, a symmetric P: through the attributes that a matrix of
/// `scipy.sparse` has, and through one where SciPy is there.
#[test]
fn the_python_writer_takes_sparse_matrices_as_they_come() {
    const SCRIPT: &str = r#"
import save_conic as s
class Columns:
    def __init__(self, shape, indptr, indices, data):
        self.shape, self.indptr, self.indices, self.data = shape, indptr, indices, data
try:
    from scipy.sparse import csc_matrix, coo_matrix
    P = coo_matrix(([2.0, 1.0, 1.0, 3.0], ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
except ImportError:
    P = Columns((2, 2), [0, 2, 4], [1, 0, 0, 1], [1.0, 2.0, 1.0, 3.0])
cones = [s.zero(1), s.nonnegative(2), s.second_order(3), s.exponential(), s.power(0.25),
         s.generalised_power([0.5, 0.5], 1), s.semidefinite(2)]
m = sum(s.rows_of(cone) for cone in cones)
A = Columns((m, 2), [0, 3, 4], [2, 0, 2], [1.5, 0.0, 0.5, 1.0][:3] + [1.0])
A.indices = [2, 0, 2, 17]
print(s.conic_json(P, [1, -2], A, range(m), cones))
"#;
    for python in interpreters() {
        let output = run(&python, &["-c", SCRIPT]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let read = problem::read("written", &text).unwrap();
        assert_eq!(read.cones.len(), 7);
        assert_eq!((read.q, read.b.len()), (vec![1.0, -2.0], 18));
        assert_eq!(
            (read.p.colptr, read.p.rowval, read.p.nzval),
            (vec![0, 1, 3], vec![0, 0, 1], vec![2.0, 1.0, 3.0])
        );
        assert_eq!(
            (read.a.colptr, read.a.rowval, read.a.nzval),
            (vec![0, 2, 3], vec![0, 2, 17], vec![0.0, 2.0, 1.0])
        );
        for (wrong, complaint) in [
            (
                "s.conic_json(P, [1, 2], A, range(m - 1), cones)",
                "A is 18 by 2",
            ),
            (
                "s.conic_json(P, [1, 2], A, range(m), cones[1:])",
                "the cones cover 17 rows",
            ),
            (
                "s.conic_json(P, [1, float('inf')], A, range(m), cones)",
                "q has inf at place 1",
            ),
            (
                "s.conic_json([[1]], [1, 2], A, range(m), cones)",
                "P must be a sparse matrix",
            ),
        ] {
            let script = SCRIPT.replace("s.conic_json(P, [1, -2], A, range(m), cones)", wrong);
            let output = run(&python, &["-c", &script]);
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                !output.status.success() && stderr.contains(complaint),
                "{stderr}"
            );
        }
    }
}
