//! The methods of the client: one for each RPC, and one more for those that answer in pages.

use prost_types::MethodDescriptorProto;
use prost_types::field_descriptor_proto::Type;

use crate::contract::{Contract, PACKAGE, documentation, short, snake};

/// The services in the order of the documentation.
const SERVICES: &[&str] = &["MemoryService", "SessionService", "KnowledgeService"];
/// Writes with an idempotency key.
const IDENTIFIED: &[&str] = &["Add", "AddBatch", "PutArtifact", "StoreInteraction"];
const MADE_ID: &str = "\n\nThe client generates missing ids, so that the call is safe to retry.";
/// Calls without an idempotency key, and the consequences for retries.
const WITHOUT_ID: &[(&str, &str)] = &[
    ("ReportUsage", COUNTED),
    ("Prune", DONE_BEFORE),
    ("Clear", DONE_BEFORE),
    ("DeleteSession", GONE_BEFORE),
];
const COUNTED: &str = "\n\nIt has no idempotency key and counts each time: it is retried only if the sidecar rejected it \
                       with a\nreason, never after a broken connection.";
const DONE_BEFORE: &str = "\n\nAfter a lost response it is retried. The retry may report that nothing was left to do, \
                           because the\nfirst attempt did the work.";
const GONE_BEFORE: &str = "\n\nAfter a lost response it is retried. The retry may fail with `NotFound`, because the \
                           first attempt\ndid the work.";
const PAGES: &str = "each requested when it is needed.\n///\n/// The deadline applies to each page.";
const LAZY: &str = "\n\nNothing is sent before the responses are read. A caller that stops reading ends the stream.";
const UNTIL_FIRST: &str =
    "\n\nIt is retried until the first response. After that the caller resumes from the last `cursor`.";
const REPLAYED: &str = "\n\nAn interrupted stream resumes with the unacknowledged messages, and the client generates \
                        missing\nids, so that no message is stored twice.";
const ONCE: &str = "\n\nIt is sent once: the caller sends an interrupted stream again.";

pub fn module(contract: &Contract) -> String {
    let services = SERVICES.iter().map(|service| block(contract, service));
    format!(
        "use futures_core::Stream;\n\nuse super::messages::*;\nuse crate::{{Client, Error, ResultStream}};\n{}",
        services.collect::<String>()
    )
}

fn block(contract: &Contract, service: &str) -> String {
    let methods = contract.methods().filter(|(name, _)| *name == service);
    let written = methods.map(|(_, method)| written(contract, service, method));
    let about = contract.comment(service).split("\n\n").next().unwrap_or_default();
    format!(
        "\n{}impl Client {{\n{}}}\n",
        documentation(about),
        written.collect::<String>()
    )
}

fn written(contract: &Contract, service: &str, method: &MethodDescriptorProto) -> String {
    match (method.client_streaming(), method.server_streaming()) {
        (true, _) => both_ways(contract, service, method),
        (false, true) => answered_by_many(contract, service, method),
        (false, false) => call(contract, service, method) + &pages(contract, service, method),
    }
}

fn call(contract: &Contract, service: &str, method: &MethodDescriptorProto) -> String {
    let identified = IDENTIFIED.contains(&method.name());
    let (more, changeable, identify) = if identified {
        (MADE_ID, "mut ", "request.identify();\n")
    } else {
        (without_id(method.name()), "", "")
    };
    format!(
        "{}pub async fn {}(&self, {changeable}request: {}) -> Result<{}, Error> {{\n\
         {identify}self.call({}, request).await\n}}\n\n",
        described(contract, service, method, more),
        snake(method.name()),
        short(method.input_type()),
        short(method.output_type()),
        path(service, method),
    )
}

fn without_id(name: &str) -> &'static str {
    WITHOUT_ID
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("", |(_, more)| more)
}

fn pages(contract: &Contract, service: &str, method: &MethodDescriptorProto) -> String {
    let answer = &contract.messages[short(method.output_type())];
    if !answer.field.iter().any(|field| field.name() == "next_page_token") {
        return String::new();
    }
    let items = answer
        .field
        .iter()
        .find(|field| field.r#type() == Type::Message)
        .expect("a page has items");
    format!(
        "/// Iterates over all pages of [`{name}`](Self::{name}), {PAGES}\n\
         pub fn {items}(&self, request: {request}) -> ResultStream<{item}> {{\n\
         self.pages({path}, request, |request, token| request.page_token = token, \
         |page: {answer}| (page.{items}, page.next_page_token))\n}}\n\n",
        name = snake(method.name()),
        items = items.name(),
        request = short(method.input_type()),
        item = short(items.type_name()),
        path = path(service, method),
        answer = answer.name(),
    )
}

fn answered_by_many(contract: &Contract, service: &str, method: &MethodDescriptorProto) -> String {
    format!(
        "{}pub fn {}(&self, request: {}) -> ResultStream<{}> {{\nself.answers({}, request)\n}}\n\n",
        described(contract, service, method, &format!("{UNTIL_FIRST}{LAZY}")),
        snake(method.name()),
        short(method.input_type()),
        short(method.output_type()),
        path(service, method),
    )
}

fn both_ways(contract: &Contract, service: &str, method: &MethodDescriptorProto) -> String {
    let replayed = method.name() == "AddStream";
    let (way, more) = if replayed {
        ("replayed", REPLAYED)
    } else {
        ("exchanged", ONCE)
    };
    format!(
        "{}pub fn {}<S>(&self, requests: S) -> ResultStream<{}>\nwhere S: Stream<Item = {}> + Send + 'static {{\n\
         self.{way}({}, requests)\n}}\n\n",
        described(contract, service, method, &format!("{more}{LAZY}")),
        snake(method.name()),
        short(method.output_type()),
        short(method.input_type()),
        path(service, method),
    )
}

fn described(contract: &Contract, service: &str, method: &MethodDescriptorProto, more: &str) -> String {
    let comment = contract.comment(&format!("{service}.{}", method.name()));
    documentation(&format!("{comment}{more}"))
}

fn path(service: &str, method: &MethodDescriptorProto) -> String {
    format!("\"/{PACKAGE}.{service}/{}\"", method.name())
}
