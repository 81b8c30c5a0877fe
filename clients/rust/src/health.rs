//! gRPC's health service, as far as it takes to ask whether the sidecar serves.

use std::time::Duration;

use tonic::Code;

use crate::Error;

pub(crate) const CHECK: &str = "/grpc.health.v1.Health/Check";
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);
const SERVING: i32 = 1;

/// Request for the health of the whole server: the name of the service is empty.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HealthCheckRequest {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HealthCheckResponse {
    #[prost(int32, tag = "1")]
    status: i32,
}

impl HealthCheckResponse {
    pub(crate) fn serves(&self) -> bool {
        self.status == SERVING
    }
}

/// Returns whether another check may succeed.
pub(crate) fn is_worth_waiting(error: &Error) -> bool {
    let not_yet = matches!(
        error.details().code,
        Code::Unavailable | Code::NotFound | Code::Cancelled
    );
    not_yet && !matches!(error, Error::Closed(_))
}
