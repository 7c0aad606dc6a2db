//! Places of a spec that somebody is still to fill in.

use conveil_text::tables::Document;

fn said(text: &str) -> Option<String> {
    let document = Document::read("s.toml", text).unwrap();
    document
        .refuse_blanks()
        .err()
        .map(|error| error.to_string())
}

#[test]
fn the_first_blank_is_named_with_what_to_write_and_where_the_others_are() {
    let text = "a = 1\n[t]\nb = [[1, \"FILL IN: two numbers\"], 2]\nc = { d = \"FILL IN\" }\n[[u]]\ne = \" FILL IN: a word\"\n";
    let expected = "s.toml:3:10: `b` is still to be filled in: two numbers\n  help: 3 places are still to be filled in, in lines 3, 4, 6; what you write is public";
    assert_eq!(said(text).as_deref(), Some(expected));
    let expected = "s.toml:1:5: `d` is still to be filled in\n  help: 1 place is still to be filled in, in line 1; what you write is public";
    assert_eq!(said("d = \"FILL IN\"").as_deref(), Some(expected));
}

#[test]
fn words_that_only_mention_it_are_no_blanks() {
    for text in [
        "a = \"do not FILL IN\"",
        "\"FILL IN\" = 1",
        "# FILL IN\na = \"fill in\"",
        "",
    ] {
        assert_eq!(said(text), None, "{text}");
    }
}

/// Hundreds of blanks make one message, and nesting costs no stack.
#[test]
fn many_blanks_and_deep_tables_are_told_in_short() {
    let many: String = (0..500).map(|k| format!("k{k} = \"FILL IN\"\n")).collect();
    let help = "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 488 more;";
    assert!(said(&many).unwrap().contains(help));
    let deep = format!("{} = \"FILL IN: x\"", vec!["a"; 60].join("."));
    assert!(
        said(&deep)
            .unwrap()
            .contains("`a` is still to be filled in: x")
    );
}
