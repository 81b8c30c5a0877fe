// Address, TLS settings and token of a connection.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIPv4, isIPv6 } from "node:net";
import { type ChannelCredentials, type ChannelOptions, credentials, Metadata } from "@grpc/grpc-js";
import { type Checks, isBoolean, isString } from "./options.js";
import { type TokenSource, tokenSource } from "./token.js";
import { VERSION } from "./version.js";

const DEFAULT_ADDRESS = "127.0.0.1:7600";

const OPTIONS: ChannelOptions = {
    // Keepalive detects a dead connection during a long call. Only during calls: servers close connections that ping
    // without calls, and the next call detects a dead idle connection.
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
    "grpc.keepalive_permit_without_calls": 0,
    // gRPC's own reconnect backoff goes up to two minutes, and its name resolution to half a minute; a sidecar restarts
    // within a second.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.dns_min_time_between_resolutions_ms": 1_000,
    // gRPC's own retries are off: the client's policy reads RetryInfo.
    "grpc.enable_retries": 0,
    // Clients of one process would share connections and their failures.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.primary_user_agent": `memsidecar-client-typescript/${VERSION}`,
};

// After two slashes a host is expected before the path.
const UNIX = /^unix:(?!\/\/[^/]).+$/;
const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^\s:/,[\]]+)):(\d{1,5})$/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Settings of a connection. Omitted ones are read from the environment. */
export interface ConnectionOptions {
    /** "host:port" or "unix:/path". Else MEMSIDECAR_ADDRESS, else 127.0.0.1:7600. */
    address?: string | undefined;
    /** The token. Default without `tokenFile`: MEMSIDECAR_TOKEN. */
    token?: string | undefined;
    /** A file with the token, read again when it changes. Default without a token: MEMSIDECAR_TOKEN_FILE. */
    tokenFile?: string | undefined;
    /**
     * Speak TLS, and trust the authorities that Node.js trusts. Files imply it. Where neither this nor any of the
     * three files is given: MEMSIDECAR_TLS ("true"), MEMSIDECAR_CA_FILE, MEMSIDECAR_CLIENT_CERTIFICATE_FILE and
     * MEMSIDECAR_CLIENT_KEY_FILE.
     */
    tls?: boolean | undefined;
    /** PEM file of the certificate authorities of the sidecar's certificate. */
    caFile?: string | undefined;
    /** PEM file of the client's certificate, for mutual TLS. */
    certificateFile?: string | undefined;
    /** The key of `certificateFile`. */
    keyFile?: string | undefined;
    /** Allows sending a token without TLS to another machine. */
    allowTokenInClear?: boolean | undefined;
}

export const CONNECTION_CHECKS: Checks<ConnectionOptions> = {
    address: isString,
    token: isString,
    tokenFile: isString,
    tls: isBoolean,
    caFile: isString,
    certificateFile: isString,
    keyFile: isString,
    allowTokenInClear: isBoolean,
};

/** Validated settings of a connection to one sidecar. */
export interface Connection {
    readonly address: string;
    readonly tls: boolean;
    readonly credentials: ChannelCredentials;
    readonly options: ChannelOptions;
    /** Metadata of a call that starts now. */
    metadata(waitForReady?: boolean): Metadata;
}

/** Throws where the parts do not go together, or a file cannot be read. */
export function connectionOf(given: ConnectionOptions): Connection {
    const address = given.address || process.env["MEMSIDECAR_ADDRESS"] || DEFAULT_ADDRESS;
    const local = staysHere(address);
    const secure = credentialsOf(tlsOf(given));
    const token = tokenOf(given);
    if (token && !secure && !local && !given.allowTokenInClear) {
        throw new TypeError(`a token would go to ${address} in the clear: use TLS, or say allowTokenInClear`);
    }
    return {
        address,
        tls: secure !== undefined,
        credentials: secure ?? credentials.createInsecure(),
        // Loopback addresses and unix sockets use no proxy, regardless of the environment.
        options: local ? { ...OPTIONS, "grpc.enable_http_proxy": 0 } : OPTIONS,
        metadata: (waitForReady = false) => metadataOf(token, waitForReady),
    };
}

/** Whether the address is a unix socket or loopback. Throws for an invalid address. */
export function staysHere(address: string): boolean {
    if (UNIX.test(address)) return true;
    const [, bracketed, bare = "", port] = HOST_AND_PORT.exec(address) ?? [];
    const wrong = !(Number(port) >= 1 && Number(port) <= 65_535) || (bracketed !== undefined && !isIPv6(bracketed));
    if (wrong) throw new TypeError(`${JSON.stringify(address)} is no address: give host:port or unix:/path`);
    if (bracketed !== undefined) return /^[0:]+:0*1$/.test(bracketed);
    return bare.toLowerCase() === "localhost" || (isIPv4(bare) && bare.startsWith("127."));
}

function metadataOf(token: TokenSource | undefined, waitForReady: boolean): Metadata {
    const metadata = new Metadata({ waitForReady });
    const shown = token?.();
    if (shown) metadata.set("authorization", `Bearer ${shown}`);
    return metadata;
}

function tokenOf(given: ConnectionOptions): TokenSource | undefined {
    if (given.token !== undefined || given.tokenFile !== undefined) return tokenSource(given.token, given.tokenFile);
    const token = process.env["MEMSIDECAR_TOKEN"]?.trim();
    return tokenSource(token, token ? undefined : process.env["MEMSIDECAR_TOKEN_FILE"]);
}

type Tls = Pick<ConnectionOptions, "tls" | "caFile" | "certificateFile" | "keyFile">;

/** The environment applies only to settings that the caller omits. */
function tlsOf(given: Tls): Tls {
    if (given.tls !== undefined || given.caFile || given.certificateFile || given.keyFile) return given;
    return {
        tls: flag("MEMSIDECAR_TLS"),
        caFile: process.env["MEMSIDECAR_CA_FILE"],
        certificateFile: process.env["MEMSIDECAR_CLIENT_CERTIFICATE_FILE"],
        keyFile: process.env["MEMSIDECAR_CLIENT_KEY_FILE"],
    };
}

function flag(name: string): boolean | undefined {
    const value = process.env[name]?.trim().toLowerCase();
    if (!value) return undefined;
    if (value !== "true" && value !== "false") throw new TypeError(`${name} is ${value}, and must be true or false`);
    return value === "true";
}

function credentialsOf({ tls, caFile, certificateFile, keyFile }: Tls): ChannelCredentials | undefined {
    const files = Boolean(caFile || certificateFile || keyFile);
    if (tls === false && files) throw new TypeError("certificates are given, and tls is false");
    if (!tls && !files) return undefined;
    if (Boolean(certificateFile) !== Boolean(keyFile)) {
        throw new TypeError("certificateFile and keyFile belong together");
    }
    return credentials.createSsl(authoritiesIn(caFile), contentOf(keyFile), contentOf(certificateFile));
}

/** Without a certificate Node.js would trust no server, and the later error would not name the cause. */
function authoritiesIn(file: string | undefined): Buffer | null {
    const content = contentOf(file);
    if (content && !content.toString("latin1").match(CERTIFICATE)?.some(isReadable)) {
        throw new TypeError(`${file} holds no certificate`);
    }
    return content;
}

function isReadable(certificate: string): boolean {
    try {
        new X509Certificate(certificate);
        return true;
    } catch {
        return false;
    }
}

function contentOf(file: string | undefined): Buffer | null {
    return file ? readFileSync(file) : null;
}
