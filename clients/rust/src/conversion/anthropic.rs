//! Messages of Anthropic's Messages API.

use serde_json::{Value, json};

use super::exchanges::{Call, steps};
use super::values::{IS_ERROR, Node, Piece, Result, check_distinct, joined, object_of, or_empty};
use crate::v1::value::Kind;
use crate::v1::{BuildContextResponse, Message, Role, Struct, ToolCall, Value as Metadata};

/// The first user message, which the API requires.
const BEGINNING: &str = "(The conversation begins.)";

/// Returns messages to add; `system`, if any, becomes the first.
///
/// Each tool result becomes a message of its own; `is_error` is in its metadata. Thinking becomes the reasoning without
/// its signature, redacted thinking is left out. Blocks other than text are stored as their type: `[image]`. A message
/// without text is stored as `[empty]`.
///
/// # Errors
///
/// [`ConversionError`](super::ConversionError) for what is not of the format.
pub fn messages_from_anthropic(messages: &Value, system: Option<&Value>) -> Result<Vec<Message>> {
    let mut converted = Vec::new();
    if let Some(instructions) = system.filter(|value| !value.is_null()) {
        let text = text_of(&Node::new(instructions, "system"))?;
        if !text.is_empty() {
            converted.push(Message::system(text));
        }
    }
    for node in Node::new(messages, "messages").items()? {
        converted.extend(messages_of(&node)?);
    }
    Ok(converted)
}

/// Returns an object with `system` and `messages`, with a cache breakpoint after each stable part.
///
/// The stable system message becomes `system`. Retrieved memory, also a system message, becomes a text block of the
/// newest user message: not every model accepts system messages elsewhere, and `system` stays the same for the cache.
#[must_use]
pub fn anthropic_messages(context: &BuildContextResponse) -> Value {
    let mut system = Vec::new();
    let mut turns = Turns::default();
    let mut last_stable = None;
    for step in steps(context) {
        let blank = step.text.trim().is_empty();
        let text: Vec<Value> = (!blank)
            .then(|| json!({"type": "text", "text": step.text}))
            .into_iter()
            .collect();
        if step.role == Role::System && step.stable {
            system.extend(text);
            continue;
        }
        turns.append(
            if step.role == Role::Assistant {
                "assistant"
            } else {
                "user"
            },
            text,
        );
        turns.append("assistant", step.calls.iter().map(use_block).collect());
        // All results of parallel calls are in one message, before any text.
        turns.append("user", step.calls.iter().map(result_block).collect());
        if step.stable {
            last_stable = turns.last_block();
        }
    }
    if let Some(block) = system.last_mut() {
        cache(block);
    }
    if let Some((turn, block)) = last_stable {
        cache(&mut turns.0[turn].1[block]);
    }
    json!({"system": system, "messages": turns.into_messages()})
}

fn cache(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// Messages with alternating roles: role and blocks.
#[derive(Default)]
struct Turns(Vec<(&'static str, Vec<Value>)>);

impl Turns {
    /// Blocks of the same role join the last message.
    fn append(&mut self, role: &'static str, blocks: Vec<Value>) {
        match self.0.last_mut() {
            _ if blocks.is_empty() => (),
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => self.0.push((role, blocks)),
        }
    }

    fn last_block(&self) -> Option<(usize, usize)> {
        let (_, blocks) = self.0.last()?;
        Some((self.0.len() - 1, blocks.len() - 1))
    }

    fn into_messages(mut self) -> Vec<Value> {
        if self.0.first().is_some_and(|(role, _)| *role != "user") {
            self.0
                .insert(0, ("user", vec![json!({"type": "text", "text": BEGINNING})]));
        }
        let message = |(role, content)| json!({"role": role, "content": Value::Array(content)});
        self.0.into_iter().map(message).collect()
    }
}

fn use_block(call: &Call) -> Value {
    let input = object_of(&call.arguments, "arguments");
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

fn result_block(call: &Call) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": call.id, "content": call.result});
    if call.is_error {
        block["is_error"] = Value::Bool(true);
    }
    block
}

fn messages_of(node: &Node) -> Result<Vec<Message>> {
    let name = node.field("role")?.one_of(&["user", "assistant", "system"])?;
    let content = node.field("content")?;
    let role = match name {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::User,
    };
    if !content.value.is_array() {
        let text = or_empty(text_of(&content)?);
        return Ok(vec![Message::default().with_role(role).with_content(text)]);
    }
    if role == Role::Assistant {
        return Ok(vec![assistant(&content)?]);
    }
    results_and_texts(&content, role, name)
}

fn assistant(content: &Node) -> Result<Message> {
    let mut message = Message::default().with_role(Role::Assistant);
    let (mut calls, mut pieces, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
    for block in content.items()? {
        match kind_of(&block, "assistant")? {
            "tool_use" => calls.push(block),
            "thinking" => thoughts.push(Piece::text(block.field("thinking")?.text()?)),
            "redacted_thinking" => (),
            kind => pieces.push(piece(&block, kind)?),
        }
    }
    message.tool_calls = calls.iter().map(tool_call).collect::<Result<_>>()?;
    check_distinct(&calls)?;
    message.content = joined(&pieces, true);
    message.reasoning = joined(&thoughts, false);
    if message.tool_calls.is_empty() {
        message.content = or_empty(message.content);
    }
    Ok(message)
}

/// The messages in the order of the blocks; texts between results are one message.
fn results_and_texts(content: &Node, role: Role, name: &str) -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    let mut pieces = Vec::new();
    for block in content.items()? {
        match kind_of(&block, name)? {
            "tool_result" => {
                messages.extend(text_message(&pieces, role));
                pieces.clear();
                messages.push(tool_result(&block)?);
            }
            kind => pieces.push(piece(&block, kind)?),
        }
    }
    messages.extend(text_message(&pieces, role));
    if messages.is_empty() {
        messages.push(Message::default().with_role(role).with_content(or_empty(String::new())));
    }
    Ok(messages)
}

fn text_message(pieces: &[Piece], role: Role) -> Option<Message> {
    let text = joined(pieces, false);
    (!text.is_empty()).then(|| Message::default().with_role(role).with_content(text))
}

fn tool_result(block: &Node) -> Result<Message> {
    let (content, is_error) = (block.field("content")?, block.field("is_error")?);
    if !is_error.value.is_null() && !is_error.value.is_boolean() {
        return Err(is_error.wrong("a boolean"));
    }
    let id = block.field("tool_use_id")?.filled_text()?;
    let text = if content.value.is_null() {
        String::new()
    } else {
        text_of(&content)?
    };
    let mut message = Message::tool(id, or_empty(text));
    if is_error.value == &Value::Bool(true) {
        let mut metadata = Struct::default();
        let kind = Some(Kind::BoolValue(true));
        metadata.fields.insert(IS_ERROR.to_owned(), Metadata { kind });
        message.metadata = Some(metadata);
    }
    Ok(message)
}

fn tool_call(block: &Node) -> Result<ToolCall> {
    let input = block.field("input")?;
    let arguments = match input.value {
        Value::Null => "{}".to_owned(),
        Value::Object(_) => input.value.to_string(),
        _ => return Err(input.wrong("an object")),
    };
    let id = block.field("id")?.filled_text()?;
    Ok(ToolCall::new(id, block.field("name")?.filled_text()?, arguments))
}

/// The text of a content without tools.
fn text_of(content: &Node) -> Result<String> {
    match content.value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) => {
            let block = |block: Node| piece(&block, kind_of(&block, "")?);
            Ok(joined(
                &content.items()?.map(block).collect::<Result<Vec<Piece>>>()?,
                false,
            ))
        }
        _ => Err(content.wrong("a text or a list of blocks")),
    }
}

/// The type of a block; some are for one role only.
fn kind_of<'a>(block: &Node<'a>, role: &str) -> Result<&'a str> {
    let named = block.field("type")?;
    let kind = named.filled_text()?;
    let owner = match kind {
        "tool_use" | "thinking" | "redacted_thinking" => "assistant",
        "tool_result" => "user",
        _ => role,
    };
    if owner == role {
        return Ok(kind);
    }
    Err(named.error(format!("\"{kind}\" is only for the role {owner}")))
}

fn piece(block: &Node, kind: &str) -> Result<Piece> {
    if kind == "text" {
        return Ok(Piece::text(block.field("text")?.text()?));
    }
    Ok(Piece::placeholder(kind))
}
