import type { DescMessage } from "@bufbuild/protobuf";

/**
 * The path of a field as callers write it: "messages[3].toolCalls[0].name" for "messages[3].tool_calls[0].name". With
 * `thing`, the request has the fields of the one thing that it is about. What is not in the contract stays as it is.
 */
export function pathHere(schema: DescMessage, thing: string | undefined, path: string): string {
    const [first, second, ...rest] = namesHere(schema, path.split("."));
    if (second === undefined) return first ?? "";
    const begin = first !== thing ? [first, second] : [second === "id" ? `${thing}Id` : second];
    return [...begin, ...rest].join(".");
}

function namesHere(schema: DescMessage, steps: string[]): string[] {
    let within: DescMessage | undefined = schema;
    return steps.map((step) => {
        const name = step.replace(/\[.*/s, "");
        const field = within?.fields.find((candidate) => candidate.name === name);
        within = field?.message;
        return field ? field.localName + step.slice(name.length) : step;
    });
}
