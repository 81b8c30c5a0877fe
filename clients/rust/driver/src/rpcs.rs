//! The client's methods by the names of their RPCs.

use base64::prelude::{BASE64_STANDARD, Engine};
use memsidecar_client::v1::{AddStreamRequest, ImportRequest};
use memsidecar_client::{Client, Error, ResultStream};
use prost::Message;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_stream::{Stream, StreamExt};

use crate::Options;
use crate::results::error_json;

/// Requests and responses are base64 of their bytes on the wire.
pub async fn call(client: &Client, rpc: &str, request: &str) -> Result<String, Error> {
    macro_rules! calls {
        ($($name:literal => $method:ident,)*) => {
            match rpc {
                $($name => client.$method(unpacked(request)).await.map(|answer| packed(&answer)),)*
                _ => panic!("there is no call {rpc}"),
            }
        };
    }
    calls! {
        "Add" => add,
        "AddBatch" => add_batch,
        "StoreInteraction" => store_interaction,
        "Annotate" => annotate,
        "GetAll" => get_all,
        "GetRecent" => get_recent,
        "GetByRole" => get_by_role,
        "Search" => search,
        "Count" => count,
        "Prune" => prune,
        "Clear" => clear,
        "BuildContext" => build_context,
        "ReportUsage" => report_usage,
        "ListSessions" => list_sessions,
        "GetSession" => get_session,
        "ListUsers" => list_users,
        "GetUsage" => get_usage,
        "SetPolicy" => set_policy,
        "DeleteSession" => delete_session,
        "ForgetMessage" => forget_message,
        "ForgetUser" => forget_user,
        "PutFacts" => put_facts,
        "ListFacts" => list_facts,
        "DeleteFact" => delete_fact,
        "PutArtifact" => put_artifact,
        "ListArtifacts" => list_artifacts,
        "DeleteArtifact" => delete_artifact,
        "PutDocument" => put_document,
        "ListDocuments" => list_documents,
        "DeleteDocument" => delete_document,
        "SearchDocuments" => search_documents,
        "GetSummary" => get_summary,
        "Summarize" => summarize,
        "GetPatterns" => get_patterns,
    }
}

pub async fn iterate(client: &Client, rpc: &str, request: &str, options: Options) -> Value {
    match rpc {
        "GetAll" => collected("items", client.messages(unpacked(request)), options).await,
        "Search" => collected("items", client.hits(unpacked(request)), options).await,
        "ListSessions" => collected("items", client.sessions(unpacked(request)), options).await,
        "ListUsers" => collected("items", client.users(unpacked(request)), options).await,
        "ListFacts" => collected("items", client.facts(unpacked(request)), options).await,
        "ListArtifacts" => collected("items", client.artifacts(unpacked(request)), options).await,
        "ListDocuments" => collected("items", client.documents(unpacked(request)), options).await,
        _ => panic!("{rpc} has no pages"),
    }
}

pub async fn stream(client: &Client, rpc: &str, requests: Vec<String>, options: Options) -> Value {
    match rpc {
        "AddStream" => {
            let answers = client.add_stream(paced::<AddStreamRequest>(requests, options));
            collected("answers", answers, options).await
        }
        "Import" => {
            let answers = client.import(paced::<ImportRequest>(requests, options));
            collected("answers", answers, options).await
        }
        "Export" => collected("answers", client.export(unpacked(&requests[0])), options).await,
        "Watch" => collected("answers", client.watch(unpacked(&requests[0])), options).await,
        _ => panic!("{rpc} is no stream"),
    }
}

fn paced<Q: Message + Default>(requests: Vec<String>, options: Options) -> impl Stream<Item = Q> {
    let pause = crate::duration(options.pause_seconds.unwrap_or_default());
    tokio_stream::iter(requests.into_iter().enumerate()).then(move |(number, request)| async move {
        if number > 0 {
            sleep(pause).await;
        }
        unpacked(&request)
    })
}

/// Collect responses until an error.
async fn collected<A: Message>(name: &str, mut answers: ResultStream<A>, options: Options) -> Value {
    let mut found = Vec::new();
    while Some(found.len()) != options.stop_after {
        match answers.try_next().await {
            Ok(Some(answer)) => found.push(packed(&answer)),
            Ok(None) => break,
            Err(error) => return json!({name: found, "error": error_json(&error)}),
        }
    }
    json!({name: found})
}

fn packed(message: &impl Message) -> String {
    BASE64_STANDARD.encode(message.encode_to_vec())
}

fn unpacked<Q: Message + Default>(text: &str) -> Q {
    let bytes = BASE64_STANDARD.decode(text).expect("requests are base64");
    Q::decode(bytes.as_slice()).expect("requests are what their RPC takes")
}
