//! Brings the messages of a context into the order that providers require.
//!
//! The sidecar keeps messages in the order of their arrival. Providers are stricter: results directly follow the message
//! with the calls, each call has one result, and ids do not repeat. So a late result moves up to its call, a call
//! without a result gets [`NO_RESULT`], a result without a call becomes a user message, and an id that is repeated, too
//! long or contains special characters is replaced, in call and result alike.

use std::collections::{HashMap, HashSet};

use super::values::IS_ERROR;
use crate::v1::value::Kind;
use crate::v1::{BuildContextResponse, Message, Role, ToolCall};

const NO_RESULT: &str = "[no result was recorded]";
const MAX_ID_CHARS: usize = 40;
const MAX_NAME_CHARS: usize = 64;

pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) result: String,
    pub(super) is_error: bool,
}

/// One message with its calls. `stable`: it belongs to the prefix that stays the same in the next turn.
pub(super) struct Step {
    pub(super) role: Role,
    pub(super) text: String,
    pub(super) stable: bool,
    pub(super) calls: Vec<Call>,
}

pub(super) fn steps(context: &BuildContextResponse) -> Vec<Step> {
    let stable_count = usize::try_from(context.stable_prefix_count).unwrap_or(0);
    let mut steps: Vec<Step> = Vec::new();
    // The step and the position of each open call.
    let mut open: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    let mut ids = HashSet::new();
    for (position, message) in context.messages.iter().enumerate() {
        let stable = position < stable_count;
        if message.role() != Role::Tool {
            for (number, call) in message.tool_calls.iter().enumerate() {
                open.entry(&call.id).or_default().push((steps.len(), number));
            }
            steps.push(Step {
                role: role_of(message),
                text: text_of(message),
                stable,
                calls: message.tool_calls.iter().map(|call| call_of(call, &mut ids)).collect(),
            });
        } else if let Some((step, number)) = open.get_mut(message.tool_call_id.as_str()).and_then(Vec::pop) {
            let answered = &mut steps[step].calls[number];
            answered.result.clone_from(&message.content);
            answered.is_error = is_error(message);
        } else {
            steps.push(Step {
                role: Role::User,
                text: format!("Result of a tool: {}", message.content),
                stable,
                calls: Vec::new(),
            });
        }
    }
    steps
}

fn is_error(message: &Message) -> bool {
    let marked = message
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.fields.get(IS_ERROR));
    marked.is_some_and(|value| value.kind == Some(Kind::BoolValue(true)))
}

/// A role that a later contract adds is sent as the user's.
fn role_of(message: &Message) -> Role {
    match message.role() {
        role @ (Role::System | Role::Assistant) => role,
        _ => Role::User,
    }
}

/// The text with the speaker's name, because most providers have no field for it.
fn text_of(message: &Message) -> String {
    if !message.name.is_empty() && role_of(message) == Role::User {
        return format!("{}: {}", message.name, message.content);
    }
    message.content.clone()
}

fn call_of(given: &ToolCall, ids: &mut HashSet<String>) -> Call {
    let name = plain(&given.name, MAX_NAME_CHARS);
    let arguments = &given.arguments_json;
    Call {
        id: unique_id(&given.id, ids),
        name: if name.is_empty() { "tool".to_owned() } else { name },
        arguments: if arguments.trim().is_empty() { "{}" } else { arguments }.to_owned(),
        result: NO_RESULT.to_owned(),
        is_error: false,
    }
}

fn unique_id(id: &str, ids: &mut HashSet<String>) -> String {
    let mut base = plain(id, MAX_ID_CHARS);
    if base.is_empty() {
        "call".clone_into(&mut base);
    }
    let mut unique = base.clone();
    let mut number = 1;
    while ids.contains(&unique) {
        number += 1;
        let suffix = format!("_{number}");
        let length = base.len().min(MAX_ID_CHARS - suffix.len());
        unique = format!("{}{suffix}", &base[..length]);
    }
    ids.insert(unique.clone());
    unique
}

/// The text in the characters that all providers accept.
fn plain(text: &str, max_chars: usize) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let chars = text.chars().map(|char| if is_plain(char) { char } else { '_' });
    chars.take(max_chars).collect()
}
