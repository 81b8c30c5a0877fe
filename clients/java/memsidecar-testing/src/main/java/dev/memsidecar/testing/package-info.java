/** Real sidecars for tests. */
package dev.memsidecar.testing;
