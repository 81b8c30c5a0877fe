//! Driver of the scenario runner for the Rust client.
//!
//! Reads commands and writes results as JSON lines; see `clients/scenarios/README.md`.

mod results;
mod rpcs;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memsidecar_client::{Client, Error};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::time::timeout;

use results::{all_of, broken, error_json, failed};

type Clients = Arc<Mutex<HashMap<String, Client>>>;

#[derive(Deserialize)]
struct Command {
    id: u64,
    #[serde(flatten)]
    doing: Doing,
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Doing {
    Open {
        client: String,
        #[serde(flatten)]
        settings: Box<Settings>,
    },
    Close {
        client: String,
    },
    Ready {
        client: String,
        timeout_seconds: f64,
    },
    Call {
        client: String,
        rpc: String,
        request: String,
        #[serde(flatten)]
        options: Options,
    },
    Iterate {
        client: String,
        rpc: String,
        request: String,
        #[serde(flatten)]
        options: Options,
    },
    Stream {
        client: String,
        rpc: String,
        requests: Vec<String>,
        #[serde(flatten)]
        options: Options,
    },
}

#[derive(Deserialize)]
struct Settings {
    address: Option<String>,
    token: Option<String>,
    token_file: Option<PathBuf>,
    tls: Option<bool>,
    ca_file: Option<PathBuf>,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    deadline_seconds: Option<f64>,
    attempts: Option<i64>,
    allow_token_in_clear: Option<bool>,
}

#[derive(Clone, Copy, Deserialize)]
struct Options {
    deadline_seconds: Option<f64>,
    cancel_after_seconds: Option<f64>,
    pause_seconds: Option<f64>,
    stop_after: Option<usize>,
}

impl Options {
    fn on(self, client: Client) -> Client {
        match self.deadline_seconds {
            Some(seconds) => client.with_deadline(duration(seconds)),
            None => client,
        }
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let clients = Clients::default();
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let command: Command = serde_json::from_str(&line)?;
        let clients = Arc::clone(&clients);
        tokio::spawn(async move {
            let doing = tokio::spawn(async move { done(&clients, command.doing).await });
            // A panic is also answered.
            let mut answer = doing.await.unwrap_or_else(|panicked| broken(&panicked.to_string()));
            answer["id"] = json!(command.id);
            println!("{answer}");
        });
    }
    Ok(())
}

async fn done(clients: &Clients, doing: Doing) -> Value {
    let named = |name: &str| {
        let found = clients.lock().unwrap().get(name).cloned();
        found.unwrap_or_else(|| panic!("there is no client {name}"))
    };
    match doing {
        Doing::Open { client, settings } => match opened(*settings) {
            Ok(made) => {
                clients.lock().unwrap().insert(client, made);
                json!({})
            }
            Err(why) => json!({"refused": why}),
        },
        Doing::Close { client } => {
            if let Some(closed) = clients.lock().unwrap().remove(&client) {
                closed.close();
            }
            json!({})
        }
        Doing::Ready {
            client,
            timeout_seconds,
        } => {
            let waiting = duration(timeout_seconds);
            match named(&client).wait_until_ready(waiting).await {
                Ok(()) => json!({}),
                Err(error) => failed(&error),
            }
        }
        Doing::Call {
            client,
            rpc,
            request,
            options,
        } => {
            let client = options.on(named(&client));
            called(rpcs::call(&client, &rpc, &request), options).await
        }
        Doing::Iterate {
            client,
            rpc,
            request,
            options,
        } => rpcs::iterate(&options.on(named(&client)), &rpc, &request, options).await,
        Doing::Stream {
            client,
            rpc,
            requests,
            options,
        } => rpcs::stream(&options.on(named(&client)), &rpc, requests, options).await,
    }
}

/// Cancels by dropping the future. Rust returns no error then, so the driver makes one.
async fn called(call: impl Future<Output = Result<String, Error>>, options: Options) -> Value {
    let patience = options.cancel_after_seconds.map_or(Duration::MAX, duration);
    match timeout(patience, call).await {
        Ok(Ok(answer)) => json!({"answer": answer}),
        Ok(Err(error)) => json!({"error": error_json(&error)}),
        Err(_) => json!({"error": {"code": "CANCELLED", "reason": "", "kind": "Cancelled"}}),
    }
}

/// A negative time is zero; one that `Duration` cannot represent is its maximum.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

fn opened(settings: Settings) -> Result<Client, String> {
    let mut builder = Client::builder();
    macro_rules! set {
        ($($name:ident),*) => {$(
            if let Some(value) = settings.$name {
                builder = builder.$name(value);
            }
        )*};
    }
    set!(
        address,
        token,
        token_file,
        tls,
        ca_file,
        certificate_file,
        key_file,
        allow_token_in_clear
    );
    // Rust's types reject negative values before the client can.
    if let Some(attempts) = settings.attempts {
        builder = builder.attempts(u32::try_from(attempts).map_err(|error| format!("attempts: {error}"))?);
    }
    if let Some(seconds) = settings.deadline_seconds {
        let deadline = Duration::try_from_secs_f64(seconds).map_err(|error| format!("the deadline: {error}"))?;
        builder = builder.deadline(deadline);
    }
    builder.build().map_err(|error| all_of(&error))
}
