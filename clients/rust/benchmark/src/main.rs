//! Compares the client with the bare stub: one `Add` at a time, alternating, each over its own connection.
//!
//! Given an address, prints one line of JSON with the median of each.

#[allow(clippy::pedantic)]
mod stubs;

use std::error::Error;
use std::time::{Duration, Instant};

use memsidecar_client::v1::{AddRequest, Message};
use memsidecar_client::{Client, new_id};
use tonic::transport::{Channel, Endpoint};

use stubs::memory_service_client::MemoryServiceClient;

const WARM_UP: usize = 200;
const CALLS: usize = 2_000;
const BLOCK: usize = 50;
const CONTENT_CHARACTERS: usize = 400;
const DEADLINE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("which address?")?;
    let client = Client::builder().address(&address).build()?;
    let mut stub = MemoryServiceClient::new(channel(&address)?);
    through_client(&client, WARM_UP).await?;
    through_stub(&mut stub, WARM_UP).await?;
    let (mut by_client, mut by_stub) = (Vec::new(), Vec::new());
    for _ in 0..CALLS / BLOCK {
        by_client.extend(through_client(&client, BLOCK).await?);
        by_stub.extend(through_stub(&mut stub, BLOCK).await?);
    }
    let (client_us, stub_us) = (median(by_client), median(by_stub));
    let ratio = client_us / stub_us;
    print!(r#"{{"language": "rust", "calls": {CALLS}, "#);
    println!(r#""client_us": {client_us:.1}, "stub_us": {stub_us:.1}, "ratio": {ratio:.3}}}"#);
    Ok(())
}

/// The client generates the id of each message during the call.
async fn through_client(client: &Client, calls: usize) -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut took = Vec::with_capacity(calls);
    for _ in 0..calls {
        let request = request("");
        let begin = Instant::now();
        client.add(request).await?;
        took.push(begin.elapsed());
    }
    Ok(took)
}

/// The id of each message is generated before the call.
async fn through_stub(stub: &mut MemoryServiceClient<Channel>, calls: usize) -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut took = Vec::with_capacity(calls);
    for _ in 0..calls {
        let message = request(&new_id());
        let begin = Instant::now();
        let mut request = tonic::Request::new(message);
        request.set_timeout(DEADLINE);
        stub.add(request).await?;
        took.push(begin.elapsed());
    }
    Ok(took)
}

fn request(id: &str) -> AddRequest {
    AddRequest::new("benchmark", Message::user("x".repeat(CONTENT_CHARACTERS)).with_id(id))
}

/// Opens a channel like that of the client.
fn channel(address: &str) -> Result<Channel, tonic::transport::Error> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?
        .user_agent("memsidecar-benchmark")?
        .connect_timeout(Duration::from_secs(2))
        .http2_keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(10));
    Ok(endpoint.connect_lazy())
}

fn median(mut took: Vec<Duration>) -> f64 {
    took.sort_unstable();
    took[took.len() / 2].as_secs_f64() * 1e6
}
