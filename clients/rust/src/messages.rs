//! Messages by who said them.

use crate::v1::{Message, Role};

impl Message {
    /// Instructions to the model.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self::default().with_role(Role::System).with_content(content)
    }

    /// What the person said, or whatever stands in for one.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::default().with_role(Role::User).with_content(content)
    }

    /// What the model said. It may be empty where there are [`tool_calls`](Self::with_tool_calls).
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::default().with_role(Role::Assistant).with_content(content)
    }

    /// What a tool gave back for the call of this id.
    #[must_use]
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::default()
            .with_role(Role::Tool)
            .with_tool_call_id(tool_call_id)
            .with_content(content)
    }
}
