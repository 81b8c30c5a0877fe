/**
 * A client of memsidecar, the memory of LLM agents. Requests and answers are plain objects, errors are in `errors`.
 *
 * @packageDocumentation
 */

export type { CallOptions } from "./calls.js";
export { Client, type ClientOptions } from "./client.js";
export type { ConnectionOptions } from "./connection.js";
export * from "./conversion/anthropic.js";
export type { Context } from "./conversion/exchanges.js";
export * from "./conversion/openai.js";
export { ConversionError } from "./conversion/values.js";
export * as errors from "./errors.js";
export { MemsidecarError, type StatusCode } from "./errors.js";
export type * from "./gen/types.js";
export { newId } from "./ids.js";
export { VERSION } from "./version.js";
