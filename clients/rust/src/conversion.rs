//! Messages of `OpenAI` and Anthropic, as values of [`serde_json`], to and from messages of the sidecar. It needs no
//! crate of a provider.
//!
//! ```
//! use memsidecar_client::conversion::{messages_from_openai, openai_messages};
//! use memsidecar_client::v1::{AddBatchRequest, BuildContextResponse};
//! use serde_json::json;
//!
//! # fn example(context: &BuildContextResponse) -> Result<(), Box<dyn std::error::Error>> {
//! let said = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]);
//! let request = AddBatchRequest::new("s1", messages_from_openai(&said)?).with_user_id("ana");
//! let body = json!({"model": "gpt-4o", "messages": openai_messages(context)});
//! # Ok(())
//! # }
//! ```
//!
//! Parts that the sidecar cannot store, such as images, are stored as their type: `[image]`. A message without text is
//! stored as `[empty]`. A tool result that is an error has `is_error` in its metadata. Reasoning is stored without
//! signatures, and not sent. Keys of the input of an Anthropic call are in the order of [`serde_json::Map`].

mod anthropic;
mod exchanges;
mod openai;
#[cfg(test)]
mod tests;
mod values;

pub use anthropic::{anthropic_messages, messages_from_anthropic};
pub use openai::{messages_from_openai, openai_input, openai_messages};
pub use values::ConversionError;
