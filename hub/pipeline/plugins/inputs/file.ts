/** Input file: lines of files on the hub's own machine, followed through rotation. */

import { glob, stat } from "node:fs/promises";
import { basename, isAbsolute, matchesGlob } from "node:path";
import type { Static } from "typebox";
import type { Codec } from "#hub/pipeline/plugins/codec.ts";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { fileKey, readPosition, TailedFile } from "#hub/pipeline/plugins/inputs/file/tailed-file.ts";
import { valueText } from "#proto/event.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import { list, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { DAY_MS, parseDuration } from "#proto/kit/units.ts";

/** How long a file that lost its name is still read: its writer may not have noticed yet. ms */
const NAMELESS_MS = 60_000;

/** A number (of the unit named) or a text such as "5 s". */
const duration = (description: string, fallback?: number | string) =>
  Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.String()], {
    description,
    ...(fallback !== undefined && { default: fallback }),
  });

const OPTIONS = options({
  path: list("paths of files, absolute, with * ? ** [abc] {a,b}"),
  exclude: list("names of files to ignore, with the same wildcards"),
  mode: oneOf(
    ["tail", "read"],
    "tail follows files as they grow; read reads whole files once, including .gz",
    "tail",
  ),
  start_position: oneOf(
    ["beginning", "end"],
    "where tail starts in files that exist at the first start; later files are read from their beginning",
    "end",
  ),
  codec: codecOption("codec that reads lines", "plain"),
  delimiter: text("delimiter of lines", "\n"),
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "disabled sets path and host, v1 and v8 log.file.path",
    "v8",
  ),
  stat_interval: duration("interval at which files are checked, s", 1),
  discover_interval: Type.Integer({
    default: 15,
    minimum: 1,
    description: "interval between searches for new files, in stat_intervals",
  }),
  close_older: duration("a file without writes for this time is closed until it grows, s", 3600),
  ignore_older: optional(duration("files changed longer ago are ignored until they change, s")),
  max_open_files: Type.Integer({ default: 4095, minimum: 1, description: "maximum number of open files" }),
  file_sort_by: oneOf(["last_modified", "path"], "order in which new files are read", "last_modified"),
  file_sort_direction: oneOf(["asc", "desc"], "sort direction", "asc"),
  sincedb_clean_after: duration("positions of files not read for this time are forgotten, days", 14),
  file_completed_action: withoutEffect(
    "a file that was read is remembered and kept",
    Type.Enum(["delete", "log", "log_and_delete"], { default: "log" }),
  ),
  file_completed_log_path: withoutEffect("the hub remembers which files were read"),
  sincedb_path: withoutEffect("the hub keeps positions in its state"),
  sincedb_write_interval: withoutEffect("positions are stored immediately"),
  file_chunk_size: withoutEffect("files are read in blocks of a fixed size"),
  file_chunk_count: withoutEffect("files are read in turn"),
  exit_after_read: withoutEffect("a hub keeps running; `pipeline run` reads from standard input and ends"),
  check_archive_validity: withoutEffect("an archive is checked as it is read"),
});

type Options = Static<typeof OPTIONS>;

export const fileInput = defineInput({
  name: "file",
  description: "reads lines of files on the hub's machine, through rotation",
  isShared: true,
  options: OPTIONS,
  create(values, { codec, report, resolvePath }) {
    const relative = values.path.find((path) => !isAbsolute(path));
    if (values.path.length === 0)
      report("error", "path", "there is no file to read", 'write: path => "/var/log/*.log"');
    if (relative !== undefined)
      report("error", "path", `"${relative}" isn't absolute`, "begin it with a slash");
    // Throws where the pipeline may not read files.
    for (const path of values.path) resolvePath(path);
    const makeCodec = codec(values.codec);
    return (context) => new FileInput(context, values, makeCodec);
  },
});

class FileInput implements Component {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #makeCodec: () => Codec;
  readonly #task = new BackgroundTask();
  readonly #files = new Map<string, TailedFile>();
  /** Files of mode read that are done, and when they were changed. */
  readonly #done = new Map<string, number>();

  constructor(context: InputContext, values: Options, makeCodec: () => Codec) {
    this.#context = context;
    this.#values = values;
    this.#makeCodec = makeCodec;
  }

  async start(): Promise<void> {
    await this.#forgetOld();
    this.#task.start((signal) => this.#run(signal));
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #forgetOld(): Promise<void> {
    const { state, clock } = this.#context;
    const afterMs = milliseconds(this.#values.sincedb_clean_after, DAY_MS);
    const old: string[] = [];
    for await (const [key, value] of state.entries())
      if ((readPosition(value)?.seenMs ?? 0) < clock.now() - afterMs) old.push(key);
    for (const key of old) await state.delete(key);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { discover_interval, stat_interval } = this.#values;
    const waitMs = milliseconds(stat_interval, 1000);
    for (let round = 0; !signal.aborted; round++) {
      let failure: string | null = null;
      try {
        if (round % discover_interval === 0) failure = await this.#discover(round === 0);
        for (const [key, file] of this.#files) {
          const reason = await this.#look(key, file);
          failure ??= reason;
          if (signal.aborted) break;
        }
      } catch (error) {
        failure = (error as Error).message;
      }
      if (signal.aborted) break;
      this.#context.failing(failure);
      await this.#context.clock.sleep(waitMs, signal).catch(() => undefined);
    }
    await Promise.all([...this.#files.values()].map((file) => file.close()));
  }

  /** Takes up files that are new, and notices new names of known ones. Returns why one of them couldn't be opened. */
  async #discover(isFirst: boolean): Promise<string | null> {
    const { path, exclude, file_sort_by, file_sort_direction, max_open_files } = this.#values;
    const found: { key: string; path: string; changedMs: number; size: number }[] = [];
    for await (const each of glob(path)) {
      if (exclude.some((pattern) => matchesGlob(basename(each), pattern))) continue;
      const stats = await stat(each).catch(() => undefined);
      if (stats?.isFile())
        found.push({ key: fileKey(stats), path: each, changedMs: stats.mtimeMs, size: stats.size });
    }
    found.sort((a, b) => (file_sort_by === "path" ? (a.path < b.path ? -1 : 1) : a.changedMs - b.changedMs));
    if (file_sort_direction === "desc") found.reverse();
    let failure: string | null = null;
    for (const { key, path: name, changedMs } of found) {
      const known = this.#files.get(key);
      if (known !== undefined) known.path = name;
      if (known !== undefined || this.#files.size >= max_open_files || this.#isLeftOut(key, changedMs))
        continue;
      const reason = await this.#take(key, name, isFirst);
      failure ??= reason;
    }
    return failure;
  }

  /** Takes up a file. Returns why it couldn't: the others are read anyway, and this one is tried again. */
  async #take(key: string, path: string, isFirst: boolean): Promise<string | null> {
    const { delimiter, mode, start_position } = this.#values;
    const [context, makeCodec, { signal }] = [this.#context, this.#makeCodec, this.#task];
    const isLegacy = this.#values.ecs_compatibility === "disabled";
    const file = new TailedFile({ context, makeCodec, delimiter, signal, key, path, isLegacy });
    try {
      await file.open(isFirst && mode === "tail" && start_position === "end");
      if (file.isOpen) this.#files.set(key, file);
      return null;
    } catch (error) {
      if (!signal.aborted) this.#context.log.warn({ err: error, path }, "a file can't be read");
      return `${path}: ${(error as Error).message}`;
    }
  }

  #isLeftOut(key: string, changedMs: number): boolean {
    const { ignore_older } = this.#values;
    if (this.#done.get(key) === changedMs) return true;
    return (
      ignore_older !== undefined && changedMs < this.#context.clock.now() - milliseconds(ignore_older, 1000)
    );
  }

  /** Reads on; closes what is done with. Returns why it couldn't. */
  async #look(key: string, file: TailedFile): Promise<string | null> {
    const isWhole = this.#values.mode === "read";
    try {
      const before = await stat(file.path).catch(() => undefined);
      await file.read(isWhole);
      const hasName = before !== undefined && fileKey(before) === key;
      const isQuiet = file.quietMs >= (hasName ? milliseconds(this.#values.close_older, 1000) : NAMELESS_MS);
      if (!isWhole && !isQuiet) return null;
      // A file that is found again is known by its position; until it changes it needn't be.
      if (hasName) this.#done.set(key, before.mtimeMs);
    } catch (error) {
      if (!this.#task.signal.aborted)
        this.#context.log.warn({ err: error, path: file.path }, "a file can't be read");
      await this.#close(key, file);
      return `${file.path}: ${(error as Error).message}`;
    }
    await this.#close(key, file);
    return null;
  }

  async #close(key: string, file: TailedFile): Promise<void> {
    this.#files.delete(key);
    await file.close().catch(() => undefined);
  }
}

/** Reads a number of units, or a text such as "5 s". */
function milliseconds(value: number | string, unitMs: number): number {
  return typeof value === "number" ? value * unitMs : parseDuration(valueText(value).replaceAll(" ", ""));
}
