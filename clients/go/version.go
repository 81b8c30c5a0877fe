package memsidecar

// Version is the version of this client. The sidecar's log shows it, as part of the user agent.
const Version = "0.1.0"
