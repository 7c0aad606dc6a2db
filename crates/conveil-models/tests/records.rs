//! Records from CSV: what is read, and exactly what is said about broken files.

#[path = "../../conveil-text/tests/damage/mod.rs"]
mod damage;
#[path = "../../conveil-text/tests/seeded/mod.rs"]
mod seeded;

use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use conveil_models::records::Records;
use damage::{assert_in_text, damaged};
use seeded::Seeded;

fn read(text: &str) -> Records {
    Records::read("r.csv", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn columns_and_rows_are_what_the_file_says() {
    let records = read("speed, power\n3.5,\"0.02\"\n\" 4 \",-5e-2\n\n\n");
    assert_eq!(records.names(), ["speed", "power"]);
    assert_eq!(records.len(), 2);
    assert!(!records.is_empty());
    let rows: Vec<&[f64]> = records.rows().collect();
    assert_eq!(rows, [[3.5, 0.02], [4.0, -0.05]]);
    assert_eq!(records.column("power"), Some(vec![0.02, -0.05]));
    assert_eq!(records.column("Power"), None);
}

#[test]
fn byte_order_mark_carriage_returns_and_quoted_names_are_fine() {
    let records = read("\u{feff}\"a, \"\"b\"\"\",c\r\n1,2\r\n3,4\r\n\r\n");
    assert_eq!(records.names(), ["a, \"b\"", "c"]);
    assert_eq!(records.column("c"), Some(vec![2.0, 4.0]));
    let mut without_end = read("a\n1\n2");
    assert_eq!(without_end.column("a"), Some(vec![1.0, 2.0]));
    without_end = read("\n\na\n1\n2\n \n");
    assert_eq!(without_end.len(), 2);
}

#[test]
fn only_the_columns_asked_for_need_be_numbers() {
    let text = "date,speed,power\n2026-01-01,3,0.1\n2026-01-02,4,0.2\n";
    let records = Records::read_columns("r.csv", text.as_bytes(), &["power", "speed"]).unwrap();
    assert_eq!(records.names(), ["power", "speed"]);
    assert_eq!(records.column("speed"), Some(vec![3.0, 4.0]));
    let all = Records::read("r.csv", text.as_bytes()).unwrap_err();
    assert_eq!(
        all.to_string(),
        "r.csv:2:1: `date` must be a number, found `2026-01-01`"
    );
}

#[test]
#[rustfmt::skip] // one case, two lines
fn broken_files() {
    let cases = [
        ("",
            "r.csv:1:1: there are no records\n  help: name the columns in the first line, then write a line for each record"),
        ("\n \n",
            "r.csv:2:1: there are no records\n  help: name the columns in the first line, then write a line for each record"),
        ("x,y\n",
            "r.csv:1:1: there is a header, but no record below it"),
        ("x,y\n\n\n",
            "r.csv:3:1: there is a header, but no record below it"),
        ("x,y\n1,2\n3\n",
            "r.csv:3:1: this line has 1 field, the header has 2"),
        ("x,y\n1,2\n  3,4,5\n",
            "r.csv:3:3: this line has 3 fields, the header has 2"),
        ("x,y\n1,2,\n",
            "r.csv:2:1: this line has 3 fields, the header has 2"),
        ("x,y\n1,2\n\n3,4\n",
            "r.csv:3:1: this line is empty"),
        ("x,y\n1,\n",
            "r.csv:2:3: `y` must be a number, found nothing\n  help: missing values are not filled in: leave the record out, or fill it in by a public rule, and adjust `records` where the spec states how many there are"),
        ("x,y\n1,\"\"\n",
            "r.csv:2:3: `y` must be a number, found nothing\n  help: missing values are not filled in: leave the record out, or fill it in by a public rule, and adjust `records` where the spec states how many there are"),
        ("x,y\n1,NaN\n",
            "r.csv:2:3: `y` must be finite, found `NaN`"),
        ("x,y\n1,inf\n",
            "r.csv:2:3: `y` must be finite, found `inf`"),
        ("x,y\n1, 1e999\n",
            "r.csv:2:4: `y` must be finite, found `1e999`"),
        ("x,y\n1,two\n",
            "r.csv:2:3: `y` must be a number, found `two`"),
        ("x,y\n1,\"1,5\"\n",
            "r.csv:2:3: `y` must be a number, found `1,5`\n  help: decimals are written with a point: 1.5"),
        ("x,y\n1,\"1.000,5\"\n",
            "r.csv:2:3: `y` must be a number, found `1.000,5`"),
        ("x,y\n1,0x10\n",
            "r.csv:2:3: `y` must be a number, found `0x10`"),
        ("x,y,x\n1,2,3\n",
            "r.csv:1:5: column `x` is there twice"),
        ("x,,y\n1,2,3\n",
            "r.csv:1:3: column 2 has no name"),
        ("x,y,\n1,2,3\n",
            "r.csv:1:5: column 3 has no name"),
        ("1,2\n3,4\n",
            "r.csv:1:1: expected the name of a column, found `1`\n  help: the first line names the columns"),
        ("x,nan\n3,4\n",
            "r.csv:1:3: expected the name of a column, found `nan`\n  help: the first line names the columns"),
        ("x,y\n1,\"2\n3,4\n",
            "r.csv:2:3: this quote is not closed on its line"),
        ("x,y\n1,\"2\"3\n",
            "r.csv:2:6: expected a comma behind the closing quote"),
        ("x,\"y\n",
            "r.csv:1:3: this quote is not closed on its line"),
        ("wind η,y\nη,2\n",
            "r.csv:2:1: `wind η` must be a number, found `η`"),
    ];
    for (text, expected) in cases {
        match Records::read("r.csv", text.as_bytes()) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
        }
    }
}

#[test]
fn missing_columns_say_which_there_are() {
    let find = |text: &str, name: &str| {
        let read = Records::read_columns("r.csv", text.as_bytes(), &[name]);
        read.unwrap_err().to_string()
    };
    assert_eq!(
        find("x,power\n1,2\n", "powr"),
        "r.csv:1:1: there is no column `powr`\n  help: did you mean `power`?"
    );
    assert_eq!(
        find("x,power\n1,2\n", "speed"),
        "r.csv:1:1: there is no column `speed`\n  help: the columns are `x` and `power`"
    );
    assert_eq!(
        find("x;speed\n1;2\n", "speed"),
        "r.csv:1:1: there is no column `speed`\n  help: separate columns by commas, and write decimals with a point"
    );
    assert_eq!(
        find("x\tspeed\n1\t2\n", "speed"),
        "r.csv:1:1: there is no column `speed`\n  help: separate columns by commas"
    );
    let wide: Vec<String> = (0..20).map(|i| format!("x{i}")).collect();
    let message = find(&format!("{}\n", wide.join(",")), "temperature");
    assert!(message.ends_with("`x11` and 8 more"), "{message}");
}

#[test]
fn bytes_that_are_no_text_are_found_in_place() {
    let bytes = b"x,y\n1,\xce\xb7\xff\n";
    let error = Records::read("r.csv", &bytes[..]).unwrap_err();
    assert_eq!(error.to_string(), "r.csv:2:4: this is not UTF-8 text");
}

/// Gives some bytes, then fails.
struct Breaking(usize);

impl Read for Breaking {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::Error::other("the disk is gone"));
        }
        self.0 -= 1;
        buffer[..4].copy_from_slice(b"x\n1\n");
        Ok(4)
    }
}

#[test]
fn a_file_that_breaks_off_is_said_so() {
    let error = Records::read("r.csv", BufReader::new(Breaking(1))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "r.csv:3:1: cannot be read: the disk is gone"
    );
}

/// `count` records `i,-i` under a header, never in memory as a whole.
struct Counting {
    next: usize,
    count: usize,
    line: Vec<u8>,
    largest: usize,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let available = self.fill_buf()?;
        let taken = available.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&available[..taken]);
        self.consume(taken);
        Ok(taken)
    }
}

impl BufRead for Counting {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.line.is_empty() && self.next <= self.count {
            self.line = match self.next {
                0 => b"x,y\n".to_vec(),
                i => format!("{i},-{i}\n").into_bytes(),
            };
            self.next += 1;
            self.largest = self.largest.max(self.line.len());
        }
        Ok(&self.line)
    }

    fn consume(&mut self, amount: usize) {
        self.line.drain(..amount);
    }
}

#[test]
fn a_million_records_are_streamed() {
    let count = 1_000_000;
    let input = Counting {
        next: 0,
        count,
        line: Vec::new(),
        largest: 0,
    };
    let records = Records::read("r.csv", input).unwrap();
    assert_eq!(records.len(), count);
    assert_eq!(records.rows().last(), Some(&[1e6, -1e6][..]));
    let sum: f64 = records.rows().map(|row| row[0] + row[1]).sum();
    assert_eq!(sum, 0.0);
}

#[test]
fn records_are_shown_one_by_one_and_counted() {
    let text = "\u{feff}date,speed,power\r\nmonday,3,0.1\r\ntuesday,4,0.2\r\n\r\n";
    let mut seen = Vec::new();
    let count = Records::each("r.csv", text.as_bytes(), &["power", "speed"], |record| {
        seen.push(record.to_vec());
    });
    assert_eq!(count, Ok(2));
    assert_eq!(seen, [[0.1, 3.0], [0.2, 4.0]]);
    assert_eq!(Records::each("r.csv", text.as_bytes(), &[], |_| ()), Ok(2));
    // What came before a mistake was shown, and the mistake has its place.
    let broken = "speed\n3\n4\nfast\n";
    let mut shown = 0;
    let error = Records::each("r.csv", broken.as_bytes(), &["speed"], |_| shown += 1).unwrap_err();
    assert_eq!(shown, 2);
    assert_eq!(
        error.to_string(),
        "r.csv:4:1: `speed` must be a number, found `fast`"
    );
    let ragged = Records::each("r.csv", "a,b\n1,2\n3\n".as_bytes(), &[], |_| ()).unwrap_err();
    assert_eq!(
        ragged.to_string(),
        "r.csv:3:1: this line has 1 field, the header has 2"
    );
}

const SEEDS: &[&str] = &[
    include_str!("../../../fuzz/seeds/records/curve.csv"),
    include_str!("../../../fuzz/seeds/records/quoted.csv"),
];

#[test]
fn damaged_records_are_read_or_refused_in_place() {
    let seconds = std::env::var("CONVEIL_MUTATION_SECONDS")
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|seconds| (0.0..=1e6).contains(seconds))
        .unwrap_or(2.0);
    let end = Instant::now() + Duration::from_secs_f64(seconds / 6.0);
    let mut random = Seeded(11);
    while Instant::now() < end {
        let text = damaged(&mut random, SEEDS);
        match Records::read("r.csv", text.as_bytes()) {
            Ok(records) => assert!(records.rows().flatten().all(|v| v.is_finite())),
            Err(error) => assert_in_text(&error, &text),
        }
    }
}
