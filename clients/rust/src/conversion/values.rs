//! JSON values with the path that an error names, and the text of a content in parts.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The content of a message without any text: the sidecar stores no empty one, except with tool calls.
pub(super) const EMPTY: &str = "[empty]";
/// The metadata key of a tool result that is an error; only Anthropic's format has a field for it.
pub(super) const IS_ERROR: &str = "is_error";

pub(super) type Result<T> = std::result::Result<T, ConversionError>;

/// Input that is not of the format. Nothing was converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
#[non_exhaustive]
pub struct ConversionError {
    /// The path of the wrong value, as in `messages[3].tool_calls[0].function.name`.
    pub field: String,
    /// For people; it may change.
    pub problem: String,
}

/// A value of the input. Absent fields are null.
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    path: String,
}

impl<'a> Node<'a> {
    pub(super) fn new(value: &'a Value, path: &str) -> Self {
        let path = path.to_owned();
        Self { value, path }
    }

    pub(super) fn field(&self, name: &str) -> Result<Node<'a>> {
        let object = self.value.as_object().ok_or_else(|| self.wrong("an object"))?;
        let value = object.get(name).unwrap_or(&Value::Null);
        let path = format!("{}.{name}", self.path);
        Ok(Node { value, path })
    }

    pub(super) fn items(&self) -> Result<impl Iterator<Item = Node<'a>> + use<'a, '_>> {
        let list = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        let item = |(position, value)| Node {
            value,
            path: format!("{}[{position}]", self.path),
        };
        Ok(list.iter().enumerate().map(item))
    }

    pub(super) fn text(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.wrong("a text"))
    }

    pub(super) fn optional_text(&self) -> Result<&'a str> {
        if self.value.is_null() { Ok("") } else { self.text() }
    }

    /// A text that the contract requires, as ids and names of tools.
    pub(super) fn filled_text(&self) -> Result<&'a str> {
        match self.text()? {
            "" => Err(self.error("a text is required, not an empty one")),
            text => Ok(text),
        }
    }

    pub(super) fn one_of(&self, names: &[&str]) -> Result<&'a str> {
        let text = self.text()?;
        if names.contains(&text) {
            return Ok(text);
        }
        Err(self.error(format!("\"{text}\" is none of {}", names.join(", "))))
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> ConversionError {
        ConversionError {
            field: self.path.clone(),
            problem: problem.into(),
        }
    }

    pub(super) fn wrong(&self, required: &str) -> ConversionError {
        let kind = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.error(format!("{required} is required, not {kind}"))
    }
}

/// An error if two calls of a message have the same id: a result would belong to either.
pub(super) fn check_distinct(calls: &[Node]) -> Result<()> {
    let mut seen = HashSet::new();
    for call in calls {
        let id = call.field("id")?;
        let text = id.text()?;
        if !seen.insert(text) {
            return Err(id.error(format!("\"{text}\" is the id of an earlier call of the message")));
        }
    }
    Ok(())
}

/// The text of one part. A part that cannot be stored, as an image, has its type as a placeholder.
pub(super) struct Piece {
    pub(super) text: String,
    is_placeholder: bool,
}

impl Piece {
    pub(super) fn text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_placeholder: false,
        }
    }

    pub(super) fn placeholder(kind: &str) -> Self {
        Self {
            text: format!("[{kind}]"),
            is_placeholder: true,
        }
    }
}

/// Puts each piece on its own line. Texts of a model are joined: it splits them at citations.
pub(super) fn joined(pieces: &[Piece], model: bool) -> String {
    let mut text = String::new();
    let mut after_text = false;
    for piece in pieces.iter().filter(|piece| !piece.text.is_empty()) {
        let continues = model && after_text && !piece.is_placeholder;
        if !text.is_empty() && !continues {
            text.push('\n');
        }
        text.push_str(&piece.text);
        after_text = !piece.is_placeholder;
    }
    text
}

/// The JSON object in a text; any other text becomes the value of a key.
pub(super) fn object_of(text: &str, otherwise: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        Ok(other) => Map::from_iter([(otherwise.to_owned(), other)]),
        Err(_) => Map::from_iter([(otherwise.to_owned(), Value::from(text))]),
    }
}

pub(super) fn or_empty(text: String) -> String {
    if text.is_empty() { EMPTY.to_owned() } else { text }
}
