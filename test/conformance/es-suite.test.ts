/**
 * A foreign suite against the search interface: REST YAML tests of 6.5, in a folder beside the checkout (`../shared`, or
 * TAILRACE_SHARED); with TAILRACE_ES_SUITE=7.10 those of 7.10, with 6.5-modules those of 6.5's modules. `es-suite.json` (or
 * `es-suite-7.10.json`, `es-suite-6.5-modules.json`) lists the sections that fail, each with its reason. A section that fails and isn't listed is a regression; a listed one that passes makes
 * the list stale.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { suiteFile } from "./shared-suites.ts";

/** One line of the runner's report. */
interface SectionResult {
  readonly id: string;
  readonly result: "passed" | "failed" | "skipped";
  readonly why?: string;
}

/** Reason → sections that fail for it; an id that ends in `*` stands for all that begin so. */
type Expectations = Readonly<Record<string, readonly string[]>>;

/** A suite: its folder, the version that its sections are of, and the one that the hub answers as. */
interface Suite {
  readonly folder: string;
  readonly version: string;
  readonly answersAs: string;
  readonly reasons: string;
}

const SUITES: Readonly<Record<string, Suite>> = {
  "6.5": { folder: "suite", version: "6.5.4", answersAs: "6.5.4", reasons: "es-suite.json" },
  "6.5-modules": {
    folder: "suite-6.5-modules",
    version: "6.5.4",
    answersAs: "6.5.4",
    reasons: "es-suite-6.5-modules.json",
  },
  "7.10": { folder: "suite-7.10", version: "7.10.2", answersAs: "7.17.22", reasons: "es-suite-7.10.json" },
};

const RUNNER = suiteFile("es-yaml.mjs");
/** A suite takes 30 to 60 s on two cores. */
const RUN_MS = 400_000;

const { folder, version, answersAs, reasons } = SUITES[process.env["TAILRACE_ES_SUITE"] ?? "6.5"]!;
const expected = JSON.parse(readFileSync(join(import.meta.dirname, reasons), "utf8")) as Expectations;

suite("foreign suite: search interface", { skip: RUNNER.missing }, () => {
  const workspace = new Workspace();
  let hub: TestHub;
  let results: readonly SectionResult[] = [];

  before(async () => {
    hub = await startHub({
      dataDir: workspace.path("data", "hub"),
      // The suite's own cluster is started with it.
      settings: { "node.attr": { testattr: "test" }, "compat.version": answersAs },
    });
    results = await runSuite(hub.searchUrl, workspace.path("report.ndjson"));
  });
  after(async () => {
    await hub?.stop();
    await workspace.close();
  });

  test("every failing section is listed with its reason", () => {
    const surprising = results
      .filter(({ id, result }) => result === "failed" && !isListed(id))
      .map(({ id, why = "" }) => `${id}\n    ${why.split("\n")[0]}`);
    assert.deepEqual(surprising, []);
  });

  test("every listed section still fails", () => {
    const failed = results.filter(({ result }) => result === "failed").map(({ id }) => id);
    const stale = Object.values(expected)
      .flat()
      .filter((pattern) => !failed.some((id) => fits(pattern, id)));
    assert.deepEqual(stale, []);
  });

  test("the suite ran: most of its sections pass", () => {
    const passed = results.filter(({ result }) => result === "passed").length;
    assert.ok(passed > results.length / 2, `${passed} of ${results.length} passed`);
  });
});

function isListed(id: string): boolean {
  return Object.values(expected).some((patterns) => patterns.some((pattern) => fits(pattern, id)));
}

function fits(pattern: string, id: string): boolean {
  return pattern.endsWith("*") ? id.startsWith(pattern.slice(0, -1)) : pattern === id;
}

/** Runs the suite and reads its report. Rejects where it could not be run. */
function runSuite(url: string, report: string): Promise<SectionResult[]> {
  const options = ["--suite", suiteFile(folder).path, "--version", version, "--report", report];
  const args = [RUNNER.path, "--url", url, ...options];
  return new Promise((done, fail) => {
    execFile(
      process.execPath,
      args,
      { cwd: resolve(import.meta.dirname, "../.."), timeout: RUN_MS, maxBuffer: 64 << 20 },
      (error, _, stderr) => {
        // 1: sections failed, which the report tells more of.
        if (error !== null && error.code !== 1) {
          fail(new Error(`the suite could not be run: ${stderr || error.message}`));
          return;
        }
        const lines = readFileSync(report, "utf8").trim().split("\n");
        done(lines.map((line) => JSON.parse(line) as SectionResult));
      },
    );
  });
}
