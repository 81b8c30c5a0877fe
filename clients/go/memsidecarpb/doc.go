// Package memsidecarpb holds the messages and stubs of the contract, generated out of its protos.
//
// Package memsidecar takes and gives these messages. The stubs are below it: a caller of the stubs has no retries, no
// token and no deadline.
package memsidecarpb
