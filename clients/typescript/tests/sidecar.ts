// Starts a sidecar for a test, on a free port.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.resolve("memsidecar-client/package.json")));

export interface Sidecar {
    readonly address: string;
    readonly process: ChildProcess;
    stop(): Promise<void>;
}

/** The command is MEMSIDECAR_COMMAND, else that of the repository's venv. */
export async function startSidecar(...flags: string[]): Promise<Sidecar> {
    const [program = "", ...given] = commandLine();
    const folder = await mkdtemp(join(tmpdir(), "memsidecar-test-"));
    const listening = ["--listen", "127.0.0.1:0", "--health-listen", "", "--http-listen", "", "--data-dir", folder];
    const quick = ["--index", "off", "--log-level", "warning"];
    const child = spawn(program, [...given, "serve", ...listening, ...quick, ...flags], {
        stdio: ["ignore", "pipe", "inherit"],
        // Variables of the tests would be read as settings.
        env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MEMSIDECAR_"))),
    });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const address = await readyAddress(child);
    return {
        address,
        process: child,
        async stop() {
            child.kill();
            await ended;
            await rm(folder, { recursive: true });
        },
    };
}

function commandLine(): string[] {
    const given = process.env["MEMSIDECAR_COMMAND"];
    if (given) return given.split(" ");
    const found = join(REPOSITORY, ".venv", "bin", "memsidecar");
    if (!existsSync(found)) throw new Error(`there is no ${found}: run "make setup", or set MEMSIDECAR_COMMAND`);
    return [found];
}

/** The sidecar prints one line when it is serving. */
function readyAddress(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
        child.once("error", reject);
        child.once("exit", (code) => reject(new Error(`the sidecar ended with ${code} before it was ready`)));
        if (!child.stdout) throw new Error("the sidecar has no output");
        createInterface({ input: child.stdout }).once("line", (line) => {
            resolve((JSON.parse(line) as { listen: string }).listen);
        });
    });
}
