//! A polytope of a spec as a model, its offsets as the dataset, and what its curator should know.

use std::sync::Arc;

use conveil::ask::{Query, Strategy};
use conveil::curator::Size;
use conveil::noise::Sampler;
use conveil::program::{DataMap, Place};
use conveil::solve::{Settings, solve_checked};
use conveil_text::numbers;

use super::stated::{EllipsoidSpec, NormalsSource, OffsetsSource};
use super::{Ellipsoid, Inscribed, picture};
use crate::document::{Annex, Document, Fields};
use crate::failure::Failure;
use crate::files::{Files, Named};
use crate::model::{Compared, Curated, Datasets, Model};
use crate::picture::Picture;
use crate::spec::Spec;
use crate::words::{row_name, significant};

/// The largest ellipsoid inside the polytope of a spec.
#[derive(Debug)]
pub(super) struct EllipsoidModel {
    name: String,
    ellipsoid: Arc<Ellipsoid>,
    offsets: Option<OffsetsSource>,
}

impl EllipsoidModel {
    /// The universe, where there is one, is public: offsets are clipped to it, so that every dataset is a member.
    pub(super) fn open(
        stated: &EllipsoidSpec,
        spec: &Spec,
        files: &Files,
    ) -> Result<Self, Failure> {
        let (name, normals) = match &stated.normals {
            NormalsSource::Rows(rows) => ("largest ellipsoid".into(), rows.value.clone()),
            NormalsSource::File(file) => {
                let (name, text) = files.public_text(Named {
                    file,
                    what: "normals",
                    key: "file",
                })?;
                let rows = numbers::read(&name, &text)?;
                (name, rows)
            }
        };
        let mut builder = Ellipsoid::inside(normals.clone()).determinant(stated.determinant);
        if let Some(universe) = &spec.private.universe {
            let (centre, sizes) = (universe.value.centre(), universe.value.sizes());
            if universe.value.dimension() != 1 {
                return Err(universe
                    .error(&spec.name, "the universe of offsets is a `box`")
                    .into());
            }
            if centre.len() != normals.len() {
                let message = format!(
                    "`center` has {} numbers, but the polytope has {} facets",
                    centre.len(),
                    normals.len()
                );
                return Err(universe.error(&spec.name, message).into());
            }
            if let Some(facet) = sizes.iter().position(|w| *w <= 0.0) {
                let message = format!(
                    "the universe leaves no room for the offset of facet {facet}: its half-width must be positive"
                );
                return Err(universe.error(&spec.name, message).into());
            }
            let pairs = centre.iter().zip(sizes);
            builder = builder
                .bounds(pairs.map(|(c, w)| (c - w, c + w)).collect())
                .nominal(centre.to_vec());
        }
        let ellipsoid = builder.build().map_err(|e| match &stated.normals {
            NormalsSource::Rows(rows) => Failure::located(&spec.name, rows, e),
            NormalsSource::File(_) => Failure::engine(&name, e),
        })?;
        Ok(EllipsoidModel {
            name,
            ellipsoid: Arc::new(ellipsoid),
            offsets: stated.offsets.clone(),
        })
    }
}

impl Model for EllipsoidModel {
    fn map(&self) -> &dyn DataMap {
        &*self.ellipsoid
    }

    fn shared(&self) -> Arc<dyn DataMap> {
        self.ellipsoid.clone()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn query(&self, spec: &Spec) -> Result<Query, Failure> {
        Ok(match &spec.query.query {
            None | Some(Query::Identity) => self.ellipsoid.query(),
            Some(query) => query.clone(),
        })
    }

    fn place_name(&self, place: &Place) -> String {
        row_name(self.map().template(), place)
    }

    fn how_to_bound(&self) -> &'static str {
        "add `[private.universe]`"
    }

    /// The private offsets, one for each facet.
    fn datasets(&self, files: &Files) -> Result<Box<dyn Datasets + '_>, Failure> {
        let facets = self.ellipsoid.normals().facets();
        let (name, offsets) = match &self.offsets {
            Some(OffsetsSource::Numbers(offsets)) => {
                (files.spec_name().into(), offsets.value.clone())
            }
            Some(OffsetsSource::File(file)) => {
                let named = Named {
                    file,
                    what: "offsets",
                    key: "offsets",
                };
                let (name, text) = files.private_text(named)?;
                let rows = numbers::read(&name, &text)?;
                if rows.iter().any(|row| row.len() != 1) {
                    return Err(Failure::Input(format!(
                        "{name}: a line has {} numbers; offsets stand one in a line, a line for each facet",
                        rows[0].len()
                    )));
                }
                (name, rows.concat())
            }
            None => {
                return Err(Failure::Input(format!(
                    "{}: [private] needs `offsets`",
                    files.spec_name()
                )));
            }
        };
        if offsets.len() != facets {
            return Err(Failure::Input(format!(
                "{name}: {} offsets for {facets} facets: give one for each",
                offsets.len()
            )));
        }
        Ok(Box::new(Offsets {
            of: self,
            spec_name: files.spec_name().into(),
            offsets,
        }))
    }
}

/// The private offsets.
#[derive(Debug)]
struct Offsets<'m> {
    of: &'m EllipsoidModel,
    spec_name: String,
    offsets: Vec<f64>,
}

impl Datasets for Offsets<'_> {
    fn row(&self, _row: usize) -> Result<Vec<f64>, Failure> {
        Ok(self.offsets.clone())
    }

    /// The volume of the mean ellipsoid, and how far it stays inside the nearest facet.
    fn annex(&self, curated: &Curated<'_>) -> Annex {
        let ellipsoid = &self.of.ellipsoid;
        let shown = |mean: Inscribed| {
            let offsets = ellipsoid.offsets(&curated.decided.program);
            let volume = mean.volume();
            let clearance = mean.clearance(ellipsoid.normals(), &offsets);
            Document {
                fields: Fields::default()
                    .with("mean_volume", volume)
                    .with("mean_clearance", clearance),
                text: format!(
                    "mean ellipsoid: volume {}, {} inside the nearest facet\n",
                    significant(volume),
                    significant(clearance)
                ),
                summary: None,
            }
        };
        Annex {
            picture: (curated.report)
                .and_then(|_| picture::of(ellipsoid, curated).ok().flatten())
                .map(Picture::Body),
            report: curated.report.map(|_| {
                let mean = ellipsoid.inscribed(&curated.decided.mean);
                mean.map(shown)
                    .map_err(|e| Failure::engine(&self.spec_name, e))
            }),
            ..Annex::default()
        }
    }

    /// Volumes of the ellipsoids that output and program perturbation release, where the whole ellipsoid is released.
    fn sizes(&self, case: &Compared<'_>) -> Option<Result<Vec<Size>, Failure>> {
        let (ellipsoid, plan) = (&self.of.ellipsoid, case.plan);
        let is_whole = *plan.ask().query() == ellipsoid.query();
        let has_program = plan.guarantee().strategy() == Strategy::Program;
        is_whole.then(|| {
            volumes(ellipsoid, case, has_program).map_err(|e| Failure::engine(&self.spec_name, e))
        })
    }
}

/// The stream of the draws behind volumes.
const VOLUMES: u64 = 0xE2;

/// Volumes over that of the ellipsoid without noise.
fn volumes(
    ellipsoid: &Ellipsoid,
    case: &Compared<'_>,
    has_program: bool,
) -> conveil::Result<Vec<Size>> {
    let best = solve_checked(&ellipsoid.at(case.theta)?, &Settings::default())?.x;
    let best: Vec<f64> = best.into_iter().take(ellipsoid.answer_len()).collect();
    let most = ellipsoid.inscribed(&best)?.volume();
    let mut means = vec![("output", best)];
    if has_program {
        match case.plan.released().at(case.theta) {
            Ok(decided) => means.push(("program", decided.answer)),
            Err(conveil::Error::NoiseDoesNotFit(_)) => {}
            Err(other) => return Err(other),
        }
    }
    let shape = case.plan.released().shape();
    let mut sizes = Vec::new();
    for (strategy, mean) in means {
        // The same noise for both.
        let mut sampler = Sampler::new(case.seed, VOLUMES);
        let mut zeta = vec![0.0; shape.noises()];
        let mut drawn = Vec::with_capacity(case.draws);
        for _ in 0..case.draws {
            sampler.fill(case.plan.law(), &mut zeta);
            let noisy = mean.iter().zip(shape.apply(&zeta)).map(|(m, z)| m + z);
            let noisy: Vec<f64> = noisy.collect();
            drawn.push(ellipsoid.inscribed(&noisy)?.volume() / most);
        }
        let before = ellipsoid.inscribed(&mean)?.volume() / most;
        sizes.extend(Size::of(strategy, "volume", before, drawn));
    }
    Ok(sizes)
}
