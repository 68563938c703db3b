//! Problems as linear programs, solved by a solver of linear programs, against enumeration.

use consonant_map::problem::{Factor, Format, Kind, Problem, Relation, read};
use consonant_testing::Random;
use consonant_testing::problem::{all, random_problem};
use microlp::{ComparisonOp, OptimizationDirection};

/// The best value of the linear program; nothing without a solution.
fn solved(problem: &Problem) -> Option<f64> {
    let program = problem.linear_program();
    let direction =
        if program.minimize { OptimizationDirection::Minimize } else { OptimizationDirection::Maximize };
    let mut linear = microlp::Problem::new(direction);
    let columns: Vec<microlp::Variable> = program
        .columns
        .iter()
        .map(|column| match column.integer {
            true => linear.add_integer_var(column.objective, (0, column.upper as i32)),
            false => linear.add_var(column.objective, (0.0, column.upper)),
        })
        .collect();
    for row in &program.rows {
        let terms: Vec<(microlp::Variable, f64)> =
            row.terms.iter().map(|&(column, by)| (columns[column], by)).collect();
        let relation = match row.relation {
            Relation::AtMost => ComparisonOp::Le,
            Relation::AtLeast => ComparisonOp::Ge,
            Relation::Equal => ComparisonOp::Eq,
        };
        linear.add_constraint(terms, relation, row.right);
    }
    let outcome = linear.solve().ok()?;
    Some(outcome.solution()?.objective() + program.constant)
}

#[test]
fn linear_programs_have_the_same_optimum() {
    let mut random = Random::new(11);
    let (mut feasible, mut infeasible) = (0, 0);
    for _ in 0..600 {
        let problem = random_problem(&mut random);
        // A solver in floating point has tolerances of its own.
        let sizes = problem.scores().filter(|score| score.is_finite() && *score != 0.0).map(f64::abs);
        let is_ordinary = |factor: &Factor| match &factor.kind {
            Kind::Knapsack { costs, .. } => {
                costs.iter().all(|&cost| cost == 0.0 || (0.01..1e3).contains(&cost))
            }
            _ => true,
        };
        let has_tolerances = !problem.factors.iter().all(is_ordinary);
        if problem.check().is_err() || has_tolerances || sizes.fold(1.0, f64::max) > 1e3 {
            continue;
        }
        match (all(&problem).first(), solved(&problem)) {
            (Some((value, _)), Some(found)) => {
                assert!((value - found).abs() <= 1e-6 * value.abs().max(1.0), "{value} {found}: {problem:?}");
                feasible += 1;
            }
            (None, None) => infeasible += 1,
            (expected, found) => panic!("{expected:?} {found:?}: {problem:?}"),
        }
    }
    assert!(feasible > 60 && infeasible > 5, "{feasible} {infeasible}");
}

#[test]
fn costs_stay_costs_and_names_are_told() {
    let text = r#"{"minimize": true, "constant": 2, "variables": [{"name": "a b\n", "score": 3}, {"name": "x", "states": ["p", "q"], "scores": [1, "inf"]}],
        "factors": [{"kind": "at-least-one", "over": ["a b\n", "x=q"]}]}"#;
    let problem = read(text, Format::Json).unwrap();
    assert_eq!(solved(&problem), Some(6.0));
    let lp = problem.linear_program().to_lp();
    let expected = "\\ x0 is a b\\n\n\\ x1_0 is x=p\n\\ x1_1 is x=q\nMinimize\n objective: + 3 x0 + 1 x1_0 + 2 constant\nSubject To\n \
                    c0: + 1 x1_0 + 1 x1_1 = 1\n c1: + 1 x0 + 1 x1_1 >= 1\nBounds\n constant = 1\n 0 <= x1_1 <= 0\nBinaries\n x0\n x1_0\n x1_1\nEnd\n";
    assert_eq!(lp, expected);
    let mps = problem.linear_program().to_mps();
    let expected = "* x0 is a b\\n\n* x1_0 is x=p\n* x1_1 is x=q\nNAME problem\nOBJSENSE\n    MIN\nROWS\n N objective\n E c0\n G c1\nCOLUMNS\n \
                    MARKER 'MARKER' 'INTORG'\n x0 objective 3\n x0 c1 1\n x1_0 objective 1\n x1_0 c0 1\n x1_1 objective 0\n x1_1 c0 1\n x1_1 c1 1\n \
                    MARKER 'MARKER' 'INTEND'\nRHS\n RHS objective -2\n RHS c0 1\n RHS c1 1\nBOUNDS\n UP BND x0 1\n UP BND x1_0 1\n UP BND x1_1 0\nENDATA\n";
    assert_eq!(mps, expected);
}

/// What is written as LP or MPS, read again.
#[test]
fn programs_of_binary_columns_are_read_back() {
    let mut random = Random::new(5);
    let mut tried = 0;
    for _ in 0..3000 {
        let problem = random_problem(&mut random);
        let program = problem.linear_program();
        let binary = program.columns.iter().all(|column| column.integer && column.upper == 1.0);
        // Tenths are rounded when what is negated goes to the right side, and a row that was met exactly is missed.
        let mut numbers =
            program.rows.iter().flat_map(|row| row.terms.iter().map(|term| term.1).chain([row.right]));
        let exact = numbers.all(|number| (8.0 * number).fract() == 0.0 && number.abs() < 1e9);
        if problem.check().is_err() || !binary || !exact || program.columns.len() > 14 {
            continue;
        }
        tried += 1;
        let expected = all(&problem).first().map(|(value, _)| problem.stated(*value));
        for (text, format) in [(program.to_lp(), Format::Lp), (program.to_mps(), Format::Mps)] {
            assert_eq!(Format::guess("-", &text), Some(format));
            let again = read(&text, format).unwrap();
            let found = all(&again).first().map(|(value, _)| again.stated(*value));
            match (expected, found) {
                (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{a} {b}: {text}"),
                (a, b) => assert_eq!(a.is_some(), b.is_some(), "{text}"),
            }
        }
    }
    assert!(tried > 100, "{tried}");
}
