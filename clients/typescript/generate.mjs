// Generates src/gen from the contract: node generate.mjs. With --check it writes nothing and fails if src/gen is stale.
//
// The messages are protobuf-es's (src/gen/memsidecar, src/gen/google). surface.mjs makes the API: plain types and a
// method for each RPC, with the contract's own comments.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { methodsModule, Surface, typesModule } from "./surface.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CONTRACT = join(HERE, "..", "..", "protos");
const DETAILS = join(HERE, "protos");
const GENERATED = join(HERE, "src", "gen");

/** Returns the output of a tool. @param {string} tool @param {string[]} args @param {string} [input] */
function run(tool, args, input = "") {
    const stdio = /** @type {["pipe", "pipe", "inherit"]} */ (["pipe", "pipe", "inherit"]);
    return execFileSync(join(HERE, "node_modules", ".bin", tool), args, {
        cwd: HERE,
        maxBuffer: 2 ** 26,
        stdio,
        input,
    });
}

/** @param {string} out */
function generate(out) {
    for (const input of [CONTRACT, DETAILS]) {
        run("buf", ["generate", input, "--template", "buf.gen.yaml", "--output", out]);
    }
    const described = run("buf", ["build", CONTRACT, "--as-file-descriptor-set", "-o", "-#format=binpb"]);
    const surface = new Surface(fromBinary(FileDescriptorSetSchema, described));
    for (const [name, text] of Object.entries({
        "types.ts": typesModule(surface),
        "methods.ts": methodsModule(surface),
    })) {
        // Formatted like the other files.
        writeFileSync(join(out, name), run("biome", ["format", "--stdin-file-path", name], text));
    }
}

/** @param {string} folder @returns {Map<string, string>} */
function contents(folder) {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map((entry) => join(entry.parentPath, entry.name));
    return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, "utf8")]));
}

const made = mkdtempSync(join(tmpdir(), "memsidecar-generate-"));
try {
    generate(made);
    if (process.argv.includes("--check")) {
        const [fresh, kept] = [contents(made), contents(GENERATED)];
        const names = new Set([...fresh.keys(), ...kept.keys()]);
        const stale = [...names].filter((name) => fresh.get(name) !== kept.get(name));
        if (stale.length > 0) {
            console.error(`not what the contract says: ${stale.join(", ")}. "npm run generate" makes them anew.`);
            process.exitCode = 1;
        }
    } else {
        rmSync(GENERATED, { recursive: true, force: true });
        cpSync(made, GENERATED, { recursive: true });
    }
} finally {
    rmSync(made, { recursive: true });
}
