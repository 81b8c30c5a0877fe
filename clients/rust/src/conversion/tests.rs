//! The cases of `clients/scenarios/conversion.json`, which all clients run, and input that is too deep.

use serde_json::{Value, json};

use super::*;
use crate::v1::value::Kind;
use crate::v1::{BuildContextResponse, Message, Role, Struct, ToolCall, Value as Metadata};

fn cases(list: &str) -> Vec<Value> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/conversion.json");
    let table: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let cases = table[list].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn verify(case: &Value, converted: Result<Vec<Message>, ConversionError>) {
    let name = &case["name"];
    match converted {
        Err(error) => {
            assert_eq!(
                json!({"field": error.field, "problem": error.problem}),
                case["error"],
                "{name}"
            );
            assert_eq!(error.to_string(), format!("{}: {}", error.field, error.problem));
        }
        Ok(messages) => {
            assert!(case["error"].is_null(), "{name}: {messages:?}");
            let messages: Vec<Message> = messages.into_iter().map(comparable).collect();
            let expected: Vec<Message> = messages_of(&case["expected"]).into_iter().map(comparable).collect();
            assert_eq!(messages, expected, "{name}");
        }
    }
}

/// The arguments of calls in one form, if they are JSON.
fn comparable(mut message: Message) -> Message {
    for call in &mut message.tool_calls {
        if let Ok(value) = serde_json::from_str::<Value>(&call.arguments_json) {
            call.arguments_json = value.to_string();
        }
    }
    message
}

fn messages_of(list: &Value) -> Vec<Message> {
    list.as_array().unwrap().iter().map(message_of).collect()
}

/// A message of the table.
fn message_of(given: &Value) -> Message {
    let text = |key: &str| given[key].as_str().unwrap_or_default().to_owned();
    let mut message = Message::default()
        .with_role(Role::from_str_name(&text("role")).unwrap())
        .with_content(text("content"))
        .with_name(text("name"))
        .with_reasoning(text("reasoning"));
    message.tool_call_id = text("tool_call_id");
    for call in given["tool_calls"].as_array().into_iter().flatten() {
        let arguments = call["arguments_json"].as_str().unwrap_or_default();
        message.tool_calls.push(ToolCall::new(
            call["id"].as_str().unwrap(),
            call["name"].as_str().unwrap(),
            arguments,
        ));
    }
    if let Some(metadata) = given["metadata"].as_object() {
        let fields = metadata.iter().map(|(key, value)| {
            let kind = match value {
                Value::Bool(flag) => Kind::BoolValue(*flag),
                Value::String(text) => Kind::StringValue(text.clone()),
                other => Kind::NumberValue(other.as_f64().unwrap()),
            };
            (key.clone(), Metadata { kind: Some(kind) })
        });
        message.metadata = Some(Struct {
            fields: fields.collect(),
        });
    }
    message
}

fn context_of(messages: Vec<Message>, stable_prefix_count: i32) -> BuildContextResponse {
    BuildContextResponse {
        messages,
        stable_prefix_count,
        ..Default::default()
    }
}

/// Numbers by their value: 1500 and 1500.0 are the same in JSON.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let found = |(key, value)| right.get(key).is_some_and(|other| same(value, other));
            left.len() == right.len() && left.iter().all(found)
        }
        _ => left == right,
    }
}

fn assert_same(left: &Value, right: &Value, name: &Value) {
    assert!(same(left, right), "{name}: {left:#} is not {right:#}");
}

#[test]
fn messages_of_openai_become_messages_or_an_error() {
    for case in cases("messages_from_openai") {
        verify(&case, messages_from_openai(&case["messages"]));
    }
}

#[test]
fn messages_of_anthropic_become_messages_or_an_error() {
    for case in cases("messages_from_anthropic") {
        verify(&case, messages_from_anthropic(&case["messages"], Some(&case["system"])));
    }
}

#[test]
fn a_context_becomes_the_requests_of_providers() {
    for case in cases("contexts") {
        let stable = i32::try_from(case["stable_prefix_count"].as_i64().unwrap()).unwrap();
        let context = context_of(messages_of(&case["messages"]), stable);
        assert_same(
            &openai_messages(&context).into(),
            &case["openai_messages"],
            &case["name"],
        );
        assert_same(&openai_input(&context).into(), &case["openai_input"], &case["name"]);
        assert_same(
            &anthropic_messages(&context),
            &case["anthropic_messages"],
            &case["name"],
        );
    }
}

#[test]
fn messages_return_unchanged() {
    for case in cases("openai_round_trips") {
        let context = context_of(messages_from_openai(&case["messages"]).unwrap(), 0);
        assert_same(&openai_messages(&context).into(), &case["messages"], &case["name"]);
    }
    for case in cases("anthropic_round_trips") {
        let context = context_of(messages_from_anthropic(&case["messages"], None).unwrap(), 0);
        let expected = json!({"system": [], "messages": case["messages"]});
        assert_same(&anthropic_messages(&context), &expected, &case["name"]);
    }
}

#[test]
fn arguments_nested_too_deeply_are_sent_as_text() {
    let deep = "[".repeat(100_000);
    for arguments in [format!("{deep}{}", "]".repeat(100_000)), deep] {
        let call = ToolCall::new("c1", "run", arguments.clone());
        let request = anthropic_messages(&context_of(vec![Message::calls([call])], 0));
        assert_eq!(
            request["messages"][1]["content"][0]["input"],
            json!({"arguments": arguments})
        );
    }
}
