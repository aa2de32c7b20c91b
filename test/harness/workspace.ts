/** A test's resources: a temporary folder and parts to close in reverse order. Logs of a failed test are kept. */

import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { outputWithSecrets } from "./secrets.ts";

/** Where logs of failed tests are found afterwards; not under version control. */
const ARTEFACTS = resolve(import.meta.dirname, "..", "artefacts");
/** What is worth keeping of a folder. */
const KEPT = "**/*.{log,out,json,png,conf,yml}";
/** A data folder may hold thousands of files. */
const MAX_KEPT_FILES = 200;

/** A test's context with its outcome, which its type lacks. */
type Outcome = TestContext & { readonly passed?: boolean };

export class Workspace {
  /** The folder; gone after the test. */
  readonly folder: string;
  readonly #context: Outcome | undefined;
  readonly #ends: (() => unknown)[] = [];

  /** Ends with the test `context`; without one the caller calls `close`. */
  constructor(context?: TestContext) {
    this.folder = mkdtempSync(join(tmpdir(), "tailrace-test-"));
    this.#context = context;
    context?.after(() => this.close());
  }

  /** Returns a path in the folder; the folders above it exist. */
  path(...parts: string[]): string {
    const path = join(this.folder, ...parts);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  }

  /** Runs `end` after the test, before what was deferred earlier. */
  defer(end: () => unknown): void {
    this.#ends.push(end);
  }

  /**
   * Ends everything, keeps logs where the test failed, removes the folder. Throws where a part didn't end, and where a
   * process printed a secret.
   */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let end = this.#ends.pop(); end !== undefined; end = this.#ends.pop()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    const told = outputWithSecrets(this.folder);
    if (this.#context?.passed === false || failures.length + told.length > 0) this.#keepLogs();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    if (failures.length > 0)
      throw new AggregateError(failures, `${failures.length} parts of the test did not end`);
    if (told.length > 0) throw new Error(`a secret of the test was printed to ${told.join(" and ")}`);
  }

  #keepLogs(): void {
    const name = (this.#context?.fullName ?? "unnamed").replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80);
    const target = join(ARTEFACTS, name);
    rmSync(target, { recursive: true, force: true });
    for (const path of globSync(KEPT, { cwd: this.folder }).slice(0, MAX_KEPT_FILES)) {
      cpSync(join(this.folder, path), join(target, path));
    }
    this.#context?.diagnostic(`logs kept in ${target}`);
  }
}
