/** Reads the files that match path patterns, one harvester per file. The input decides how bytes become events. */

import type { FileState, Input, InputContext, InputState } from "#agent/contract/input.ts";
import { matchesPath, type Pattern, rootOf } from "#agent/discovery/pattern.ts";
import { type ScanResult, scan } from "#agent/discovery/scanner.ts";
import { Watcher } from "#agent/discovery/watcher.ts";
import { FileSet, type FileSetOptions } from "#agent/files/file-set.ts";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { parseDuration } from "#proto/kit/units.ts";
import {
  type ContentOption,
  excluderOf,
  type FileSettings,
  fileOptions,
  patternsOf,
} from "./file-settings.ts";

/** How the bytes of the files become events. */
export interface FileContent extends Pick<FileSetOptions, ContentOption> {
  /** Stops requests for fields that the input has started. */
  readonly stop: () => Promise<void>;
}

/** Searches may take this share of one processor, unless that would make them too rare. */
const SCAN_SHARE = 0.008;
const SCAN_WAIT_MAX_MS = 15_000;
/** Hints for paths that no scan has found yet and that must be examined. */
const HINTS_MAX = 10_000;

export class FileInput implements Input {
  readonly #context: InputContext;
  readonly #content: FileContent;
  readonly #files: FileSet;
  readonly #patterns: Pattern[];
  readonly #exclude: (path: string) => boolean;
  readonly #symlinks: boolean;
  readonly #scanEveryMs: number;
  readonly #watcher: Watcher;
  readonly #stop = new AbortController();
  readonly #hints = new Set<string>();
  readonly #logged = new Set<string>();
  #hintsQueued = false;
  /** True after the first scan. Hints wait for it: only this scan decides which files existed before the start. */
  #isSearched = false;
  #task: Promise<void> | undefined;

  constructor(settings: FileSettings, content: FileContent, context: InputContext) {
    this.#context = context;
    this.#content = content;
    const patterns = patternsOf(settings);
    this.#exclude = excluderOf(settings);
    const reads = (path: string): boolean => matchesPath(patterns, path) && !this.#exclude(path);
    const links = settings.symlinks ? {} : { rootOf: (path: string) => rootOf(patterns, path) };
    this.#files = new FileSet({ ...fileOptions(settings), ...content, ...links, reads }, context);
    this.#patterns = patterns;
    this.#symlinks = settings.symlinks;
    this.#scanEveryMs = parseDuration(settings.scan_frequency);
    this.#watcher = new Watcher((path) => this.#hint(path), context.log);
  }

  start(): Promise<void> {
    this.startReading();
    this.#task = this.#run();
    return Promise.resolve();
  }

  /** Reads the files that `scan` finds; unlike `start`, begins no searches of its own. */
  startReading(): void {
    this.#files.start();
  }

  /** True while a file is read or waits for its turn. */
  get busy(): boolean {
    return this.#files.busy;
  }

  /** Makes every open file check for new data. */
  wakeAll(): void {
    this.#files.wakeAll();
  }

  /** Searches for files once; returns the processor time it took, ms. */
  async scan(): Promise<number> {
    const { signal } = this.#stop;
    this.#files.beginScan();
    const result = await scan(
      {
        patterns: this.#patterns,
        symlinks: this.#symlinks,
        exclude: this.#exclude,
        onFolder: (folder) => this.#watcher.add(folder),
        onFound: (found) => this.#files.take(found),
        wasFound: (path) => this.#files.hasFound(path),
      },
      signal,
    );
    if (signal.aborted) return result.cpuMs;
    const before = threadCpuMs();
    this.#files.endScan(result);
    this.#watcher.keep(result.folders);
    this.#isSearched = true;
    this.#queueHints();
    this.#logSkipped(result);
    const cpuMs = result.cpuMs + threadCpuMs() - before;
    const { id, metrics } = this.#context;
    metrics.scans.inc({ input: id });
    metrics.scanSeconds.inc({ input: id }, cpuMs / 1_000);
    return cpuMs;
  }

  /** Ends reading and closes the files; the output settles sent batches. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#watcher.stop();
    await this.#task;
    await Promise.all([this.#files.stop(), this.#content.stop()]);
  }

  /** Closes the files after the output has finished with the read bytes. */
  release(): void {
    this.#files.close();
  }

  rewind(): void {
    this.#files.rewind();
  }

  state(): InputState {
    return this.#files.state();
  }

  files(): Iterable<FileState> {
    return this.#files.files();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#context;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let waitMs = this.#scanEveryMs;
      try {
        waitMs = Math.max(waitMs, Math.min((await this.scan()) / SCAN_SHARE, SCAN_WAIT_MAX_MS));
      } catch (error) {
        log.error({ error }, "searching for files failed; retrying");
      }
      await clock.sleep(waitMs, signal);
    }
  }

  /** Collects hints until the end of the turn: the system sends one for each write. */
  #hint(path: string): void {
    if (this.#stop.signal.aborted || this.#hints.size >= HINTS_MAX) return;
    this.#hints.add(path);
    this.#queueHints();
  }

  #queueHints(): void {
    if (this.#hintsQueued || !this.#isSearched || this.#hints.size === 0) return;
    this.#hintsQueued = true;
    setImmediate(() => this.#follow());
  }

  #follow(): void {
    this.#hintsQueued = false;
    for (const path of this.#hints) {
      if (this.#stop.signal.aborted) break;
      if (path.includes("\ufffd") || !matchesPath(this.#patterns, path) || this.#exclude(path)) continue;
      this.#files.look(path, this.#symlinks);
    }
    this.#hints.clear();
  }

  /** Logs once for each path why it is left out. */
  #logSkipped({ skipped }: ScanResult): void {
    for (const [path, reason] of skipped) {
      if (this.#logged.has(path) || this.#logged.size >= HINTS_MAX) continue;
      this.#logged.add(path);
      this.#context.log.info({ path }, `left out: ${reason}`);
    }
  }
}
