//! Demand tables with one mistake each, and exactly what is said about it.

use conveil_grid::{Network, demand, matpower};

fn network() -> Network {
    let case = include_str!("../../../fuzz/seeds/matpower/five-buses.m");
    matpower::read("five.m", case).unwrap()
}

#[test]
#[rustfmt::skip] // one case, two lines
fn mistakes_in_demands() {
    let cases = [
        ("",
            "d.csv:1:1: there are no demands\n  help: write `bus,demand` and a line for each bus, or a line of bus numbers and a line for each dataset"),
        ("\n\n",
            "d.csv:1:1: there are no demands\n  help: write `bus,demand` and a line for each bus, or a line of bus numbers and a line for each dataset"),
        ("bus,demand\n",
            "d.csv:1:11: there is a header, but no demand below it"),
        ("1,2\n",
            "d.csv:1:4: there is a header, but no demand below it"),
        ("bus,demand\n1\n",
            "d.csv:2:1: this line has 1 field, the header has 2"),
        ("bus,demand\n1,2,3\n",
            "d.csv:2:1: this line has 3 fields, the header has 2"),
        ("bus,demand\n1,50\n\n2,80\n",
            "d.csv:3:1: this line is empty"),
        ("bus,demand\n1,\n",
            "d.csv:2:3: the demand of bus 1 must be a number, found nothing"),
        ("bus,demand\n1,nan\n",
            "d.csv:2:3: the demand of bus 1 must be finite, found `nan`"),
        ("bus,demand\n1,inf\n",
            "d.csv:2:3: the demand of bus 1 must be finite, found `inf`"),
        ("bus,demand\n1,fifty\n",
            "d.csv:2:3: the demand of bus 1 must be a number, found `fifty`"),
        ("bus,demand\n9,50\n",
            "d.csv:2:1: the network five_buses has no bus 9"),
        ("bus,demand\n50,50\n",
            "d.csv:2:1: bus 50 of the network five_buses is isolated"),
        ("bus,demand\n1,50\n1,50\n",
            "d.csv:3:1: bus 1 is there twice"),
        ("bus;demand\n1;50\n",
            "d.csv:1:1: fields are separated by `;`, and must be by commas\n  help: a comma between fields, a point before decimals: 1,97.5"),
        ("\"1\";\"2\"\n50;80\n",
            "d.csv:1:2: fields are separated by `;`, and must be by commas\n  help: a comma between fields, a point before decimals: 1,97.5"),
        ("bus,demand\n1,50,\n",
            "d.csv:2:6: nothing follows the last comma of this line\n  help: leave out the comma at the end of the line"),
        ("bus,demand,\n1,50,\n",
            "d.csv:1:12: nothing follows the last comma of this line\n  help: leave out the comma at the end of the line"),
        ("1,2,\n50,80,\n",
            "d.csv:1:5: nothing follows the last comma of this line\n  help: leave out the comma at the end of the line"),
        ("1,2\n50,80,\n",
            "d.csv:2:7: nothing follows the last comma of this line\n  help: leave out the comma at the end of the line"),
        ("demand,bus\n50,1\n",
            "d.csv:1:1: expected a bus number, found `demand`\n  help: the first line is `bus,demand` or the bus numbers of a series"),
        ("1,2,1\n50,80,50\n",
            "d.csv:1:5: bus 1 is there twice"),
        ("1,2\n50,80\n50\n",
            "d.csv:3:1: this line has 1 field, the header has 2"),
        ("1,2\n50,80\n50,8 0\n",
            "d.csv:3:4: the demand of bus 2 must be a number, found `8 0`"),
        ("1,2\n50,\"eighty\"\n",
            "d.csv:2:5: the demand of bus 2 must be a number, found `eighty`"),
        ("1,2\n50,\"80\n",
            "d.csv:2:4: the demand of bus 2 must be a number, found `\"80`"),
        ("1,2\n50,\"80,5\"\n",
            "d.csv:2:1: this line has 3 fields, the header has 2"),
        ("1,-2\n50,80\n",
            "d.csv:1:3: expected a bus number, found `-2`\n  help: the first line is `bus,demand` or the bus numbers of a series"),
    ];
    for (text, expected) in cases {
        match demand::read("d.csv", text, &network()) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
        }
    }
}

/// What spreadsheets write: capitals in the header, quotes around fields, blanks inside them.
#[test]
fn capitals_and_quotes_change_nothing() {
    let plain = demand::read("d.csv", "bus,demand\n1,4.5\n3,-2\n", &network()).unwrap();
    for text in [
        "Bus,Demand\n1,4.5\n3,-2\n",
        "\"BUS\",\"DEMAND\"\r\n\"1\",\"4.5\"\r\n\"3\",\"-2\"\r\n",
        " \"bus\" , demand\n\" 1 \", \" 4.5\"\n3,\"-2\"",
    ] {
        assert_eq!(
            demand::read("d.csv", text, &network()),
            Ok(plain.clone()),
            "{text}"
        );
    }
    let series = demand::read("d.csv", "\"1\",\"3\"\n\"4.5\",-2\n", &network()).unwrap();
    assert_eq!(series.datasets_mw(), plain.datasets_mw());
}
