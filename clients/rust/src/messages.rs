//! Messages by who said them.

use crate::v1::{Message, Role, ToolCall};

impl Message {
    /// Instructions to the model.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self::default().with_role(Role::System).with_content(content)
    }

    /// A message of the user, a person or a program.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::default().with_role(Role::User).with_content(content)
    }

    /// A message of the model. It may be empty if there are [`tool_calls`](Self::with_tool_calls); see also
    /// [`calls`](Self::calls).
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::default().with_role(Role::Assistant).with_content(content)
    }

    /// Tool calls of the model without content. Several calls are parallel ones.
    ///
    /// ```
    /// # use memsidecar_client::v1::{Message, ToolCall};
    /// let call = ToolCall::new("call_1", "weather", r#"{"city": "Lisbon"}"#);
    /// let called = Message::calls([call.clone()]);
    /// let result = Message::tool_result(&call, "21 degrees and sunny");
    /// assert_eq!(result.tool_call_id, called.tool_calls[0].id);
    /// ```
    #[must_use]
    pub fn calls(tool_calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::default().with_role(Role::Assistant).with_tool_calls(tool_calls)
    }

    /// The result of this call. Its name is that of the tool.
    #[must_use]
    pub fn tool_result(call: &ToolCall, content: impl Into<String>) -> Self {
        Self::tool(&call.id, content).with_name(&call.name)
    }

    /// The result of the call with this id, if the call itself is not available. Set the name of the tool by
    /// [`name`](Self::with_name); [`tool_result`](Self::tool_result) sets it.
    #[must_use]
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::default()
            .with_role(Role::Tool)
            .with_tool_call_id(tool_call_id)
            .with_content(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_names_its_call_and_its_tool() {
        let call = ToolCall::new("c1", "weather", "{}");
        let result = Message::tool_result(&call, "sunny");
        assert_eq!(result, Message::tool("c1", "sunny").with_name("weather"));
        assert_eq!((result.name.as_str(), result.role()), ("weather", Role::Tool));
    }

    #[test]
    fn calls_are_the_assistants() {
        let calls = vec![ToolCall::new("c1", "weather", "{}"), ToolCall::new("c2", "time", "{}")];
        let called = Message::calls(calls.clone());
        assert_eq!(called, Message::assistant("").with_tool_calls(calls));
    }
}
