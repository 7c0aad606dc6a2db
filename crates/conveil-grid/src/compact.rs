//! The short text format of the built-in networks: one line for each bus, unit and branch.
//!
//! ```text
//! # Anything after a number sign is a comment.
//! network 2_buses
//! base 100
//! bus NUMBER DEMAND SHUNT [reference]
//! unit ROW BUS PMIN PMAX linear C1 C0
//! unit ROW BUS PMIN PMAX quadratic C2 C1 C0
//! unit ROW BUS PMIN PMAX points P1 COST1 P2 COST2 …
//! branch ROW FROM TO R X TAP SHIFT LIMIT ANGMIN ANGMAX
//! omitted bus NUMBER …
//! omitted unit ROW …
//! omitted branch ROW …
//! ```
//!
//! Powers are in MW, resistances and reactances per unit, angles in degrees (or in radians, with
//! `rad` behind the number); `-` stands for no limit. Buses come before what is connected to them.

use std::collections::HashMap;
use std::fmt::Write;

use conveil_text::Source;
use conveil_text::spelling::{counted, nearest, quoted};

use crate::network::{Branch, Bus, Cost, Element, Omitted, Unit, shown};
use crate::{Network, ReadError};

const KINDS: [&str; 6] = ["network", "base", "bus", "unit", "branch", "omitted"];

/// Reads a network; `source_name` is what messages call the text.
pub fn read(source_name: &str, text: &str) -> Result<Network, ReadError> {
    Reader {
        source: Source::new(source_name, text),
        text,
        name: None,
        base: None,
        buses: Vec::new(),
        units: Vec::new(),
        branches: Vec::new(),
        index: HashMap::new(),
        omitted: Omitted::default(),
        starts: [const { Vec::new() }; 3],
    }
    .read()
}

/// Writes a network, after comment lines of its own; [`read`] gives back the same network.
pub fn to_text(network: &Network, comment: &[String]) -> String {
    let mut text = String::new();
    for line in comment {
        text.push_str(format!("# {line}").trim_end());
        text.push('\n');
    }
    // Writing to a String never fails.
    let _ = writeln!(text, "network {}", network.name());
    let _ = writeln!(text, "base {}", shown(network.base_mva()));
    for bus in network.buses() {
        let mark = if bus.is_reference { " reference" } else { "" };
        let (demand, shunt) = (shown(bus.demand_mw), shown(bus.shunt_mw));
        let _ = writeln!(text, "bus {} {demand} {shunt}{mark}", bus.number);
    }
    let number = |bus: usize| network.buses()[bus].number;
    for unit in network.units() {
        let (row, bus) = (unit.row, number(unit.bus));
        let (pmin, pmax) = (shown(unit.pmin_mw), shown(unit.pmax_mw));
        let cost = cost_text(&unit.cost);
        let _ = writeln!(text, "unit {row} {bus} {pmin} {pmax} {cost}");
    }
    for branch in network.branches() {
        let words = [
            branch.row.to_string(),
            number(branch.from).to_string(),
            number(branch.to).to_string(),
            shown(branch.r),
            shown(branch.x),
            shown(branch.tap),
            angle_text(branch.shift),
            branch.rate_mw.map_or("-".into(), shown),
            branch.angle_min.map_or("-".into(), angle_text),
            branch.angle_max.map_or("-".into(), angle_text),
        ];
        let _ = writeln!(text, "branch {}", words.join(" "));
    }
    let omitted = network.omitted();
    let lists: [(&str, Vec<String>); 3] = [
        ("bus", omitted.buses.iter().map(u32::to_string).collect()),
        ("unit", omitted.units.iter().map(usize::to_string).collect()),
        (
            "branch",
            omitted.branches.iter().map(usize::to_string).collect(),
        ),
    ];
    for (kind, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        let _ = writeln!(text, "omitted {kind} {}", list.join(" "));
    }
    text
}

fn cost_text(cost: &Cost) -> String {
    let (kind, numbers) = match cost {
        Cost::Linear { c1, c0 } => ("linear", vec![*c1, *c0]),
        Cost::Quadratic { c2, c1, c0 } => ("quadratic", vec![*c2, *c1, *c0]),
        Cost::Piecewise { points } => {
            let numbers = points.iter().flat_map(|&(p, cost)| [p, cost]);
            ("points", numbers.collect())
        }
    };
    let numbers = numbers
        .into_iter()
        .map(|number| format!(" {}", shown(number)));
    format!("{kind}{}", numbers.collect::<String>())
}

/// An angle in degrees, if some short number of degrees is exactly it.
fn angle_text(radians: f64) -> String {
    let degrees = radians.to_degrees();
    for decimals in 0..=12 {
        let shown = format!("{degrees:.decimals$}");
        if shown
            .parse()
            .is_ok_and(|d: f64| d.to_radians().to_bits() == radians.to_bits())
        {
            return shown;
        }
    }
    format!("{radians:?}rad")
}

struct Reader<'t> {
    source: Source<'t>,
    text: &'t str,
    name: Option<&'t str>,
    base: Option<(f64, usize)>,
    buses: Vec<Bus>,
    units: Vec<Unit>,
    branches: Vec<Branch>,
    /// From bus numbers to buses.
    index: HashMap<u32, usize>,
    omitted: Omitted,
    /// Where the lines of the buses, units and branches start.
    starts: [Vec<usize>; 3],
}

/// The words of a line, each with its offset.
struct Words<'t> {
    words: Vec<(usize, &'t str)>,
    next: usize,
    end: usize,
}

impl<'t> Reader<'t> {
    fn read(mut self) -> Result<Network, ReadError> {
        let text = self.text;
        let mut start = 0;
        for line in text.split('\n') {
            let content = line.split('#').next().unwrap_or("");
            self.line(&mut words(content, start))?;
            start += line.len() + 1;
        }
        let end = text.len();
        let Some(name) = self.name else {
            return Err(self.source.error(end, "there is no line `network NAME`"));
        };
        let Some((base, base_at)) = self.base else {
            return Err(self.source.error(end, "there is no line `base MVA`"));
        };
        match Network::new(name, base, self.buses, self.units, self.branches) {
            Ok(network) => Ok(network.with_omitted(self.omitted)),
            Err(error) => {
                let (kind, index) = match error.element {
                    Element::Network => (0, usize::MAX),
                    Element::Bus(index) => (0, index),
                    Element::Unit(index) => (1, index),
                    Element::Branch(index) => (2, index),
                };
                let at = self.starts[kind].get(index).copied().unwrap_or(base_at);
                let placed = self.source.error(at, error.message);
                Err(match error.help {
                    Some(help) => placed.with_help(help),
                    None => placed,
                })
            }
        }
    }

    fn line(&mut self, words: &mut Words<'t>) -> Result<(), ReadError> {
        let Some(&(start, kind)) = words.words.first() else {
            return Ok(());
        };
        words.next = 1;
        match kind {
            "network" => {
                self.once(start, kind, self.name.is_some())?;
                self.name = Some(self.word(words, "the network's name")?.1);
            }
            "base" => {
                self.once(start, kind, self.base.is_some())?;
                self.base = Some((self.number(words, "the base power")?, start));
            }
            "bus" => self.bus(words, start)?,
            "unit" => self.unit(words, start)?,
            "branch" => self.branch(words, start)?,
            "omitted" => self.omitted(words)?,
            _ => {
                let hint = match nearest(kind, KINDS) {
                    Some(word) => format!("did you mean `{word}`?"),
                    None => format!("a line starts with one of: {}", KINDS.join(", ")),
                };
                let message = format!("unknown kind of line {}; {hint}", quoted(kind));
                return Err(self.source.error(start, message));
            }
        }
        match words.words.get(words.next) {
            None => Ok(()),
            Some(&(at, word)) => {
                let message = format!("unexpected {} at the end of a `{kind}` line", quoted(word));
                Err(self.source.error(at, message))
            }
        }
    }

    fn once(&self, at: usize, kind: &str, taken: bool) -> Result<(), ReadError> {
        match taken {
            false => Ok(()),
            true => Err(self
                .source
                .error(at, format!("there are two `{kind}` lines"))),
        }
    }

    fn bus(&mut self, words: &mut Words<'t>, start: usize) -> Result<(), ReadError> {
        let (at, number) = self.whole::<u32>(words, "a bus number")?;
        let bus = Bus {
            number,
            demand_mw: self.number(words, "the demand")?,
            shunt_mw: self.number(words, "the shunt conductance")?,
            is_reference: words.take_if("reference"),
        };
        if self.index.insert(number, self.buses.len()).is_some() {
            return Err(self
                .source
                .error(at, format!("bus {number} is there twice")));
        }
        self.buses.push(bus);
        self.starts[0].push(start);
        Ok(())
    }

    fn unit(&mut self, words: &mut Words<'t>, start: usize) -> Result<(), ReadError> {
        let unit = Unit {
            row: self.whole(words, "a row")?.1,
            bus: self.bus_index(words)?,
            pmin_mw: self.number(words, "the least output")?,
            pmax_mw: self.number(words, "the greatest output")?,
            cost: self.cost(words)?,
        };
        self.units.push(unit);
        self.starts[1].push(start);
        Ok(())
    }

    fn cost(&self, words: &mut Words<'t>) -> Result<Cost, ReadError> {
        let (at, kind) = self.word(words, "the kind of cost")?;
        let what = "a cost";
        match kind {
            "linear" => Ok(Cost::Linear {
                c1: self.number(words, what)?,
                c0: self.number(words, what)?,
            }),
            "quadratic" => Ok(Cost::Quadratic {
                c2: self.number(words, what)?,
                c1: self.number(words, what)?,
                c0: self.number(words, what)?,
            }),
            "points" => {
                let mut points = Vec::new();
                while words.next < words.words.len() {
                    points.push((self.number(words, "a power")?, self.number(words, what)?));
                }
                Ok(Cost::Piecewise { points })
            }
            _ => {
                let message = format!("unknown kind of cost {}", quoted(kind));
                Err(self
                    .source
                    .error(at, message)
                    .with_help("costs are `linear`, `quadratic` or `points`"))
            }
        }
    }

    fn branch(&mut self, words: &mut Words<'t>, start: usize) -> Result<(), ReadError> {
        let branch = Branch {
            row: self.whole(words, "a row")?.1,
            from: self.bus_index(words)?,
            to: self.bus_index(words)?,
            r: self.number(words, "the resistance")?,
            x: self.number(words, "the reactance")?,
            tap: self.number(words, "the turns ratio")?,
            shift: self.angle(words, "the phase shift")?,
            rate_mw: match words.take_if("-") {
                true => None,
                false => Some(self.number(words, "the limit")?),
            },
            angle_min: self.angle_limit(words)?,
            angle_max: self.angle_limit(words)?,
        };
        self.branches.push(branch);
        self.starts[2].push(start);
        Ok(())
    }

    fn omitted(&mut self, words: &mut Words<'t>) -> Result<(), ReadError> {
        let (at, kind) = self.word(words, "what is omitted")?;
        while words.next < words.words.len() {
            match kind {
                "bus" => self
                    .omitted
                    .buses
                    .push(self.whole(words, "a bus number")?.1),
                "unit" => self.omitted.units.push(self.whole(words, "a row")?.1),
                "branch" => self.omitted.branches.push(self.whole(words, "a row")?.1),
                _ => {
                    let message =
                        format!("omitted are buses, units or branches, not {}", quoted(kind));
                    return Err(self.source.error(at, message));
                }
            }
        }
        Ok(())
    }

    fn angle_limit(&self, words: &mut Words<'t>) -> Result<Option<f64>, ReadError> {
        match words.take_if("-") {
            true => Ok(None),
            false => self.angle(words, "the angle limit").map(Some),
        }
    }

    /// An angle in radians.
    fn angle(&self, words: &mut Words<'t>, what: &str) -> Result<f64, ReadError> {
        let (at, word) = self.word(words, what)?;
        match word.strip_suffix("rad") {
            Some(radians) => self.parse(at, radians, what),
            None => Ok(self.parse(at, word, what)?.to_radians()),
        }
    }

    fn bus_index(&self, words: &mut Words<'t>) -> Result<usize, ReadError> {
        let (at, number) = self.whole::<u32>(words, "a bus number")?;
        match self.index.get(&number) {
            Some(&index) => Ok(index),
            None => {
                let message = format!("there is no bus {number} before this line");
                Err(self.source.error(at, message))
            }
        }
    }

    fn word(&self, words: &mut Words<'t>, what: &str) -> Result<(usize, &'t str), ReadError> {
        let Some(&word) = words.words.get(words.next) else {
            let found = counted(words.words.len(), "word", "words");
            let message = format!("the line ends after {found}, where {what} should be");
            return Err(self.source.error(words.end, message));
        };
        words.next += 1;
        Ok(word)
    }

    fn number(&self, words: &mut Words<'t>, what: &str) -> Result<f64, ReadError> {
        let (at, word) = self.word(words, what)?;
        self.parse(at, word, what)
    }

    fn parse(&self, at: usize, word: &str, what: &str) -> Result<f64, ReadError> {
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let message = format!("{what} must be a finite number, found {}", quoted(word));
                Err(self.source.error(at, message))
            }
        }
    }

    fn whole<T: std::str::FromStr>(
        &self,
        words: &mut Words<'t>,
        what: &str,
    ) -> Result<(usize, T), ReadError> {
        let (at, word) = self.word(words, what)?;
        match word.parse() {
            Ok(number) => Ok((at, number)),
            Err(_) => {
                let message = format!("{what} must be a whole number, found {}", quoted(word));
                Err(self.source.error(at, message))
            }
        }
    }
}

impl Words<'_> {
    /// Whether the next word is this one; it is taken then.
    fn take_if(&mut self, word: &str) -> bool {
        let is = self
            .words
            .get(self.next)
            .is_some_and(|(_, found)| *found == word);
        self.next += usize::from(is);
        is
    }
}

/// The words of a line that starts at `start`.
fn words(line: &str, start: usize) -> Words<'_> {
    // Each word is a slice of the line, so its address tells its offset.
    let offset = |word: &str| start + (word.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
    let words = line
        .split_ascii_whitespace()
        .map(|word| (offset(word), word));
    Words {
        words: words.collect(),
        next: 0,
        end: start + line.trim_end().len(),
    }
}
