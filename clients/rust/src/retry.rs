//! The retry policy.

use std::time::Duration;

use tokio::time::Instant;
use tonic::Code;

use crate::Error;

pub(crate) const ATTEMPTS: u32 = 4;
/// Waits between attempts, with a jitter of 20 %: a sidecar restarts within their sum. Further attempts use the last.
const WAITS: [Duration; 3] = [
    Duration::from_millis(400),
    Duration::from_millis(1200),
    Duration::from_millis(3600),
];
const JITTER: f64 = 0.2;
/// Calls without an idempotency key, which count each time.
const COUNTED: &[&str] = &["/memsidecar.v1.MemoryService/ReportUsage"];

/// Applies the retry policy to one call.
pub(crate) struct Attempts {
    path: &'static str,
    max: u32,
    made: u32,
    end: Option<Instant>,
}

impl Attempts {
    /// A deadline beyond the range of `Instant` is none.
    pub(crate) fn new(path: &'static str, max: u32, deadline: Option<Duration>) -> Self {
        let end = deadline.and_then(|deadline| Instant::now().checked_add(deadline));
        Self {
            path,
            max,
            made: 0,
            end,
        }
    }

    /// Returns the deadline of an attempt that starts now.
    pub(crate) fn begin(&mut self) -> Option<Instant> {
        self.made = self.made.saturating_add(1);
        self.end
    }

    /// Reset the attempts: after a response, a further failure is a new one.
    pub(crate) fn progressed(&mut self) {
        self.made = 1;
    }

    /// Returns the wait before the next attempt; the error if there is no further attempt.
    pub(crate) fn wait_after(&self, error: Error) -> Result<Duration, Error> {
        let wait = self.wait(&error);
        let in_time = self
            .end
            .is_none_or(|end| wait < end.saturating_duration_since(Instant::now()));
        if self.is_worth_another(&error) && self.made < self.max && in_time {
            Ok(wait)
        } else {
            Err(error)
        }
    }

    /// Return the delay of `RetryInfo` plus jitter, or the exponential backoff.
    fn wait(&self, error: &Error) -> Duration {
        if let Some(delay) = error.details().retry_after {
            return delay.mul_f64(1.0 + JITTER * fastrand::f64());
        }
        let wait = match self.made {
            0 | 1 => WAITS[0],
            2 => WAITS[1],
            _ => WAITS[2],
        };
        wait.mul_f64(1.0 - JITTER + 2.0 * JITTER * fastrand::f64())
    }

    /// Returns whether a retry can succeed. Writes have ids, so none is stored twice; a call without an idempotency key
    /// is retried only if the sidecar rejected it.
    fn is_worth_another(&self, error: &Error) -> bool {
        if matches!(error, Error::Closed(_)) {
            return false;
        }
        let details = error.details();
        let refused = !details.reason.is_empty() && !matches!(error, Error::JournalUnavailable(_));
        if self.counts() && !refused {
            return false;
        }
        match details.code {
            Code::Unavailable => true,
            // Status codes of a broken transport, if they come without a reason of the sidecar.
            Code::Internal | Code::Unknown | Code::Cancelled => details.reason.is_empty(),
            _ => false,
        }
    }

    fn counts(&self) -> bool {
        COUNTED.contains(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Details;

    fn unavailable(retry_after: Option<Duration>) -> Error {
        let plain = Details::plain(Code::Unavailable, String::new());
        Error::Unreachable(Box::new(Details { retry_after, ..plain }))
    }

    #[test]
    fn waits_grow_threefold_and_vary_by_a_fifth() {
        for _ in 0..200 {
            let mut attempts = Attempts::new("", ATTEMPTS, None);
            for middle in [0.4, 1.2, 3.6] {
                attempts.begin();
                let wait = attempts.wait_after(unavailable(None)).unwrap().as_secs_f64();
                assert!((middle * 0.8..=middle * 1.2).contains(&wait), "{wait}");
            }
            attempts.begin();
            assert!(attempts.wait_after(unavailable(None)).is_err(), "four times are enough");
        }
    }

    #[test]
    fn no_wait_is_longer_than_the_third() {
        let mut attempts = Attempts::new("", u32::MAX, None);
        for _ in 0..4000 {
            attempts.begin();
            let wait = attempts.wait_after(unavailable(None)).unwrap().as_secs_f64();
            assert!(wait <= 3.6 * 1.2, "{wait}");
        }
    }

    #[test]
    fn what_counts_each_time_is_sent_again_only_where_it_was_refused() {
        let plain = |code| Details::plain(code, String::new());
        let overloaded = Details {
            reason: "OVERLOADED".to_owned(),
            ..plain(Code::Unavailable)
        };
        for (error, counted) in [
            (Error::Overloaded(Box::new(overloaded)), true),
            (unavailable(None), false),
            (Error::Other(Box::new(plain(Code::Internal))), false),
            (Error::Cancelled(Box::new(plain(Code::Cancelled))), false),
        ] {
            let worth = |path| Attempts::new(path, ATTEMPTS, None).wait_after(error.clone()).is_ok();
            assert!(worth("/memsidecar.v1.MemoryService/Add"), "{error:?}");
            assert_eq!(worth("/memsidecar.v1.MemoryService/ReportUsage"), counted, "{error:?}");
        }
    }

    #[test]
    fn what_the_sidecar_says_is_waited_and_up_to_a_fifth_more() {
        let mut attempts = Attempts::new("", ATTEMPTS, None);
        attempts.begin();
        for _ in 0..200 {
            let wait = attempts.wait_after(unavailable(Some(Duration::from_secs(10)))).unwrap();
            assert!(
                (Duration::from_secs(10)..=Duration::from_secs(12)).contains(&wait),
                "{wait:?}"
            );
        }
    }

    #[test]
    fn nothing_is_waited_for_beyond_the_deadline() {
        let mut attempts = Attempts::new("", ATTEMPTS, Some(Duration::from_secs(2)));
        attempts.begin();
        assert!(attempts.wait_after(unavailable(Some(Duration::from_secs(5)))).is_err());
        assert!(attempts.wait_after(unavailable(None)).is_ok());
    }

    #[test]
    fn a_deadline_beyond_all_clocks_is_none() {
        assert!(Attempts::new("", 1, Some(Duration::MAX)).begin().is_none());
    }
}
