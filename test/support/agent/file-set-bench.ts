/** A set of files on a folder of its own, for tests: scans are made by hand. */

import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TestContext as NodeTest } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { compilePattern } from "#agent/discovery/pattern.ts";
import { type Found, scan } from "#agent/discovery/scanner.ts";
import { FileSet, type FileSetOptions } from "#agent/files/file-set.ts";
import { fileKey, inodeOf } from "#agent/harvester/identity.ts";
import type { FileRow } from "#agent/registry/row.ts";
import { type TestContext, type TestContextOptions, testContext } from "./recording-output.ts";

/** Settings of an input that nobody has changed. */
export const DEFAULTS: FileSetOptions = {
  inputType: "log",
  createFormat: null,
  fieldsOf: null,
  awaitsFields: null,
  wideText: false,
  joinsRotated: false,
  reads: () => true,
  closeInactiveMs: 300_000,
  closeRemoved: false,
  closeRenamed: false,
  closeEof: false,
  deleteAfterMs: null,
  closeTimeoutMs: 0,
  ignoreOlderMs: 0,
  cleanInactiveMs: 0,
  cleanRemoved: true,
  tailFiles: false,
  archives: false,
  harvesterLimit: 0,
  maxBytes: 1_048_576,
  quietMs: 5_000,
};

/** More than the head fingerprint covers. */
export const LONG = Array.from({ length: 100 }, (_, index) => `${index} ${"x".repeat(30)}\n`).join("");

export class Bench {
  readonly logs: string;
  readonly pattern: string;
  context: TestContext;
  files: FileSet;
  /** True if scans follow symbolic links. */
  symlinks = false;
  readonly #options: FileSetOptions;

  constructor(context: TestContext, options: Partial<FileSetOptions>, pattern: string) {
    this.context = context;
    this.#options = { ...DEFAULTS, ...options };
    this.logs = join(context.folder, "logs");
    mkdirSync(this.logs, { recursive: true });
    this.pattern = join(this.logs, pattern);
    this.files = this.#open();
  }

  path(name: string): string {
    return join(this.logs, name);
  }

  /** Scans once and waits until everything there is to read is read. */
  async scan(): Promise<void> {
    await this.search();
    while (this.files.busy) await turn();
  }

  /** Scans once, and waits for nothing. */
  async search(): Promise<void> {
    const patterns = compilePattern(this.pattern);
    const onFound = (found: Found): void => this.files.take(found);
    const wasFound = (path: string): boolean => this.files.hasFound(path);
    this.files.beginScan();
    const { symlinks } = this;
    const options = {
      patterns,
      symlinks,
      exclude: () => false,
      onFolder: () => undefined,
      onFound,
      wasFound,
    };
    this.files.endScan(await scan(options, new AbortController().signal));
  }

  /** Text sent of all generations of all files, in the order of sending. */
  get text(): string {
    return Buffer.concat(this.context.output.sent.map(({ data }) => data)).toString("latin1");
  }

  /**
   * Ends as a process does, and begins again on the same folder. `heir`: name of a file that has the inode of the one
   * file that the registry knows; file systems give it to the next new file, at once or never.
   */
  async restart(heir?: string): Promise<void> {
    await this.files.stop();
    this.files.close();
    this.context = await this.context.restart();
    if (heir !== undefined) this.#passInode(heir);
    this.files = this.#open();
  }

  /** Begins again with the registry as it is. */
  async reopen(): Promise<void> {
    await this.files.stop();
    this.files.close();
    this.files = this.#open();
  }

  async dispose(): Promise<void> {
    await this.files.stop();
    this.files.close();
    await this.context.dispose();
  }

  #passInode(name: string): void {
    const { registry } = this.context;
    const [[key, row]] = [...registry.rows()] as [[string, FileRow]];
    const stat = statSync(this.path(name), { bigint: true });
    registry.delete(key);
    registry.put(`${inodeOf(fileKey(stat, true))}-${key.split("-")[2]}`, row);
  }

  #open(): FileSet {
    const files = new FileSet({ rootOf: () => this.logs, ...this.#options }, this.context);
    files.start();
    return files;
  }
}

/** Returns a bench that ends with the test `t`. */
export async function bench(
  t: NodeTest,
  options: Partial<FileSetOptions> = {},
  context: TestContextOptions = {},
  pattern = "*.log*",
): Promise<Bench> {
  const made = new Bench(await testContext(context), options, pattern);
  t.after(() => made.dispose());
  return made;
}
