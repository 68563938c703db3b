//! Recorded command-line sessions: each `cmd/NAME.trycmd` runs in `cmd/NAME.in`, or, where there is a
//! `cmd/NAME.out` with the files that it must leave, in a copy. A session that writes files needs one.
//!
//! `TRYCMD=overwrite cargo test -p consonant-cli --test sessions` records them anew; read the difference
//! before you commit it.

#[test]
fn recorded_sessions() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}
