//! `consonant serve`

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::Result;
use clap::Args;
use consonant_serve::{Event, Limits, ServeError, Server, ServerOptions};

use crate::context::Context;
use crate::given::Flags;
use crate::{interrupt, usage_error};

/// Serve an API and a page that shows what the models do.
///
/// The page and the API are on one port of this machine; nothing is fetched from elsewhere. `GET /openapi.json` describes the API. An
/// interrupt ends the server when what runs is finished; the signal HUP reloads the models.
#[derive(Args)]
#[command(after_help = "Examples:
  consonant serve --open
  consonant serve --models DIR --port 9000
  consonant serve --host 0.0.0.0 --token \"$SECRET\" --time-limit 10

  curl -s localhost:8765/v1/annotate -H 'Content-Type: application/json' -d '{\"text\": \"Ann lives in Kiel.\"}'")]
pub struct Serve {
    /// The address to listen to; one that others can reach wants --token or --no-token.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// The port; 0 is any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 8765)]
    port: u16,
    /// Take the models from this folder, not the embedded English ones.
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
    /// What clients must show as `Authorization: Bearer T` (also from CONSONANT_TOKEN).
    #[arg(long, value_name = "T")]
    token: Option<String>,
    /// Let others in without a token.
    #[arg(long, conflicts_with = "token")]
    no_token: bool,
    /// Open the page in a browser.
    #[arg(long)]
    open: bool,
    /// A log that `train … --log FILE` writes, for the page to follow.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    limits: Flags<Limits>,
}

impl Serve {
    /// Listens until it is asked to end.
    pub fn run(self, context: &Context) -> Result<ExitCode> {
        let mut options = ServerOptions::default();
        options.host = self.host;
        options.port = self.port;
        options.models = self.models;
        // Arguments can be seen by every user of a machine, the environment cannot.
        let of_environment = || std::env::var("CONSONANT_TOKEN").ok().filter(|_| !self.no_token);
        options.token = self.token.or_else(of_environment).filter(|token| !token.is_empty());
        options.no_token = self.no_token;
        options.log = self.log;
        options.limits = self.limits.settings()?;
        let token = options.token.clone();
        let server = Server::bind(options).map_err(|error| match error {
            open @ ServeError::Open(_) => usage_error(open.to_string()),
            other => other.into(),
        })?;
        interrupt::leave();
        let address = format!("http://{}/", server.address());
        context.note(format!("consonant {} serves {address}", env!("CARGO_PKG_VERSION")));
        if self.open {
            // The part behind # stays in the browser.
            let token = token.map(|token| format!("#token={token}")).unwrap_or_default();
            open(&format!("{address}{token}"), context);
        }
        let reporter = context.reporter();
        server.run_until_signal(move |event| match event {
            Event::NotReloaded(error) => reporter.note(&format!("the models were not reloaded: {error}")),
            Event::Reloaded => reporter.note("the models were reloaded"),
            _ => reporter.note("ending when what runs is finished"),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Asks the system to show an address.
fn open(address: &str, context: &Context) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let started = Command::new(program).arg(address).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if started.is_err() {
        context.note(format!("there is no `{program}` to open a browser with; open {address} yourself"));
    }
}
