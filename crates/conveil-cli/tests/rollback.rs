//! A ledger that is put back to an earlier copy: the head of a card that came in between is missed.

mod running;

use running::charged::{NAME, charges, head, place, rounds};
use running::{ended, write};

/// Copy the file, release, restore the copy, release again: the two cards have the same charge number, and different heads.
#[test]
fn a_restored_copy_never_grows_the_head_of_a_card_again() {
    let runs = rounds(20, 1000);
    let place = place("rollback", &(2 * runs).to_string());
    let path = place.join("ledger.db");
    let release = || {
        let (code, card, stderr) = ended(&place, &["release", "spec.toml", "-q"]);
        assert_eq!(code, 0, "{stderr}");
        head(&card).unwrap()
    };
    let verify = |head: &str| {
        let words = ["ledger", "verify", "ledger.db", "--dataset", NAME, "--head"];
        let (code, _, stderr) = ended(&place, &[&words[..], &[head]].concat());
        (code, stderr)
    };
    for run in 0..runs {
        let copy = std::fs::read(&path).unwrap();
        let forgotten = release();
        assert_eq!(verify(&forgotten).0, 0);
        write(&path, &copy);
        let kept = release();
        assert_ne!(forgotten, kept);
        let (code, stderr) = verify(&forgotten);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("no charge has the card's head"), "{stderr}");
        assert_eq!(verify(&kept).0, 0);
        assert_eq!(charges(&place).len(), run + 1);
    }
    println!("{runs} copies restored: every card in between was missed");
}
