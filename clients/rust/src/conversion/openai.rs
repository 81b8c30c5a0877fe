//! Messages of `OpenAI`'s chat completions and input items of its Responses API.

use serde_json::{Value, json};

use super::exchanges::steps;
use super::values::{EMPTY, Node, Piece, Result, check_distinct, joined};
use crate::v1::{BuildContextResponse, Message, Role, ToolCall};

const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// Returns messages to add, one for each message of chat completions.
///
/// `developer` is stored as system. Parts other than text are stored as their type: `[image_url]`. A message without text
/// is stored as `[empty]`. The text of `reasoning_content` or `reasoning` becomes the reasoning.
///
/// # Errors
///
/// [`ConversionError`](super::ConversionError) for what is not of the format, and for the deprecated role `function` and
/// `function_call`.
pub fn messages_from_openai(messages: &Value) -> Result<Vec<Message>> {
    Node::new(messages, "messages")
        .items()?
        .map(|node| message(&node))
        .collect()
}

/// Returns `messages` of chat completions.
#[must_use]
pub fn openai_messages(context: &BuildContextResponse) -> Vec<Value> {
    let mut messages = Vec::new();
    for step in steps(context) {
        let mut message = json!({"role": role_name(step.role), "content": step.text});
        if !step.calls.is_empty() {
            if step.text.is_empty() {
                message["content"] = Value::Null;
            }
            let calls = step.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            });
            message["tool_calls"] = calls.collect();
        }
        messages.push(message);
        let results = step.calls.iter();
        messages.extend(results.map(|call| json!({"role": "tool", "tool_call_id": call.id, "content": call.result})));
    }
    messages
}

/// Returns `input` of the Responses API, in which calls and results are separate items.
#[must_use]
pub fn openai_input(context: &BuildContextResponse) -> Vec<Value> {
    let mut items = Vec::new();
    for step in steps(context) {
        if !step.text.is_empty() {
            items.push(json!({"role": role_name(step.role), "content": step.text}));
        }
        for call in &step.calls {
            let (id, name, arguments) = (&call.id, &call.name, &call.arguments);
            items.push(json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}));
        }
        for call in &step.calls {
            items.push(json!({"type": "function_call_output", "call_id": call.id, "output": call.result}));
        }
    }
    items
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Assistant => "assistant",
        _ => "user",
    }
}

fn message(node: &Node) -> Result<Message> {
    let role = match node.field("role")?.one_of(&ROLES)? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::System,
    };
    let name = node.field("name")?.optional_text()?;
    let content = content(&node.field("content")?, role)?;
    let mut message = Message::default().with_role(role).with_name(name).with_content(content);
    if role == Role::Assistant {
        fill_assistant(&mut message, node)?;
    } else {
        reject_calls(node)?;
    }
    if role == Role::Tool {
        node.field("tool_call_id")?
            .filled_text()?
            .clone_into(&mut message.tool_call_id);
    }
    if message.content.is_empty() && message.tool_calls.is_empty() {
        EMPTY.clone_into(&mut message.content);
    }
    Ok(message)
}

fn reject_calls(node: &Node) -> Result<()> {
    let calls = node.field("tool_calls")?;
    if calls.value.is_null() || calls.value.as_array().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    Err(calls.error("only an assistant message has tool calls"))
}

fn content(node: &Node, role: Role) -> Result<String> {
    let model = role == Role::Assistant;
    match node.value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) => {
            let pieces: Result<Vec<Piece>> = node.items()?.map(|part| piece(&part)).collect();
            Ok(joined(&pieces?, model))
        }
        Value::Null if model => Ok(String::new()),
        _ => Err(node.wrong("a text or a list of parts")),
    }
}

fn piece(part: &Node) -> Result<Piece> {
    match part.field("type")?.filled_text()? {
        "text" | "input_text" | "output_text" => Ok(Piece::text(part.field("text")?.text()?)),
        "refusal" => Ok(Piece::text(part.field("refusal")?.text()?)),
        kind => Ok(Piece::placeholder(kind)),
    }
}

fn fill_assistant(message: &mut Message, node: &Node) -> Result<()> {
    let function = node.field("function_call")?;
    if !function.value.is_null() {
        return Err(function.error("function_call is not supported; use tool_calls"));
    }
    if message.content.is_empty() {
        message.content = refusal_or_audio(node)?;
    }
    for key in ["reasoning", "reasoning_content"] {
        if let Some(text) = node.field(key)?.value.as_str().filter(|text| !text.is_empty()) {
            text.clone_into(&mut message.reasoning);
        }
    }
    let calls = node.field("tool_calls")?;
    if !calls.value.is_null() {
        let calls: Vec<_> = calls.items()?.collect();
        message.tool_calls = calls.iter().map(tool_call).collect::<Result<_>>()?;
        check_distinct(&calls)?;
    }
    Ok(())
}

/// What an answer without content says.
fn refusal_or_audio(node: &Node) -> Result<String> {
    let refusal = node.field("refusal")?.optional_text()?;
    let audio = node.field("audio")?;
    if !refusal.is_empty() || audio.value.is_null() {
        return Ok(refusal.to_owned());
    }
    match audio.field("transcript")?.optional_text()? {
        "" => Ok(Piece::placeholder("audio").text),
        transcript => Ok(transcript.to_owned()),
    }
}

fn tool_call(node: &Node) -> Result<ToolCall> {
    let id = node.field("id")?.filled_text()?;
    let named = node.field("type")?;
    let kind = if named.value.is_null() {
        "function"
    } else {
        named.one_of(&["function", "custom"])?
    };
    let called = node.field(kind)?;
    let key = if kind == "custom" { "input" } else { "arguments" };
    let arguments = called.field(key)?.optional_text()?;
    Ok(ToolCall::new(id, called.field("name")?.filled_text()?, arguments))
}
