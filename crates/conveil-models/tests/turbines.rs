//! The built-in power curves, and what is said about others.

use conveil_models::records::Records;
use conveil_models::wind::{PowerCurve, TURBINES};

#[test]
fn every_built_in_curve_is_there_and_rises_to_its_largest_power() {
    for name in TURBINES {
        let curve = PowerCurve::builtin(name).unwrap();
        assert_eq!(curve.name(), name);
        assert!((1.0..=4.0).contains(&curve.cut_in()), "{name}");
        let speeds: Vec<f64> = (0..=150).map(|i| f64::from(i) / 10.0).collect();
        for pair in speeds.windows(2) {
            // V90/2000 and GE103/2750 sink by less than a percent near their rated speed.
            let (low, high) = (curve.at(pair[0]), curve.at(pair[1]));
            assert!(high >= low - 0.01, "{name}: {low} {high} at {}", pair[1]);
        }
        assert!(curve.at(15.0) > 0.98, "{name}: {}", curve.at(15.0));
        let middle = curve.at(8.0);
        assert!((0.3..0.75).contains(&middle), "{name}: {middle}");
    }
}

#[test]
fn figures_are_windpowerlibs() {
    // Spot checks against its table, in watts.
    for (name, speed, watts, largest) in [
        ("E-92/2350", 4.0, 98_200.0, 2_350_000.0),
        ("N100/2500", 5.5, 356_000.0, 2_500_000.0),
        ("SWT113/3200", 8.0, 1_506_000.0, 3_200_000.0),
    ] {
        let found = PowerCurve::builtin(name).unwrap().at(speed);
        assert!((found - watts / largest).abs() < 1e-12, "{name}: {found}");
    }
    assert_eq!(PowerCurve::builtin("e-92/2350").unwrap().cut_in(), 1.0);
}

#[test]
fn records_stand_a_hundredth_apart_within_their_bounds() {
    let records = PowerCurve::builtin("S104/3400")
        .unwrap()
        .records(4)
        .unwrap();
    let (speeds, powers) = (&records.speeds, &records.powers);
    assert_eq!(speeds.len(), powers.len());
    assert!((1100..=1400).contains(&speeds.len()), "{}", speeds.len());
    assert_eq!(speeds.last(), Some(&15.0));
    assert!(speeds.contains(&3.07));
    assert!(powers.iter().all(|y| (0.0..=1.0).contains(y)));
    assert!(
        powers.contains(&0.0) && powers.contains(&1.0),
        "some are cut"
    );
    let again = PowerCurve::builtin("S104/3400")
        .unwrap()
        .records(4)
        .unwrap();
    assert_eq!(*powers, again.powers);
    let other = PowerCurve::builtin("S104/3400")
        .unwrap()
        .records(5)
        .unwrap();
    assert_ne!(*powers, other.powers);
    assert_eq!(records.regressors.column("speed"), Some(speeds.clone()));
}

#[test]
#[rustfmt::skip] // one case, two lines
fn broken_curves() {
    assert_eq!(PowerCurve::builtin("E-92/2300").unwrap_err(),
        "there is no built-in turbine `E-92/2300`; did you mean `E-92/2350`? (built in: GE103/2750, E-92/2350, V90/2000, SWT113/3200, N100/2500, S104/3400)");
    let read = |text: &str| {
        let records = Records::read("c.csv", text.as_bytes()).unwrap();
        PowerCurve::from_records("c.csv", &records)
    };
    for (text, expected) in [
        ("wind,power\n1,2\n", "c.csv: there is no column `speed`"),
        ("speed,watts\n1,2\n", "c.csv: there is no column `power`"),
        ("speed,power\n1,2\n1,3\n", "c.csv: speeds must rise, found 1 after 1"),
        ("speed,power\n1,-2\n2,3\n", "c.csv: speeds and powers must be finite and not negative, found -2"),
        ("speed,power\n1,0\n2,0\n", "c.csv: there is no power at any speed"),
        ("speed,power\n15,0\n20,1\n", "c.csv: there is no power below 15 m/s"),
    ] {
        assert_eq!(read(text).unwrap_err(), expected, "{text}");
    }
    let good = read("power,speed\n0,2\n50,12\n").unwrap();
    assert_eq!(good.at(7.0), 0.5);
    assert_eq!((good.at(0.0), good.at(99.0)), (0.0, 1.0));
}
