//! Recorded command-line sessions: each `cmd/NAME.trycmd` runs in a copy of `cmd/NAME.in`.
//!
//! `TRYCMD=overwrite cargo test -p consonant --test sessions` records them anew; read the difference before you
//! commit it.

#[test]
fn recorded_sessions() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}
