//! Sizes that a spec asks for are estimated before anything is allocated, and refused with the number; files that a study
//! writes go over nothing.

mod running;

use running::{directory, ended, examples, text, write};

#[test]
fn more_records_than_memory_holds_are_refused_with_the_number() {
    let place = directory("hostile-records");
    let spec = text(&examples().join("svm-machines.toml"));
    write(
        &place.join("spec.toml"),
        spec.replace("records = 600 ", "records = 1000000000 "),
    );
    let (code, stdout, stderr) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
    assert_eq!(code, 2, "{stdout}{stderr}");
    let said = "a classifier of 1000000000 records with 2 features\n  because it needs about ";
    assert!(stderr.contains(said), "{stderr}");
    assert!(
        stderr.contains(" GB of memory, and this machine has "),
        "{stderr}"
    );
}

#[test]
fn more_pairs_than_memory_holds_are_refused_with_the_number() {
    let place = directory("hostile-pairs");
    let spec = text(&examples().join("sampled-dispatch.toml"));
    let line = spec.lines().find(|line| line.starts_with("sensitivity"));
    let wanted = "sensitivity = { by = \"sampled\", gamma = 1e-11, beta = 0.01 }";
    write(
        &place.join("spec.toml"),
        spec.replace(line.unwrap_or_default(), wanted),
    );
    let problem = text(&examples().join("sampled-dispatch.json"));
    write(&place.join("sampled-dispatch.json"), problem);
    let (code, stdout, stderr) = ended(&place, &["check", "spec.toml", "-q", "--details"]);
    assert_eq!(code, 2, "{stdout}{stderr}");
    assert!(stderr.contains("a sample of 4605"), "{stderr}");
    assert!(stderr.contains(" GB of memory"), "{stderr}");
}

#[test]
fn a_study_overwrites_nothing_and_follows_no_link() {
    let place = directory("study-files");
    write(&place.join("there.svg"), "mine");
    write(&place.join("there.csv"), "mine");
    #[cfg(unix)]
    std::os::unix::fs::symlink("there.svg", place.join("link.svg")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere.csv", place.join("link.csv")).unwrap();
    let mut cases = vec![("--figure", "there.svg"), ("--csv", "there.csv")];
    if cfg!(unix) {
        cases.extend([("--figure", "link.svg"), ("--csv", "link.csv")]);
    }
    for (flag, file) in cases {
        let words = ["study", "density", "--network", "5_pjm", "-q", flag, file];
        let (code, _, stderr) = ended(&place, &words);
        assert_eq!(code, 2, "{flag} {file}: {stderr}");
        let said = format!("error: {file} exists already\n  help: name a new file for the ");
        assert!(stderr.starts_with(&said), "{stderr}");
    }
    assert_eq!(text(&place.join("there.svg")), "mine");
    assert_eq!(text(&place.join("there.csv")), "mine");
    assert!(!place.join("nowhere.csv").exists());
}

#[test]
fn a_case_file_of_a_study_has_a_largest_size() {
    let place = directory("study-case");
    let file = std::fs::File::create(place.join("large.m")).unwrap();
    // A hole in a file: its length costs no disk.
    file.set_len(1 << 33).unwrap();
    let (code, _, stderr) = ended(&place, &["study", "opf", "--networks", "large.m", "-q"]);
    assert_eq!(code, 2, "{stderr}");
    let said = "error: cannot read large.m: the file has more than 268435456 bytes\n";
    assert_eq!(stderr, said);
}
