// A fake server that answers one RPC as a test needs it.

import {
    Server,
    ServerCredentials,
    type ServerDuplexStream,
    type ServiceError,
    type sendUnaryData,
} from "@grpc/grpc-js";

export type Stream = ServerDuplexStream<Buffer, Buffer>;

export interface FakeServer extends AsyncDisposable {
    readonly address: string;
}

/** Answers a unary call with bytes or an error. */
export function answering(rpc: string, answer: (call: number, request: Buffer) => Buffer | Partial<ServiceError>) {
    let calls = 0;
    return serving(rpc, false, ({ request }: { request: Buffer }, reply: sendUnaryData<Buffer>) => {
        calls += 1;
        const found = answer(calls, request);
        if (Buffer.isBuffer(found)) reply(null, found);
        else reply(found);
    });
}

/** Handles a stream; the handler gets the number of the stream. */
export function streaming(rpc: string, handle: (stream: Stream, number: number) => void): Promise<FakeServer> {
    let streams = 0;
    return serving(rpc, true, (stream: Stream) => {
        streams += 1;
        stream.on("error", () => {});
        handle(stream, streams);
    });
}

async function serving(rpc: string, streams: boolean, handler: unknown): Promise<FakeServer> {
    const asItIs = (bytes: Buffer): Buffer => bytes;
    const server = new Server();
    server.addService(
        {
            rpc: {
                path: `/memsidecar.v1.MemoryService/${rpc}`,
                requestStream: streams,
                responseStream: streams,
                requestSerialize: asItIs,
                requestDeserialize: asItIs,
                responseSerialize: asItIs,
                responseDeserialize: asItIs,
            },
        },
        { rpc: handler as never },
    );
    const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
            error ? reject(error) : resolve(bound),
        );
    });
    return {
        address: `127.0.0.1:${port}`,
        async [Symbol.asyncDispose]() {
            server.forceShutdown();
        },
    };
}
