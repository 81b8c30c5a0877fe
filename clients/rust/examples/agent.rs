//! An agent with a memory: asks a model, lets it call a tool, answers, and remembers. Needs a sidecar and nothing else.
//!
//! ```sh
//! cargo run --example agent        # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600
//! ```
//!
//! The model here is pretended, so that the example runs offline; `ask_model` is where yours goes.

use std::error::Error;
use std::time::Duration;

use memsidecar_client::v1::{
    AddRequest, BuildContextRequest, BuildContextResponse, Fact, FactType, Message, PutFactsRequest,
    ReportUsageRequest, Role, Section, ToolCall,
};
use memsidecar_client::{Client, new_id};
use serde_json::{Value, json};

const MODEL: &str = "gpt-4o";
const SYSTEM_PROMPT: &str = "You answer questions about the weather.";
const WEATHER: [(&str, &str); 2] = [("Lisbon", "21 degrees and sunny"), ("Porto", "17 degrees and rain")];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// An answer of a provider: a text or tool calls, and the charged tokens.
#[derive(Default)]
struct Answer {
    text: String,
    calls: Vec<ToolCall>,
    charged_tokens: i32,
}

/// Pretends to be a model: looks for a city in all that it is shown, asks for its weather, then tells it.
fn ask_model(context: &BuildContextResponse) -> Answer {
    let charged_tokens = match context.messages.iter().map(|message| message.tokens).sum() {
        0 => context.total_tokens,
        tokens => tokens,
    };
    let says = |text: String| Answer {
        text,
        charged_tokens,
        ..Answer::default()
    };
    let Some(newest) = context.messages.last() else {
        return says(String::new());
    };
    if newest.role() == Role::Tool {
        return says(format!("It is {}.", newest.content));
    }
    let mut shown = context.messages.iter().rev();
    let found = shown.find_map(|message| WEATHER.iter().find(|(city, _)| message.content.contains(city)));
    let Some((city, _)) = found else {
        return says("Where do you live?".to_owned());
    };
    let wanted: &[&str] = if newest.content.contains(city) {
        &["remember_home", "weather"]
    } else {
        &["weather"]
    };
    let arguments = json!({"city": city}).to_string();
    let calls = wanted
        .iter()
        .map(|name| ToolCall::new(new_id(), *name, &arguments))
        .collect();
    Answer {
        calls,
        charged_tokens,
        ..Answer::default()
    }
}

struct Agent<'a> {
    memory: &'a Client,
    user_id: &'a str,
    session_id: String,
}

impl Agent<'_> {
    /// Stores each message at once, so no message is lost if the agent ends.
    async fn turn(&self, question: &str) -> Result<String> {
        self.say(Message::user(question)).await?;
        loop {
            let answer = self.think().await?;
            if answer.calls.is_empty() {
                self.say(Message::assistant(&answer.text)).await?;
                return Ok(answer.text);
            }
            self.say(Message::assistant(answer.text).with_tool_calls(answer.calls.clone()))
                .await?;
            for call in answer.calls {
                let result = self.use_tool(&call).await?;
                self.say(Message::tool_result(&call, result)).await?;
            }
        }
    }

    async fn think(&self) -> Result<Answer> {
        let request = BuildContextRequest::new(&self.session_id)
            .with_user_id(self.user_id)
            .with_model(MODEL)
            .with_max_tokens(4_000)
            .with_reserve_output_tokens(500)
            .with_system_prompt(SYSTEM_PROMPT)
            .with_tool_schemas_json(tool_schemas());
        let context = self.memory.build_context(request).await?;
        let answer = ask_model(&context);
        let estimated = context.total_tokens - reserved(&context);
        self.memory
            .report_usage(ReportUsageRequest::new(MODEL, estimated, answer.charged_tokens))
            .await?;
        Ok(answer)
    }

    async fn use_tool(&self, call: &ToolCall) -> Result<String> {
        let arguments: Value = serde_json::from_str(&call.arguments_json)?;
        let city = arguments["city"].as_str().ok_or("the model named no city")?;
        if call.name == "weather" {
            let (_, weather) = WEATHER.iter().find(|(known, _)| *known == city).ok_or("unknown city")?;
            return Ok((*weather).to_owned());
        }
        let home = Fact::new(FactType::UserProfile, "home", city);
        let request = PutFactsRequest::new([home])
            .with_user_id(self.user_id)
            .with_session_id(&self.session_id);
        self.memory.put_facts(request).await?;
        Ok("remembered".to_owned())
    }

    async fn say(&self, message: Message) -> Result<()> {
        self.memory
            .add(AddRequest::new(&self.session_id, message).with_user_id(self.user_id))
            .await?;
        Ok(())
    }
}

fn tool_schemas() -> String {
    let tools = ["weather", "remember_home"].map(|name| json!({"name": name, "parameters": {"city": "string"}}));
    json!(tools).to_string()
}

/// Kept free for the answer, so it was not sent.
fn reserved(context: &BuildContextResponse) -> i32 {
    let sections = context.receipt.iter().flat_map(|receipt| &receipt.sections);
    sections
        .filter(|section| section.section() == Section::OutputReserve)
        .map(|section| section.used_tokens)
        .sum()
}

#[tokio::main]
async fn main() -> Result<()> {
    let memory = Client::from_env()?;
    memory.wait_until_ready(Duration::from_secs(10)).await?;
    let id = new_id();
    let user = format!("ana-{}", &id[id.len() - 6..]);
    for (session, question) in [
        ("monday", "What is the weather like?"),
        ("monday", "I live in Lisbon."),
        ("tuesday", "How is the weather where I live?"),
    ] {
        let agent = Agent {
            memory: &memory,
            user_id: &user,
            session_id: format!("{user}/{session}"),
        };
        println!("{session:8} user:  {question}");
        println!("{:8} agent: {}", "", agent.turn(question).await?);
    }
    Ok(())
}
