//! A client of memsidecar, the memory of LLM agents as a gRPC sidecar.
//!
//! Add each message; before each call of a model, build its context:
//!
//! ```no_run
//! use memsidecar_client::Client;
//! use memsidecar_client::v1::{AddRequest, BuildContextRequest, Message};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let memory = Client::from_env()?;
//! memory.add(AddRequest::new("s1", Message::user("I moved to Lisbon.")).with_user_id("ana")).await?;
//! let context = memory.build_context(BuildContextRequest::new("s1").with_query("Where do I live?")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Client`] has a method for each RPC, [`v1`] the messages of the contract, [`Error`] a variant for each reason that
//! the sidecar gives. Calls are retried by one policy, and no write is stored twice.
//!
//! # Features
//!
//! `tls`, on by default: TLS by rustls. `conversion`: messages of `OpenAI` and Anthropic, as values of `serde_json`.

mod address;
mod builder;
mod calls;
mod client;
mod codec;
mod connection;
#[cfg(feature = "conversion")]
pub mod conversion;
mod error;
#[allow(clippy::pedantic)]
mod generated;
mod health;
mod ids;
mod messages;
mod replay;
mod retry;
mod stream;
mod token;

pub use builder::{BuildError, ClientBuilder};
pub use client::Client;
pub use error::{Details, Error};
pub use ids::new_id;
pub use stream::ResultStream;
pub use tonic::Code;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The messages of the contract, version 1, as prost makes them.
///
/// Their fields are public. Requests are created by `new` or `default`, and filled by `with_...`, so that a
/// field which a later contract adds breaks no caller.
pub mod v1 {
    pub use crate::generated::messages::*;
    pub use prost_types::{ListValue, Struct, Timestamp, Value, value};
}
