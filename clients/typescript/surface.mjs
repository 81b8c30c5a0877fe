// What callers see, out of the contract: plain types for requests and answers, and a method for each RPC.

import { createFileRegistry } from "@bufbuild/protobuf";

/**
 * @import { DescEnum, DescField, DescFile, DescMessage, DescMethod } from "@bufbuild/protobuf"
 * @import { FileDescriptorSet } from "@bufbuild/protobuf/wkt"
 */

const PACKAGE = "memsidecar.v1";
const SERVICES = ["MemoryService", "SessionService", "KnowledgeService"];
const WIDTH = 112;
// Calls about one thing take the thing's fields as their own; its id is named after it.
/** @type {Record<string, string>} */
const THINGS = {
    AddRequest: "message",
    AddStreamRequest: "message",
    PutArtifactRequest: "artifact",
    PutDocumentRequest: "document",
};
// Of these ids the contract tells what the server makes; here the client is quicker.
const MADE_HERE = new Set(["Message.id", "StoreInteractionRequest.interaction_id", "Artifact.id"]);
/** @type {Record<string, string>} */
const WELL_KNOWN = { "google.protobuf.Struct": "JsonObject", "google.protobuf.Timestamp": "string" };
const HEADER = "// Made by generate.mjs out of the contract; do not edit.\n";

/** The contract, with its comments, and which of its messages are sent and which are received. */
export class Surface {
    /** @param {FileDescriptorSet} files */
    constructor(files) {
        const registry = createFileRegistry(files);
        this.files = [...registry.files].filter((file) => file.proto.package === PACKAGE);
        /** @type {Map<string, string>} */
        this.comments = new Map(this.files.flatMap((file) => [...commentsOf(file)]));
        this.methods = SERVICES.flatMap((name) => {
            const service = registry.getService(`${PACKAGE}.${name}`);
            return service ? service.methods : [];
        });
        /** @type {Map<string, DescMessage>} */
        this.sent = new Map();
        /** @type {Map<string, DescMessage>} */
        this.received = new Map();
        for (const method of this.methods) {
            reach(method.input, this.sent);
            reach(method.output, this.received);
        }
        this.enums = this.files.flatMap((file) => file.enums).filter((one) => one.name !== "ErrorReason");
        const fields = [...this.sent.values(), ...this.received.values()].flatMap((message) => message.fields);
        this.renamed = new Map(fields.map((field) => [field.name, field.localName]));
        for (const one of this.enums) {
            for (const value of one.values) this.renamed.set(value.name, `"${short(one, value.name)}"`);
        }
    }

    /** The comment of something, with names as they are written here. @param {string} path */
    comment(path) {
        const text = this.comments.get(path) ?? "";
        const here = MADE_HERE.has(path) ? text.replace(/server makes|made by the server/, inTheClient) : text;
        return here.replace(/(settings? )?\b[A-Za-z]\w*_\w+\b/g, (word, setting) =>
            setting ? word : (this.renamed.get(word) ?? word),
        );
    }

    /** What a request takes has a name of its own where an answer has the same message. @param {DescMessage} message */
    inputName(message) {
        return this.received.has(message.name) ? `${message.name}Input` : message.name;
    }
}

/** @param {string} words */
function inTheClient(words) {
    return words.replace("server", "client");
}

/** All messages of the contract that one holds, itself first. @param {DescMessage} message @param {Map<string, DescMessage>} found */
function reach(message, found) {
    if (message.file.proto.package !== PACKAGE || found.has(message.name)) return;
    found.set(message.name, message);
    for (const field of message.fields) {
        if (field.message) reach(field.message, found);
    }
}

/** @param {DescFile} file @returns {Generator<[string, string]>} */
function* commentsOf(file) {
    const places = new Map(
        file.proto.sourceCodeInfo?.location.map((place) => [place.path.join(), place.leadingComments]),
    );
    /** @param {number[]} path */
    const at = (...path) => plain(places.get(path.join()) ?? "");
    for (const [m, message] of file.messages.entries()) {
        yield [message.name, at(4, m)];
        for (const [f, field] of message.proto.field.entries()) yield [`${message.name}.${field.name}`, at(4, m, 2, f)];
    }
    for (const [e, one] of file.enums.entries()) {
        yield [one.name, at(5, e)];
        for (const [v, value] of one.values.entries()) yield [`${one.name}.${value.name}`, at(5, e, 2, v)];
    }
    for (const [s, service] of file.services.entries()) {
        for (const [m, method] of service.methods.entries()) yield [`${service.name}.${method.name}`, at(6, s, 2, m)];
    }
}

/** @param {string} comment */
function plain(comment) {
    return comment.replace(/^ /gm, "").trim();
}

/** "user" for ROLE_USER. @param {DescEnum} one @param {string} value */
function short(one, value) {
    return value.slice((one.sharedPrefix ?? "").length).toLowerCase();
}

/** @param {string} text @param {number} indent */
function documented(text, indent) {
    const pad = " ".repeat(indent);
    const lines = text.split("\n\n").flatMap((part, at) => [...(at ? [""] : []), ...wrapped(part, WIDTH - indent)]);
    if (lines.length <= 1) return `${pad}/** ${lines[0] ?? ""} */\n`;
    return `${pad}/**\n${lines.map((line) => `${pad} * ${line}`.trimEnd()).join("\n")}\n${pad} */\n`;
}

/** @param {string} part @param {number} width @returns {string[]} */
function wrapped(part, width) {
    /** @type {string[]} */
    const lines = [];
    let line = "";
    for (const word of part.split(/\s+/)) {
        if (line && line.length + 1 + word.length > width) {
            lines.push(line);
            line = word;
        } else {
            line = line ? `${line} ${word}` : word;
        }
    }
    return [...lines, line];
}

// -- types

/** The text of a module with all types. @param {Surface} surface */
export function typesModule(surface) {
    return [
        HEADER,
        'import type { JsonObject } from "@bufbuild/protobuf";\n',
        'export type { JsonObject, JsonValue } from "@bufbuild/protobuf";\n',
        ...surface.enums.map((one) => enumType(surface, one)),
        ...[...surface.received.values()].map((message) => answerType(surface, message)),
        ...[...surface.sent.values()].map((message) => requestType(surface, message)),
    ].join("\n");
}

/** @param {Surface} surface @param {DescEnum} one */
function enumType(surface, one) {
    const values = one.values.map(
        (value) => `- \`"${short(one, value.name)}"\`: ${surface.comment(`${one.name}.${value.name}`)}`,
    );
    const names = one.values.map((value) => `"${short(one, value.name)}"`);
    const text = [surface.comment(one.name), ...values].join("\n\n");
    return `${documented(text, 0).replace(/\n \*\n \* - /g, "\n * - ")}export type ${one.name} = ${names.join(" | ")};\n`;
}

/** @param {Surface} surface @param {DescMessage} message */
function answerType(surface, message) {
    const fields = message.fields.map((field) => {
        const mark = hasPresence(field) ? "?" : "";
        return `${documented(surface.comment(`${message.name}.${field.name}`), 4)}    ${field.localName}${mark}: ${answerOf(field)};\n`;
    });
    const comment = documented(surface.comment(message.name), 0);
    if (fields.length === 0) return `${comment}export type ${message.name} = Record<string, never>;\n`;
    return `${comment}export interface ${message.name} {\n${fields.join("")}}\n`;
}

/** @param {Surface} surface @param {DescMessage} message */
function requestType(surface, message) {
    const name = surface.inputName(message);
    return `${documented(surface.comment(message.name), 0)}export interface ${name} {\n${requestFields(surface, message)}}\n`;
}

/** @param {Surface} surface @param {DescMessage} message @returns {string} */
function requestFields(surface, message) {
    const thing = THINGS[message.name];
    return message.fields
        .map((field) => {
            if (field.message && field.name === thing) return thingFields(surface, field.message, thing);
            return requestField(surface, message, field, field.localName);
        })
        .join("");
}

/** @param {Surface} surface @param {DescMessage} message @param {string} thing */
function thingFields(surface, message, thing) {
    return message.fields
        .map((field) => requestField(surface, message, field, field.name === "id" ? `${thing}Id` : field.localName))
        .join("");
}

/** What only the server sets is not asked for. @param {Surface} surface @param {DescMessage} message @param {DescField} field @param {string} name */
function requestField(surface, message, field, name) {
    const comment = surface.comment(`${message.name}.${field.name}`);
    if (/^Output only|Output only\.$/.test(comment)) return "";
    const [mark, none] = required(comment) ? ["", ""] : ["?", " | undefined"];
    return `${documented(comment, 4)}    ${name}${mark}: ${requestOf(surface, field)}${none};\n`;
}

/** @param {string} comment */
function required(comment) {
    return /\bRequired(\.|:|, not|, 1 to)|No default: 0 is/.test(comment) && !comment.includes("except with");
}

/** Whether it can be absent, and not only empty. @param {DescField} field */
function hasPresence(field) {
    return field.fieldKind === "message" || field.oneof !== undefined || field.proto.proto3Optional;
}

/** @param {DescField} field */
function answerOf(field) {
    const item = field.message ? messageName(field.message, (message) => message.name) : scalarOf(field);
    if (field.fieldKind === "map") return `Record<string, ${item}>`;
    return field.fieldKind === "list" ? `${item}[]` : item;
}

/** @param {Surface} surface @param {DescField} field */
function requestOf(surface, field) {
    const item = field.message ? messageName(field.message, (message) => surface.inputName(message)) : scalarOf(field);
    const given = field.message?.typeName === "google.protobuf.Timestamp" ? "Date | string" : item;
    return field.fieldKind === "list" ? `readonly ${given}[]` : given;
}

/** @param {DescMessage} message @param {(message: DescMessage) => string} named */
function messageName(message, named) {
    return WELL_KNOWN[message.typeName] ?? named(message);
}

/** @param {DescField} field */
function scalarOf(field) {
    if (field.enum) return field.enum.name;
    switch (field.scalar) {
        case 9: // TYPE_STRING
            return "string";
        case 8: // TYPE_BOOL
            return "boolean";
        default:
            return "number";
    }
}

// -- methods

/** The text of a module with a class of all methods. @param {Surface} surface */
export function methodsModule(surface) {
    const services = [...new Set(surface.methods.map((method) => method.parent))];
    const used = [
        ...new Set(
            surface.methods.flatMap((method) => [requestName(surface, method), method.output.name, itemName(method)]),
        ),
    ];
    return [
        HEADER,
        'import type { Calls, CallOptions } from "../calls.js";\n',
        'import { rpc } from "../rpc.js";\n',
        ...services.map((service) => `import { ${service.name} } from "./${service.file.name}_pb.js";\n`),
        `import type { ${used.filter(Boolean).sort().join(", ")} } from "./types.js";\n\n`,
        ...surface.methods.map((method) => constantOf(surface, method)),
        "\n/** A method for each RPC. What a request leaves out has the server's default. */\n",
        "export class Methods {\n    readonly #calls: Calls;\n\n",
        "    /** @internal */\n    constructor(calls: Calls) {\n        this.#calls = calls;\n    }\n",
        ...surface.methods.flatMap((method) => [methodOf(surface, method), pagesOf(surface, method)]),
        "}\n",
    ].join("");
}

/** @param {DescMethod} method */
function constantName(method) {
    return method.name.replace(/(?<!^)(?=[A-Z])/g, "_").toUpperCase();
}

/** @param {Surface} surface @param {DescMethod} method */
function requestName(surface, method) {
    return surface.inputName(method.input);
}

/** @param {Surface} surface @param {DescMethod} method */
function constantOf(surface, method) {
    const thing = THINGS[method.input.name];
    const types = `<${requestName(surface, method)}, ${method.output.name}>`;
    const given = `${method.parent.name}.method.${method.localName}`;
    return `const ${constantName(method)} = rpc${types}(${given}${thing ? `, "${thing}"` : ""});\n`;
}

/** @param {Surface} surface @param {DescMethod} method */
function methodOf(surface, method) {
    const comment = surface.comment(`${method.parent.name}.${method.name}`);
    const [request, answer] = [requestName(surface, method), method.output.name];
    const given = `request: ${request}`;
    switch (method.methodKind) {
        case "unary":
            return written(
                comment,
                method.localName,
                given,
                `Promise<${answer}>`,
                `unary(${constantName(method)}, request, options)`,
            );
        case "server_streaming":
            return written(
                `${comment}\n\n${LAZY}`,
                method.localName,
                given,
                `AsyncGenerator<${answer}, void, undefined>`,
                `answers(${constantName(method)}, request, options)`,
            );
        default: {
            // Of AddStream, what is identified can be sent again; of the others it is up to the caller.
            const way = method.name === "AddStream" ? "replayed" : "exchanged";
            const many = `requests: Iterable<${request}> | AsyncIterable<${request}>`;
            return written(
                `${comment}\n\n${LAZY}`,
                method.localName,
                many,
                `AsyncGenerator<${answer}, void, undefined>`,
                `${way}(${constantName(method)}, requests, options)`,
            );
        }
    }
}

const LAZY =
    "Nothing is sent before the answers are read, and whoever stops reading ends it. It has no deadline but the one given here.";

/** @param {string} comment @param {string} name @param {string} parameter @param {string} answer @param {string} call */
function written(comment, name, parameter, answer, call) {
    return `\n${documented(comment, 4)}    ${name}(${parameter}, options?: CallOptions): ${answer} {\n        return this.#calls.${call};\n    }\n`;
}

/** For calls that answer in pages, one that goes through all of them. @param {Surface} surface @param {DescMethod} method */
function pagesOf(surface, method) {
    const items = itemsOf(method);
    if (!items?.message) return "";
    const comment = `Goes through all pages of \`${method.localName}\`, each asked for when it is needed. \`options\` are for each page.`;
    const given = `request: Omit<${requestName(surface, method)}, "pageToken">`;
    return written(
        comment,
        items.localName,
        given,
        `AsyncGenerator<${items.message.name}, void, undefined>`,
        `pages(${constantName(method)}, request, "${items.localName}", options)`,
    );
}

/** @param {DescMethod} method */
function itemsOf(method) {
    if (!method.output.fields.some((field) => field.name === "next_page_token")) return undefined;
    return method.output.fields.find((field) => field.fieldKind === "list" && field.message);
}

/** @param {DescMethod} method */
function itemName(method) {
    return itemsOf(method)?.message?.name ?? "";
}
