// Overhead of the client: one Add at a time, through the client and through a bare stub, alternating.
//
//     node build/bench/add.js 127.0.0.1:7600

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { credentials, makeClientConstructor, type ServiceError } from "@grpc/grpc-js";
import { Client, newId } from "memsidecar-client";
import { connectionOf } from "#dist/connection.js";
import {
    type AddRequest,
    AddRequestSchema,
    type AddResponse,
    AddResponseSchema,
} from "#dist/gen/memsidecar/v1/memory_pb.js";
import { Role } from "#dist/gen/memsidecar/v1/message_pb.js";

const CALLS = 2_000;
const WARM_UP = 200;
const BLOCK = 50;
const CONTENT = "A message of four hundred characters. ".repeat(11).slice(0, 400);

type Answered = (error: ServiceError | null, answer: AddResponse) => void;
type Add = (request: AddRequest, options: { deadline: number }, answered: Answered) => void;

/** A stub as a generator for gRPC makes it. */
const MemoryStub = makeClientConstructor(
    {
        Add: {
            path: "/memsidecar.v1.MemoryService/Add",
            requestStream: false,
            responseStream: false,
            requestSerialize: (request: AddRequest) => Buffer.from(toBinary(AddRequestSchema, request)),
            requestDeserialize: (bytes: Buffer) => fromBinary(AddRequestSchema, bytes),
            responseSerialize: (answer: AddResponse) => Buffer.from(toBinary(AddResponseSchema, answer)),
            responseDeserialize: (bytes: Buffer) => fromBinary(AddResponseSchema, bytes),
        },
    },
    "memsidecar.v1.MemoryService",
);

const address = process.argv[2] ?? "127.0.0.1:7600";
const sessionId = newId();
const client = new Client({ address });
const stub = new MemoryStub(address, credentials.createInsecure(), connectionOf({ address }).options);
const add = (stub["Add"] as Add).bind(stub);
const ids = Array.from({ length: CALLS + WARM_UP }, newId);

async function byClient(): Promise<void> {
    await client.add({ sessionId, role: "user", content: CONTENT });
}

function byStub(): Promise<void> {
    const request = create(AddRequestSchema, {
        sessionId,
        message: { id: ids.pop() ?? "", role: Role.USER, content: CONTENT },
    });
    return new Promise((resolve, reject) => {
        add(request, { deadline: Date.now() + 10_000 }, (error) => (error ? reject(error) : resolve()));
    });
}

/** Returns the microseconds of each call. */
async function timed(call: () => Promise<void>, times: number): Promise<number[]> {
    const took: number[] = [];
    for (let number = 0; number < times; number += 1) {
        const begin = process.hrtime.bigint();
        await call();
        took.push(Number(process.hrtime.bigint() - begin) / 1_000);
    }
    return took;
}

function median(numbers: number[]): number {
    return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

await timed(byClient, WARM_UP);
await timed(byStub, WARM_UP);
const [clients, stubs]: [number[], number[]] = [[], []];
for (let block = 0; block < CALLS / BLOCK; block += 1) {
    clients.push(...(await timed(byClient, BLOCK)));
    stubs.push(...(await timed(byStub, BLOCK)));
}
const [clientUs, stubUs] = [median(clients), median(stubs)];
console.log(
    JSON.stringify({
        language: "typescript",
        calls: CALLS,
        client_us: Math.round(clientUs * 10) / 10,
        stub_us: Math.round(stubUs * 10) / 10,
        ratio: Math.round((clientUs / stubUs) * 1_000) / 1_000,
    }),
);
client.close();
stub.close();
