//! M8d. Regularised empirical risk: ½w'Pw + Σ φᵢ(w), one convex loss per record, one record replaced.
//!
//! Strong convexity turns the Lipschitz constant of one loss into a bound: ‖w − w'‖ in P is at most twice that constant.
//! A loss is what the auxiliary variables of a record cost: φᵢ(w) = min c's over the rows of record i. Its rows are linear
//! inequalities, as those of the hinge, or exponential cones, as those of the logistic loss.

use super::certificate::{Certificate, Kind, Site, Tolerance, solver_text};
use super::metric::CurvedBound;
use crate::ask::{Adjacency, Request, Strategy, Terms};
use crate::digits::short;
use crate::error::{Error, Result};
use crate::program::{AffineMap, Cone, DataMap, Holds, Parameters, Place, RecordBall, Rows, norm};
use crate::proof::Curvature;
use crate::rule::RowRule;

impl Request {
    /// Certified for a regularised sum of one loss per record, of which one is replaced (M8d).
    pub fn regularised_erm() -> Self {
        Request::Certificate {
            word: RegularisedErmKind.word(),
            terms: Terms::default(),
        }
    }
}

/// The kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegularisedErmKind;

impl Kind for RegularisedErmKind {
    fn word(&self) -> &'static str {
        "erm"
    }

    fn covers(&self) -> &'static str {
        "the weights of a regularised sum of one loss per record, of which one record is replaced"
    }

    fn covers_scaled_records(&self) -> bool {
        true
    }

    fn prove(&self, site: &Site<'_>) -> Result<Box<dyn Certificate>> {
        Ok(Box::new(RegularisedErm::new(site)?))
    }
}

/// A regularised sum of losses of which one record is replaced.
///
/// # Guarantee
/// The weights move by at most twice the largest Lipschitz constant of one record's loss, in P and P⁻¹, at every noise
/// scale: noise changes a loss, but not how fast it grows with the mean weights. Where the map scales records onto a ball,
/// the constant counts what the scaling is proven to reach ([`RecordBall`]). Losses in exponential cones are covered without
/// noise inside the program alone. Tests:
/// `scaled_records_never_move_the_hyperplane_by_more_than_their_norm_allows`,
/// `one_record_never_moves_a_logistic_regression_by_more_than_its_norm_allows`.
///
/// Why a slack that only relaxes bounds the constant: where w moves, a row with data falls short by at most the growth of
/// its coefficients; its slack rises by that, no row of the record becomes narrower, and everything else stays.
///
/// The map is defined for every dataset as soon as it is for one. Every row with data has a slack that only relaxes it,
/// so a loss is finite for every dataset or for none (whether its dual is feasible depends on the slacks' own
/// coefficients, which are public), and what else binds the weights is public. Not so where a row with data holds
/// *always*: then the recourse of its slack must match the data exactly.
#[derive(Clone, Debug)]
struct RegularisedErm {
    curved: CurvedBound,
    everywhere: bool,
    records: usize,
    lipschitz: f64,
    /// The length that records are scaled to.
    length: Option<f64>,
}

const WHAT: &str = "a certificate for regularised empirical risk";

fn refuse<T>(why: impl Into<String>, instead: &str) -> Result<T> {
    Err(Error::refused(WHAT, why, instead))
}

impl RegularisedErm {
    /// Checks on public structure: records of bounded data in rows of their own, slack variables of their own that only
    /// relax them, a public positive definite quadratic cost on the weights, weights whose noise is fixed by the query.
    fn new(site: &Site<'_>) -> Result<Self> {
        let Some(affine) = site.map.affine() else {
            return refuse(
                "the program depends on the data in a way that cannot be inspected",
                "a map that is affine in the data, or a declared or sampled sensitivity",
            );
        };
        let Adjacency::OneRecord { len } = site.adjacency else {
            return refuse(
                "it covers the replacement of one record",
                "adjacency `one-record`",
            );
        };
        let Some(curvature) = site.curvature() else {
            return refuse(
                "the quadratic cost is not positive definite on the variables it names",
                "a regulariser on every weight, the intercept included",
            );
        };
        let (Some(metric), Some((_, rule))) = (site.metric(&curvature), site.posed) else {
            return refuse(
                "the query names a variable without a regulariser",
                "a query of the weights, and a regulariser on every one of them",
            );
        };
        if !site.ask.risk.is_expectation() {
            return refuse(
                "the objective is not the expected one",
                "the expected objective",
            );
        }
        let fixed = |j: &usize| matches!(rule.row(*j), RowRule::Fixed(_));
        if let Some(j) = curvature.columns.iter().find(|&j| !fixed(j)) {
            return refuse(
                format!(
                    "the noise of `{}` is free and would couple the records",
                    affine.template().variable_name(*j)
                ),
                "an identity query of all weights",
            );
        }
        if let Some(ball) = affine.ball()
            && ball.record_len() != len
        {
            return refuse(
                format!(
                    "records of {} entries are scaled to a length, and neighbours differ in records of {len}",
                    ball.record_len()
                ),
                "one length for each record that may be replaced",
            );
        }
        let losses = Losses::read(affine, &curvature, len)?;
        if site.ask.strategy == Strategy::Program
            && let Some(row) = losses.curved_row(affine)
        {
            return refuse(
                format!(
                    "`{}` is a cone of a smooth loss, and what noise inside the program makes of such a loss is not proven",
                    affine.template().row_name(row)
                ),
                "strategy `output`: noise on the trained weights",
            );
        }
        let lipschitz = losses.largest_constant(affine, &curvature)?;
        let reach = 2.0 * lipschitz;
        let stretch = metric.stretch(site.norm);
        if !(stretch * reach > 0.0) {
            return refuse(
                "the data do not move the answer at all",
                "a declared sensitivity",
            );
        }
        let exact = site.ask.strategy == Strategy::Program && losses.has_exact_rows(affine);
        Ok(RegularisedErm {
            everywhere: !exact,
            curved: CurvedBound::new(curvature, &metric, site.norm, stretch * reach, reach),
            records: affine.len() / len.max(1),
            lipschitz,
            length: affine.ball().map(RecordBall::radius),
        })
    }
}

impl Certificate for RegularisedErm {
    fn name(&self) -> &'static str {
        "regularised empirical risk"
    }

    fn statement(&self) -> String {
        format!(
            "regularised empirical risk: one of {} records is replaced; each loss grows by at most {} per unit of the weights in the norm of the regulariser; the regulariser is strongly convex; so {} moves by at most {} in the {} norm{}; it covers the records' data, clipped to their public bounds{}",
            self.records,
            short(self.lipschitz, 6),
            self.curved.of,
            short(self.curved.bound, 9),
            self.curved.norm.symbol(),
            solver_text(self.curved.solver),
            self.length.map_or(String::new(), |length| format!(
                ", then scaled record by record to a length of at most {}, labels aside",
                short(length, 6)
            ))
        )
    }

    fn bound(&self) -> f64 {
        self.curved.total()
    }

    fn defined_everywhere(&self) -> bool {
        self.everywhere
    }

    fn tolerance(&self) -> Option<Tolerance> {
        Some(Tolerance::of_a_distance(&self.curved, 1.0))
    }

    fn counting(&self, tolerance: f64) -> Box<dyn Certificate> {
        Box::new(RegularisedErm {
            curved: self.curved.counting(tolerance),
            ..self.clone()
        })
    }
}

/// Which rows and slack variables belong to which record.
struct Losses {
    /// Rows by record, and where those of each begin and end.
    rows: Vec<usize>,
    starts: Vec<usize>,
    by_rows: Rows,
    /// Private entries of A.
    private: Private,
    /// Whether a row holds private data, in A or in b.
    has_data: Vec<bool>,
    /// Which way a row moves to become wider, whatever the others of its cone are: up (1), down (−1); 0 where neither.
    widens: Vec<f64>,
}

/// Private entries of A: row, column, parameter and coefficient, sorted; or those of records that are alike.
enum Private {
    Listed(Vec<(usize, usize, usize, f64)>),
    OfRecords(Parameters),
}

impl Private {
    fn of(parameters: &Parameters) -> Self {
        if parameters.records().is_some() {
            return Private::OfRecords(parameters.clone());
        }
        let entries = parameters.places().filter_map(|(i, at)| match at.place {
            Place::A(row, j) => Some((row, j, i, at.coef)),
            _ => None,
        });
        let mut listed: Vec<_> = entries.collect();
        listed.sort_unstable_by_key(|&(row, j, i, _)| (row, j, i));
        Private::Listed(listed)
    }
}

/// Which way each row of a cone moves to become wider, where the cone is one of a loss.
fn widening(cone: &Cone) -> Option<Vec<f64>> {
    match cone {
        Cone::Nonnegative(m) => Some(vec![1.0; *m]),
        // y·exp(x/y) ≤ z: a smaller x and a larger z.
        Cone::Exponential => Some(vec![-1.0, 0.0, 1.0]),
        _ => None,
    }
}

impl Losses {
    fn read(affine: &AffineMap, curvature: &Curvature, len: usize) -> Result<Self> {
        let program = affine.template();
        let mut owner: Vec<Option<usize>> = vec![None; program.rows()];
        let mut has_data = vec![false; program.rows()];
        let private = Private::of(affine.parameters());
        for (i, location) in affine.parameters().places() {
            let row = match location.place {
                Place::A(row, j) if curvature.place(j).is_some() => row,
                Place::B(row) => row,
                place => {
                    let parameter = affine.parameters().get(i);
                    let name = parameter.as_ref().map_or("".into(), |p| p.name());
                    return refuse(
                        format!(
                            "it covers the data in the losses' own rows, but `{name}` enters at {place}"
                        ),
                        "data in the coefficients of the weights and in the right-hand sides only",
                    );
                }
            };
            let record = i / len.max(1);
            if owner[row].is_some_and(|other| other != record) {
                return refuse(
                    format!("`{}` holds data of two records", program.row_name(row)),
                    "rows of its own for every record",
                );
            }
            owner[row] = Some(record);
            has_data[row] = true;
        }
        // A slack variable belongs to the record in whose rows it stands, and so do all its rows.
        let by_rows = program.a().by_rows();
        let mut slack_owner: Vec<Option<usize>> = vec![None; program.columns()];
        loop {
            let mut grew = false;
            for i in 0..program.rows() {
                for &(j, _) in by_rows.row(i) {
                    if curvature.place(j).is_some() {
                        continue;
                    }
                    match (owner[i], slack_owner[j]) {
                        (Some(a), Some(b)) if a != b => {
                            return refuse(
                                format!(
                                    "`{}` stands in rows of two records",
                                    program.variable_name(j)
                                ),
                                "slack variables of its own for every record",
                            );
                        }
                        (Some(a), None) => {
                            slack_owner[j] = Some(a);
                            grew = true;
                        }
                        (None, Some(b)) => {
                            owner[i] = Some(b);
                            grew = true;
                        }
                        _ => {}
                    }
                }
            }
            // A cone of several rows belongs to one record.
            for block in (program.constraints().iter()).filter(|c| !c.cone().is_linear()) {
                let mut owners = block.range().filter_map(|i| owner[i]);
                let Some(record) = owners.next() else {
                    continue;
                };
                if owners.any(|other| other != record) {
                    return refuse(
                        format!("`{}` holds data of two records", block.name()),
                        "cones of its own for every record",
                    );
                }
                for i in block.range() {
                    grew |= owner[i].replace(record).is_none();
                }
            }
            if !grew {
                break;
            }
        }
        let mut starts = vec![0usize; owner.iter().flatten().max().map_or(0, |last| last + 1) + 1];
        owner
            .iter()
            .flatten()
            .for_each(|&record| starts[record + 1] += 1);
        (1..starts.len()).for_each(|record| starts[record] += starts[record - 1]);
        let mut next = starts.clone();
        let mut rows = vec![0; starts.last().copied().unwrap_or(0)];
        let mut widens = vec![0.0; program.rows()];
        for block in program.constraints() {
            let widening = widening(block.cone());
            for (place, i) in block.range().enumerate() {
                let Some(record) = owner[i] else {
                    continue;
                };
                let Some(widening) = &widening else {
                    return refuse(
                        format!(
                            "`{}` is neither a linear inequality nor an exponential cone",
                            program.row_name(i)
                        ),
                        "losses in such rows, as the hinge and the logistic loss are",
                    );
                };
                widens[i] = widening[place];
                rows[next[record]] = i;
                next[record] += 1;
            }
        }
        Ok(Losses {
            rows,
            starts,
            by_rows,
            private,
            has_data,
            widens,
        })
    }

    /// A row of a loss that is no linear inequality, if there is one.
    fn curved_row(&self, affine: &AffineMap) -> Option<usize> {
        let blocks = affine.template().constraints().iter();
        let mut curved = blocks.filter(|c| !c.cone().is_linear());
        curved.find_map(|c| c.range().find(|&i| self.widens[i] != 0.0))
    }

    /// The first row that each auxiliary variable narrows when it rises.
    fn narrowed(&self, columns: usize, curvature: &Curvature) -> Vec<Option<usize>> {
        let mut narrowed = vec![None; columns];
        for &i in &self.rows {
            for &(j, v) in self.by_rows.row(i) {
                // b − Ax falls by v.
                let narrows = v != 0.0 && -v * self.widens[i] <= 0.0;
                if narrows && curvature.place(j).is_none() {
                    narrowed[j].get_or_insert(i);
                }
            }
        }
        narrowed
    }

    /// Whether a loss holds whatever the noise is.
    fn has_exact_rows(&self, affine: &AffineMap) -> bool {
        let exact = (affine.template().constraints().iter()).filter(|c| c.holds() == Holds::Always);
        let exact: Vec<_> = exact.map(|c| c.range()).collect();
        let mut rows = self.rows.iter();
        rows.any(|i| exact.iter().any(|range| range.contains(i)))
    }

    /// The largest constant L with |φᵢ(w) − φᵢ(w')| ≤ L‖w − w'‖ in P, over records and over all admissible data.
    fn largest_constant(&self, affine: &AffineMap, curvature: &Curvature) -> Result<f64> {
        let program = affine.template();
        let by_rows = &self.by_rows;
        let units: Vec<f64> = (0..curvature.columns.len())
            .map(|k| {
                let mut unit = vec![0.0; curvature.columns.len()];
                unit[k] = 1.0;
                norm(&curvature.half_inverse(&unit))
            })
            .collect();
        let weakest = curvature.smallest_eigenvalue().sqrt();
        let narrowed = self.narrowed(program.columns(), curvature);
        let mut largest = 0.0f64;
        // By how much each slack of a record must rise per unit of ‖Δw‖ in P. Made once, as the others: of a million records.
        let mut rise: Vec<(usize, f64)> = Vec::new();
        let (mut sizes, mut entries, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let mut last: Option<&[usize]> = None;
        for record in self.starts.windows(2) {
            let rows = &self.rows[record[0]..record[1]];
            if last.is_some_and(|last| self.are_alike(affine, curvature, &narrowed, (last, rows))) {
                // Its loss is that of the record before it: so it is for each of a million.
                last = Some(rows);
                continue;
            }
            last = Some(rows);
            rise.clear();
            for &i in rows {
                sizes.clear();
                entries.clear();
                let mut slack: Option<(usize, f64)> = None;
                let mut obstacle = None;
                for &(j, v) in by_rows.row(i) {
                    match (curvature.place(j), narrowed[j]) {
                        (Some(k), _) => {
                            sizes.push((k, self.largest_entry(affine, i, j, v)?));
                            entries.push((j, v));
                        }
                        (None, Some(row)) => obstacle = obstacle.or(Some((j, row))),
                        (None, None) if slack.is_none_or(|s| v.abs() > s.1) && v != 0.0 => {
                            slack = Some((j, v.abs()));
                        }
                        (None, None) => {}
                    }
                }
                let is_still = sizes.iter().all(|s: &(usize, f64)| s.1 == 0.0);
                if is_still && !self.has_data[i] {
                    // It moves with auxiliary variables alone.
                    continue;
                }
                if self.widens[i] == 0.0 {
                    return refuse(
                        format!(
                            "`{}` is the scale of an exponential cone and holds data or weights",
                            program.row_name(i)
                        ),
                        "data in the exponent or in what bounds the exponential",
                    );
                }
                let Some((j, c)) = slack else {
                    if let Some((j, row)) = obstacle {
                        return refuse(
                            format!(
                                "raising `{}` tightens `{}`",
                                program.variable_name(j),
                                program.row_name(row)
                            ),
                            "slack variables that only relax the rows they stand in",
                        );
                    }
                    return refuse(
                        format!(
                            "`{}` holds private data and no slack variable: it is a limit on the weights, not a loss",
                            program.row_name(i)
                        ),
                        "a slack variable with a cost in every row that holds data",
                    );
                };
                if is_still {
                    continue;
                }
                let triangle: f64 = sizes.iter().map(|&(k, s)| s * units[k]).sum();
                all.clear();
                all.extend(sizes.iter().map(|s| s.1));
                let mut longest = norm(&all);
                if let Some(ball) = affine.ball() {
                    longest = longest.min(self.longest_row(affine, i, &entries, ball)?);
                }
                let growth = triangle.min(longest / weakest);
                match rise.iter_mut().find(|of| of.0 == j) {
                    Some((_, largest)) => *largest = largest.max(growth / c),
                    None => rise.push((j, growth / c)),
                }
            }
            let mut constant = 0.0;
            rise.sort_unstable_by_key(|of| of.0);
            for &(j, rise) in &rise {
                let cost = program.q()[j];
                if cost < 0.0 {
                    return refuse(
                        format!(
                            "the slack `{}` has a negative cost",
                            program.variable_name(j)
                        ),
                        "losses that are paid for",
                    );
                }
                constant += cost * rise;
            }
            largest = largest.max(constant);
        }
        Ok(largest * (1.0 + 1e-6))
    }

    /// Whether two records of parameters that are alike have the same loss, entry by entry: the second one's rows, and its
    /// auxiliary variables, are those of the first some places further.
    fn are_alike(
        &self,
        affine: &AffineMap,
        curvature: &Curvature,
        narrowed: &[Option<usize>],
        (one, other): (&[usize], &[usize]),
    ) -> bool {
        let (Private::OfRecords(parameters), costs) = (&self.private, affine.template().q()) else {
            return false;
        };
        let Some((_, step)) = parameters.records() else {
            return false;
        };
        let mut apart = None;
        one.len() == other.len()
            && one.iter().zip(other).all(|(&i, &k)| {
                let (first, second) = (self.by_rows.row(i), self.by_rows.row(k));
                self.has_data[i] == self.has_data[k]
                    && (!self.has_data[i] || k == i + step)
                    && self.widens[i] == self.widens[k]
                    && first.len() == second.len()
                    && first.iter().zip(second).all(|(&(j, v), &(l, w))| {
                        v == w
                            && match (curvature.place(j), curvature.place(l)) {
                                (Some(_), Some(_)) => j == l,
                                (None, None) => {
                                    costs[j] == costs[l]
                                        && narrowed[j].is_some() == narrowed[l].is_some()
                                        && *apart.get_or_insert(l.wrapping_sub(j))
                                            == l.wrapping_sub(j)
                                }
                                _ => false,
                            }
                    })
            })
    }

    /// The largest norm of row i on these entries where its record is scaled: those that are a multiple of one member of the
    /// ball each, of different ones, are together as long as the largest multiple of its reach; the others count by their
    /// bounds.
    fn longest_row(
        &self,
        affine: &AffineMap,
        i: usize,
        entries: &[(usize, f64)],
        ball: &RecordBall,
    ) -> Result<f64> {
        let (mut multiple, mut beside, mut members) = (0.0f64, Vec::new(), Vec::new());
        for &(j, v) in entries {
            let mut terms = self.terms(i, j);
            match (terms.next(), terms.next()) {
                (Some((parameter, coef)), None) if v == 0.0 && ball.holds(parameter) => {
                    members.push(parameter);
                    multiple = multiple.max(coef.abs());
                }
                _ => beside.push(self.largest_entry(affine, i, j, v)?),
            }
        }
        members.sort_unstable();
        if members.windows(2).any(|pair| pair[0] == pair[1]) {
            // One number at two entries counts twice: the bounds alone say how much.
            return Ok(f64::INFINITY);
        }
        beside.push(multiple * ball.reach());
        Ok(norm(&beside))
    }

    /// The private terms of A_ij.
    fn terms(&self, i: usize, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (listed, one) = match &self.private {
            Private::Listed(all) => {
                let first = all.partition_point(|&(row, column, ..)| (row, column) < (i, j));
                let rest = &all[first..];
                let end = rest.partition_point(|&(row, column, ..)| (row, column) == (i, j));
                (&rest[..end], None)
            }
            Private::OfRecords(parameters) => (&[][..], parameters.in_records(i, j)),
        };
        let listed = listed
            .iter()
            .map(|&(_, _, parameter, coef)| (parameter, coef));
        listed.chain(one)
    }

    /// The largest |A_ij| over the admissible data.
    fn largest_entry(&self, affine: &AffineMap, i: usize, j: usize, base: f64) -> Result<f64> {
        let (mut low, mut high) = (base, base);
        for (parameter, coef) in self.terms(i, j) {
            let Some((from, to)) = affine.parameters().bounds(parameter) else {
                let parameter = affine.parameters().get(parameter);
                let name = parameter.map_or(String::new(), |p| p.name().into_owned());
                return refuse(
                    format!("`{name}` has no public bounds"),
                    "public bounds on every parameter that is a coefficient",
                );
            };
            low += (coef * from).min(coef * to);
            high += (coef * from).max(coef * to);
        }
        Ok(low.abs().max(high.abs()))
    }
}
