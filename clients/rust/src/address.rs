//! Where a sidecar is.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::path::PathBuf;

use tonic::transport::Uri;

use crate::BuildError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Address {
    /// With its port: `localhost:7600`, `[::1]:7600`.
    Host(String),
    Unix(PathBuf),
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self, BuildError> {
        let bad = || BuildError::BadAddress(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:") {
            return unix_path(path).map(Self::Unix).ok_or_else(bad);
        }
        let uri: Uri = format!("http://{text}").parse().map_err(|_| bad())?;
        let whole = uri.authority().is_some_and(|authority| authority.as_str() == text);
        let has_port = uri.port_u16().is_some_and(|port| port > 0);
        if !whole || !has_port || text.contains('@') || !is_host(uri.host().unwrap_or_default()) {
            return Err(bad());
        }
        Ok(Self::Host(text.to_owned()))
    }

    /// Return whether the address is a unix socket or loopback.
    pub(crate) fn stays_here(&self) -> bool {
        let Self::Host(address) = self else { return true };
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// Returns the URI for gRPC. On a unix socket the name is used only to verify the certificate.
    pub(crate) fn uri(&self, tls: bool) -> Result<Uri, BuildError> {
        let authority = match self {
            Self::Host(address) => address,
            Self::Unix(_) => "localhost",
        };
        let scheme = if tls { "https" } else { "http" };
        format!("{scheme}://{authority}")
            .parse()
            .map_err(|_| BuildError::BadAddress(self.to_string()))
    }
}

/// Returns the path after `unix:`, or after `unix://` if it is absolute.
fn unix_path(text: &str) -> Option<PathBuf> {
    let path = match text.strip_prefix("//") {
        Some(path) if path.starts_with('/') => path,
        Some(_) => return None,
        None => text,
    };
    let is_there = !path.trim_matches(['/', ' ']).is_empty();
    is_there.then(|| path.into())
}

/// An IPv6 address is in brackets; no other host has colons.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.contains(['[', ']', ':']),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(address) => formatter.write_str(address),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_with_its_port_or_a_unix_socket() {
        for good in [
            "localhost:7600",
            "127.0.0.1:7600",
            "[::1]:7600",
            "memory.example:443",
            "unix:/run/memory.sock",
        ] {
            assert_eq!(Address::parse(good).unwrap().to_string(), good);
        }
        assert_eq!(
            Address::parse("unix:///run/memory.sock").unwrap(),
            Address::Unix("/run/memory.sock".into())
        );
        for bad in [
            "",
            "localhost",
            ":",
            "http://localhost:7600",
            "me@localhost:7600",
            "localhost:7600/a",
            "unix:",
            "unix:/",
            "unix:// ",
            "unix://run/memory.sock",
            "a:b",
            ":7600",
            "localhost:0",
            "localhost:99999",
            "localhost:-1",
            "::1:7600",
            "[localhost]:7600",
            "a b:7600",
        ] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn loopback_and_unix_sockets_stay_here() {
        for near in [
            "localhost:1",
            "LOCALHOST:1",
            "127.0.0.1:1",
            "127.9.8.7:1",
            "[::1]:1",
            "unix:/a",
        ] {
            assert!(Address::parse(near).unwrap().stays_here(), "{near}");
        }
        for far in [
            "192.0.2.1:1",
            "127.0.0.1.example:1",
            "localhost.example:1",
            "[2001:db8::1]:1",
            "0.0.0.0:1",
        ] {
            assert!(!Address::parse(far).unwrap().stays_here(), "{far}");
        }
    }
}
