//! Constructors and setters of the messages that a caller sends.
//!
//! Prost's structs are hard to fill by hand (`Some`, `into`, enumerations as numbers), so each field gets a setter that
//! takes what a caller has.

use prost_types::FieldDescriptorProto;
use prost_types::field_descriptor_proto::{Label, Type};

use crate::contract::{Contract, documentation, short};

/// Required fields of each message. A `Message` is created by its role, in `src/messages.rs`; other messages need
/// none, and start with `default()`.
const CONSTRUCTORS: &[(&str, &[&str])] = &[
    ("AddBatchRequest", &["session_id", "messages"]),
    ("AddRequest", &["session_id", "message"]),
    ("AddStreamRequest", &["session_id", "message"]),
    ("AnnotateRequest", &["session_id", "message_id"]),
    ("Artifact", &["content"]),
    ("BuildContextRequest", &["session_id"]),
    ("ClearRequest", &["session_id"]),
    ("CountRequest", &["session_id"]),
    ("DeleteArtifactRequest", &["session_id", "artifact_id"]),
    ("DeleteDocumentRequest", &["document_id"]),
    ("DeleteFactRequest", &["fact_id"]),
    ("DeleteSessionRequest", &["session_id"]),
    ("Document", &["id", "text"]),
    ("Fact", &["type", "key", "value"]),
    ("ForgetMessageRequest", &["session_id", "message_id"]),
    ("ForgetUserRequest", &["user_id"]),
    ("GetAllRequest", &["session_id"]),
    ("GetByRoleRequest", &["session_id", "role"]),
    ("GetRecentRequest", &["session_id", "n"]),
    ("GetSessionRequest", &["session_id"]),
    ("GetSummaryRequest", &["session_id"]),
    ("ImportRequest", &["record"]),
    ("ListArtifactsRequest", &["session_id"]),
    ("PruneRequest", &["session_id"]),
    ("PutArtifactRequest", &["session_id", "artifact"]),
    ("PutDocumentRequest", &["document"]),
    ("PutFactsRequest", &["facts"]),
    ("ReportUsageRequest", &["model", "estimated_tokens", "actual_tokens"]),
    ("SearchDocumentsRequest", &["query"]),
    ("SearchRequest", &["query"]),
    ("SectionBudget", &["section"]),
    ("SummarizeRequest", &["session_id"]),
    ("ToolCall", &["id", "name", "arguments_json"]),
];

pub fn module(contract: &Contract) -> String {
    let blocks = contract.sent().into_iter().map(|message| block(contract, message));
    format!(
        "use super::messages::*;\nuse prost_types::{{Struct, Timestamp, Value}};\n{}",
        blocks.collect::<String>()
    )
}

fn block(contract: &Contract, message: &str) -> String {
    let fields = contract.messages[message].field.iter();
    let settable = fields.filter(|field| is_input(contract, message, field));
    let setters: String = settable.map(|field| setter(contract, message, field)).collect();
    format!("\nimpl {message} {{{}{setters}}}\n", constructor(contract, message))
}

/// Output-only fields have no setter.
fn is_input(contract: &Contract, message: &str, field: &FieldDescriptorProto) -> bool {
    let comment = contract.comment(&format!("{message}.{}", field.name()));
    !comment.starts_with("Output only") && !comment.ends_with("Output only.")
}

fn constructor(contract: &Contract, message: &str) -> String {
    let Some((_, required)) = CONSTRUCTORS.iter().find(|(name, _)| *name == message) else {
        return String::new();
    };
    let fields: Vec<&FieldDescriptorProto> = required.iter().map(|name| contract.field(message, name)).collect();
    let parameters: Vec<String> = fields
        .iter()
        .map(|field| format!("{}: {}", identifier(field), parameter(field)))
        .collect();
    let setting: Vec<String> = fields
        .iter()
        .map(|field| format!(".with_{}({})", field.name(), identifier(field)))
        .collect();
    format!(
        "/// With what is required; the rest is the server's default.\n#[must_use]\n\
         pub fn new({}) -> Self {{ Self::default(){} }}\n\n",
        parameters.join(", "),
        setting.concat()
    )
}

fn setter(contract: &Contract, message: &str, field: &FieldDescriptorProto) -> String {
    let (name, identifier) = (field.name(), identifier(field));
    let comment = contract.comment(&format!("{message}.{name}"));
    let (place, value) = match field.oneof_index {
        Some(_) if !field.proto3_optional() => ("record".to_owned(), in_oneof(message, field)),
        _ => (identifier.clone(), value(field)),
    };
    format!(
        "{}#[must_use]\npub fn with_{name}(mut self, {identifier}: {}) -> Self {{\n\
         self.{place} = {value};\nself\n}}\n\n",
        documentation(&format!("Sets `{name}`.\n\n{comment}")),
        parameter(field)
    )
}

/// Escapes Rust keywords such as `type`.
fn identifier(field: &FieldDescriptorProto) -> String {
    if field.name() == "type" {
        "r#type".to_owned()
    } else {
        field.name().to_owned()
    }
}

/// The type of the argument of a setter.
fn parameter(field: &FieldDescriptorProto) -> String {
    let one = match (field.r#type(), short(field.type_name())) {
        (Type::String, _) => "impl Into<String>",
        (Type::Bool, _) => "bool",
        (Type::Int32, _) => "i32",
        (Type::Int64, _) => "i64",
        (Type::Double, _) => "f64",
        (Type::Float, _) => "f32",
        (Type::Message, "Struct") => "impl IntoIterator<Item = (impl Into<String>, impl Into<Value>)>",
        (Type::Message, "Timestamp") => "impl Into<Timestamp>",
        (_, name) => name,
    };
    if is_repeated(field) {
        format!("impl IntoIterator<Item = {one}>")
    } else {
        one.to_owned()
    }
}

/// The value that prost stores.
fn value(field: &FieldDescriptorProto) -> String {
    let name = identifier(field);
    match (field.r#type(), short(field.type_name())) {
        (Type::String, _) if is_repeated(field) => format!("{name}.into_iter().map(Into::into).collect()"),
        (Type::Enum, _) if is_repeated(field) => format!("{name}.into_iter().map(i32::from).collect()"),
        _ if is_repeated(field) => format!("{name}.into_iter().collect()"),
        (Type::String | Type::Enum, _) => format!("{name}.into()"),
        (Type::Message, "Struct") => format!(
            "Some(Struct {{ fields: {name}.into_iter().map(|(key, value)| (key.into(), value.into())).collect() }})"
        ),
        (Type::Message, "Timestamp") => format!("Some({name}.into())"),
        (Type::Message, _) => format!("Some({name})"),
        _ if field.proto3_optional() => format!("Some({name})"),
        _ => name,
    }
}

/// The contract has one oneof: the content of a line of an archive.
fn in_oneof(message: &str, field: &FieldDescriptorProto) -> String {
    assert_eq!(message, "ArchiveRecord", "another oneof needs its own name here");
    let (first, rest) = field.name().split_at(1);
    format!(
        "Some(archive_record::Record::{}{rest}({first}{rest}))",
        first.to_uppercase()
    )
}

fn is_repeated(field: &FieldDescriptorProto) -> bool {
    field.label() == Label::Repeated
}
