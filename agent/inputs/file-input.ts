/** Reads the files that path patterns mean, one harvester per file; what their bytes mean is the input's. */

import { resolve } from "node:path";
import { type Static, type TObject, Type } from "typebox";
import { FileSet, type FileSetOptions } from "#agent/harvester/file-set.ts";
import { compilePattern, matchesPath, type Pattern } from "#agent/harvester/pattern.ts";
import { type ScanResult, scan, threadCpuMs } from "#agent/harvester/scanner.ts";
import { Watcher } from "#agent/harvester/watcher.ts";
import { compileExpression } from "#agent/lines/expression.ts";
import { AppError } from "#proto/kit/errors.ts";
import { parseDuration, parseSize } from "#proto/kit/units.ts";
import type { FileState, Input, InputContext, InputState } from "./input.ts";

const duration = (fallback: string | number, description: string) =>
  Type.Union([Type.String(), Type.Number()], { default: fallback, description });

/** Files that no line can be read of, and those where gzip is unpacked. */
const COMPRESSED = "\\.(gz|bz2|xz|zst|lz4|zip)$";
const OTHER_COMPRESSED = "\\.(bz2|xz|zst|lz4|zip)$";

/** Settings of inputs that read files. */
export const fileProperties = {
  paths: Type.Array(Type.String(), {
    minItems: 1,
    description:
      "Path patterns: * and ? within a name, [a-z], {a,b}, ** over folders; relative ones count from the working folder.",
  }),
  exclude_files: Type.Array(Type.String(), {
    default: [COMPRESSED],
    description: "Regular expressions; files whose path matches one are left out.",
  }),
  read_archives: Type.Boolean({
    default: false,
    description:
      "Read gzip archives too, each once: one that was made of a file already read goes on where that ended. They are unpacked under path.data, one at a time; the default of exclude_files leaves them in then.",
  }),
  symlinks: Type.Boolean({
    default: false,
    description: "Follow symbolic links; each file is read once, whatever its names.",
  }),
  scan_frequency: duration(
    "1s",
    "Time between searches for files; hints of the system come in between. Longer where a search takes long.",
  ),
  tail_files: Type.Boolean({
    default: false,
    description: "At the very first start begin existing files at their end.",
  }),
  ignore_older: duration(0, "Leave files alone that were not changed for this time; 0: none."),
  close_inactive: duration(
    "5m",
    "Close a file without news for this time, once it is read, acknowledged and committed.",
  ),
  close_removed: Type.Boolean({
    default: false,
    description:
      "Close a deleted file when it is read to its end and acknowledged, without waiting until it is committed.",
  }),
  close_renamed: Type.Boolean({
    default: false,
    description:
      "Close a file that was moved out of the patterns when it is read to its end and acknowledged.",
  }),
  close_eof: Type.Boolean({
    default: false,
    description: "Close each file when its end is reached and acknowledged.",
  }),
  close_timeout: duration(
    0,
    "Close each file after this time, read or not; what a deleted one still holds is lost. 0: never.",
  ),
  rotated_wait: duration(
    "5s",
    "Time without change after which the last line of a rotated or deleted file counts although it has no line end.",
  ),
  clean_inactive: duration(
    0,
    "Forget files not changed for this time; must be longer than ignore_older + scan_frequency. 0: never.",
  ),
  delete_after_read: Type.Boolean({
    default: false,
    description:
      "Delete a file once all of it is committed and it was not changed for delete_grace. For files that nobody writes to again.",
  }),
  delete_grace: duration("1m", "Time without change before delete_after_read deletes a file."),
  clean_removed: Type.Boolean({ default: true, description: "Forget files a minute after they are gone." }),
  harvester_limit: Type.Integer({
    minimum: 0,
    default: 0,
    description: "Files open at the same time, at most 2,000; further ones take turns. 0: 2,000.",
  }),
  max_bytes: Type.Union([Type.String(), Type.Integer()], {
    default: "1mb",
    description:
      "Longest event that stays whole, 1kb to 4mb; longer ones are split and marked, or as on_long says.",
  }),
};

export type FileSettings = Static<TObject<typeof fileProperties>>;

/** What the bytes of the files mean. */
export interface FileContent
  extends Pick<
    FileSetOptions,
    "inputType" | "createFormat" | "fieldsOf" | "awaitsFields" | "wideText" | "joinsRotated"
  > {
  /** Ends what the input has started to find fields. */
  readonly stop: () => Promise<void>;
}

const MAX_BYTES_LOWEST = 1_024;
const MAX_BYTES_HIGHEST = 4 * 1_024 * 1_024;
/** Searches may take this share of one processor, unless that would make them too rare. */
const SCAN_SHARE = 0.008;
const SCAN_WAIT_MAX_MS = 15_000;
/** Hints for paths that no scan has found yet, waiting to be looked at. */
const HINTS_MAX = 10_000;

/** Checks what the schema can't say. Throws settings_invalid. */
export function validateFileSettings(settings: FileSettings): void {
  const { ignoreOlderMs, cleanInactiveMs } = fileOptions(settings);
  const least = ignoreOlderMs + parseDuration(settings.scan_frequency);
  if (cleanInactiveMs > 0 && (ignoreOlderMs === 0 || cleanInactiveMs <= least)) {
    throw new AppError(
      "settings_invalid",
      "clean_inactive must be longer than ignore_older + scan_frequency, and ignore_older must be set; else files that are forgotten would be read again",
    );
  }
  patternsOf(settings);
  excluderOf(settings);
}

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
  readonly #told = new Set<string>();
  #hintsQueued = false;
  #task: Promise<void> | undefined;

  constructor(settings: FileSettings, content: FileContent, context: InputContext) {
    this.#context = context;
    this.#content = content;
    this.#files = new FileSet({ ...fileOptions(settings), ...content }, context);
    this.#patterns = patternsOf(settings);
    this.#exclude = excluderOf(settings);
    this.#symlinks = settings.symlinks;
    this.#scanEveryMs = parseDuration(settings.scan_frequency);
    this.#watcher = new Watcher((path) => this.#hint(path), context.log);
  }

  start(): Promise<void> {
    this.startReading();
    this.#task = this.#run();
    return Promise.resolve();
  }

  /** Reads what `scan` finds; without the searches of its own that `start` brings. */
  startReading(): void {
    this.#files.start();
  }

  /** True while a file is read or waits for its turn. */
  get busy(): boolean {
    return this.#files.busy;
  }

  /** Lets every open file look for news. */
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
        onFound: (found) => this.#files.take(found),
        wasFound: (path) => this.#files.hasFound(path),
      },
      signal,
    );
    if (signal.aborted) return result.cpuMs;
    const before = threadCpuMs();
    this.#files.endScan(result);
    this.#watcher.follow(result.folders);
    this.#tell(result);
    const cpuMs = result.cpuMs + threadCpuMs() - before;
    const { id, metrics } = this.#context;
    metrics.scans.inc({ input: id });
    metrics.scanSeconds.inc({ input: id }, cpuMs / 1_000);
    return cpuMs;
  }

  /** Ends reading and closes the files; what was sent is settled by the output. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#watcher.stop();
    await this.#task;
    await Promise.all([this.#files.stop(), this.#content.stop()]);
  }

  /** Closes the files, when the output is done with what was read. */
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
        log.error({ error }, "searching for files failed; trying on");
      }
      await clock.sleep(waitMs, signal);
    }
  }

  /** Collects hints until the end of the turn: the system sends one for each write. */
  #hint(path: string): void {
    if (this.#stop.signal.aborted || this.#hints.size >= HINTS_MAX) return;
    this.#hints.add(path);
    if (this.#hintsQueued) return;
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

  /** Says once for each path why it is left out. */
  #tell({ skipped }: ScanResult): void {
    for (const [path, reason] of skipped) {
      if (this.#told.has(path) || this.#told.size >= HINTS_MAX) continue;
      this.#told.add(path);
      this.#context.log.info({ path }, `left out: ${reason}`);
    }
  }
}

function fileOptions(settings: FileSettings): Omit<FileSetOptions, keyof FileContent> {
  const maxBytes = parseSize(settings.max_bytes);
  if (maxBytes < MAX_BYTES_LOWEST || maxBytes > MAX_BYTES_HIGHEST) {
    throw new AppError(
      "settings_invalid",
      `max_bytes must be between 1kb and 4mb, but is ${settings.max_bytes}`,
    );
  }
  return {
    closeInactiveMs: parseDuration(settings.close_inactive),
    closeRemoved: settings.close_removed,
    closeRenamed: settings.close_renamed,
    closeEof: settings.close_eof,
    deleteAfterMs: settings.delete_after_read ? parseDuration(settings.delete_grace) : null,
    closeTimeoutMs: parseDuration(settings.close_timeout),
    ignoreOlderMs: parseDuration(settings.ignore_older),
    cleanInactiveMs: parseDuration(settings.clean_inactive),
    cleanRemoved: settings.clean_removed,
    tailFiles: settings.tail_files,
    archives: settings.read_archives,
    harvesterLimit: settings.harvester_limit,
    maxBytes,
    quietMs: parseDuration(settings.rotated_wait),
  };
}

function patternsOf(settings: FileSettings): Pattern[] {
  return settings.paths.flatMap((path) => compilePattern(resolve(path)));
}

function excluderOf(settings: FileSettings): (path: string) => boolean {
  const given = settings.exclude_files;
  const isDefault = given.length === 1 && given[0] === COMPRESSED;
  const chosen = isDefault && settings.read_archives ? [OTHER_COMPRESSED] : given;
  const expressions = chosen.map((text) => compileExpression("exclude_files", text));
  return (path) => expressions.some((expression) => expression.test(path));
}
