/**
 * Clients of other languages as their registries have them, each against a hub of the version that it expects. The programs
 * are beside this file; `bash test/tools.sh clients` installs the clients. A program prints a line of JSON per check.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";

interface Check {
  readonly check: string;
  readonly error?: string;
}

interface ClientProgram {
  /** Folder or file below the cache that the client is in. */
  readonly installed: string;
  readonly compatVersion: string;
  /** Checks that the program makes at least: it ended early where there are fewer. */
  readonly checks: number;
  readonly command: (url: string) => readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

const CACHE = resolve(import.meta.dirname, "../../../.cache/clients");
const PYTHON = join(import.meta.dirname, "python/exercise.py");
/** A program takes 2 to 6 s on an idle machine. */
const RUN_MS = 120_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

const PROGRAMS: Readonly<Record<string, ClientProgram>> = {
  "elasticsearch-py 6.8": python("elasticsearch-6", "elasticsearch", "6.8.23", 18),
  "elasticsearch-py 7.17": python("elasticsearch-7", "elasticsearch", "7.17.22", 25),
  "elasticsearch-py 8": python("elasticsearch-8", "elasticsearch", "8.19.3", 25),
  "elasticsearch-py 9": python("elasticsearch-9", "elasticsearch", "8.19.3", 25),
  "opensearch-py 3": python("opensearch-3", "opensearchpy", "7.10.2", 21),
  "Java high-level client 6.8": java("high-level-6", "HighLevel", "6.8.23", 74),
  "Java high-level client 7.17": java("high-level-7", "HighLevel", "7.17.22", 79),
  "Java API client 8": java("api-8", "ApiClient", "8.19.3", 238),
  "go-elasticsearch 7": {
    installed: "go/client7",
    compatVersion: "7.17.22",
    checks: 11,
    command: (url) => [join(CACHE, "go/client7"), url],
  },
  "go-elasticsearch 8": {
    installed: "go/client8",
    compatVersion: "8.19.3",
    checks: 16,
    command: (url) => [join(CACHE, "go/client8"), url],
  },
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  const isMissing = !existsSync(join(CACHE, program.installed));
  const skip = isMissing && `${name} isn't installed: bash test/tools.sh clients`;
  suite(`${name} with compat.version ${program.compatVersion}`, { skip }, () => {
    const workspace = new Workspace();
    let hub: TestHub;
    before(async () => {
      hub = await startHub({
        dataDir: workspace.path("data", "hub"),
        settings: { "compat.version": program.compatVersion },
      });
    });
    after(async () => {
      await hub?.stop();
      await workspace.close();
    });

    test("every call gets an answer that the client can read", async () => {
      const checks = await runProgram(program, hub.searchUrl);
      const failed = checks.filter(({ error }) => error !== undefined);
      assert.deepEqual(failed, []);
      assert.ok(checks.length >= program.checks, `${checks.length} checks`);
    });
  });
}

async function runProgram({ command, env = {} }: ClientProgram, url: string): Promise<Check[]> {
  const [file = "", ...args] = command(url);
  const options = { timeout: RUN_MS, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)(file, args, options);
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Check);
}

function python(folder: string, module: string, compatVersion: string, checks: number): ClientProgram {
  return {
    installed: `python/${folder}`,
    compatVersion,
    checks,
    command: (url) => ["python3", "-B", "-s", PYTHON, module, url],
    env: { PYTHONPATH: join(CACHE, "python", folder) },
  };
}

function java(folder: string, main: string, compatVersion: string, checks: number): ClientProgram {
  const classes = join(CACHE, "java", folder, "classes");
  const jars = join(CACHE, "java", folder, "jars", "*");
  return {
    installed: `java/${folder}/classes`,
    compatVersion,
    checks,
    // Started once for a few seconds: the first compiler and the smallest collector do.
    command: (url) => [
      "java",
      "-XX:TieredStopAtLevel=1",
      "-XX:+UseSerialGC",
      "-cp",
      `${classes}:${jars}`,
      main,
      url,
    ],
  };
}
