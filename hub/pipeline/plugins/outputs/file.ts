/** Output file: events as lines of files, each durable before the log moves on. */

import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
} from "#hub/pipeline/plugins/output.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { flag, number, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const compress = promisify(gzip);

/** Files kept open; the one untouched longest is closed. */
const OPEN_FILES = 64;

/** What stands between formats in a path can't lead out of its folder. */
const CLIMBS = /(^|\/)\.\.(\/|$)/;

export const fileOutput = defineOutput({
  name: "file",
  description: "appends each event to a file",
  options: options({
    path: text("path of the file, a format; relative to the folder `out` of path.data"),
    codec: codecOption("codec that writes events", "json_lines"),
    create_if_deleted: flag("a removed file is created again; false is refused", true),
    dir_mode: number("permissions of new folders, as a number; -1: the system's default", -1),
    file_mode: number("permissions of new files, as a number; -1: the system's default", -1),
    filename_failure: text("file for events whose path would be outside the folder", "_filepath_failures"),
    flush_interval: withoutEffect(
      "what is written is flushed before the log moves on",
      Type.Number({ default: 2 }),
    ),
    gzip: flag("writes compressed files; each write is a separate gzip member", false),
    stale_cleanup_interval: withoutEffect(
      "at most 64 files are open, the one untouched longest is closed",
      Type.Number({ default: 10 }),
    ),
    write_behavior: text("append: existing content stays; overwrite is refused", "append"),
    id: optional(text("name of this output in metrics and messages")),
  }),
  create(values, { codec, report }) {
    if (!values.create_if_deleted)
      report("error", "create_if_deleted", "a file that was removed is always made anew", "leave it out");
    if (values.write_behavior !== "append")
      report("error", "write_behavior", "files are only appended to", "put a date into the path");
    const encoder = codec(values.codec);
    const path = compileFormat(values.path);
    return {
      shape(event) {
        const target = path(event);
        const safe = CLIMBS.test(target) || target.includes("\0") ? values.filename_failure : target;
        return { target: safe, body: encoder.encode(event) };
      },
    };
  },
  writer: (values, { writablePath }) => new FileWriter(writablePath, values),
});

interface FileOptions {
  readonly path: string;
  readonly file_mode: number;
  readonly dir_mode: number;
  readonly gzip: boolean;
}

class FileWriter implements OutputWriter {
  readonly #writablePath: (path: string) => string;
  readonly #fileMode: number | undefined;
  readonly #dirMode: number | undefined;
  readonly #isCompressed: boolean;
  /** True: events have a say in the path, so one that can't be a file's is an event's fault. */
  readonly #isOfEvents: boolean;
  readonly #open = new Map<string, FileHandle>();

  constructor(
    writablePath: (path: string) => string,
    { path, file_mode, dir_mode, gzip: isCompressed }: FileOptions,
  ) {
    this.#isOfEvents = path.includes("%{");
    this.#writablePath = writablePath;
    this.#fileMode = file_mode < 0 ? undefined : file_mode;
    this.#dirMode = dir_mode < 0 ? undefined : dir_mode;
    this.#isCompressed = isCompressed;
  }

  async write(records: readonly OutputRecord[]): Promise<WriteRest | undefined> {
    const refused: { place: number; reason: string }[] = [];
    const places = Map.groupBy(records.keys(), (place) => records[place]!.target);
    for (const [target, ofTarget] of places) {
      try {
        const path = this.#writablePath(target);
        const bytes = Buffer.concat(ofTarget.map((place) => records[place]!.body));
        await this.#append(path, this.#isCompressed ? await compress(bytes) : bytes);
      } catch (error) {
        if (!(error instanceof AppError) || error.retryable) throw error;
        for (const place of ofTarget) refused.push({ place, reason: error.message });
      }
    }
    return refused.length === 0 ? undefined : { refused };
  }

  async stop(): Promise<void> {
    const handles = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(handles.map((handle) => handle.close()));
  }

  /** Appends all of `bytes`; what a failing try had written is cut off again, so that a further try repeats nothing. */
  async #append(path: string, bytes: Uint8Array): Promise<void> {
    try {
      const handle = await this.#handle(path);
      const { size } = await handle.stat();
      try {
        await handle.appendFile(bytes);
        await handle.datasync();
      } catch (error) {
        await handle.truncate(size).catch(() => undefined);
        throw error;
      }
    } catch (error) {
      await this.#forget(path);
      throw fileError(path, error, this.#isOfEvents);
    }
  }

  async #handle(path: string): Promise<FileHandle> {
    const known = this.#open.get(path);
    if (known !== undefined) {
      this.#open.delete(path);
      // A file that was removed has no link left: lines written to it would be lost.
      if ((await known.stat()).nlink > 0) {
        this.#open.set(path, known);
        return known;
      }
      await known.close();
    }
    await mkdir(dirname(path), {
      recursive: true,
      ...(this.#dirMode !== undefined && { mode: this.#dirMode }),
    });
    const handle = await open(path, "a", this.#fileMode);
    this.#open.set(path, handle);
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_FILES && oldest !== undefined) await this.#forget(oldest);
    return handle;
  }

  async #forget(path: string): Promise<void> {
    const handle = this.#open.get(path);
    this.#open.delete(path);
    await handle?.close().catch(() => undefined);
  }
}

/** The path can't be a file's, however often it is tried: too long, a folder, below a file. */
const BAD_PATHS: ReadonlySet<string> = new Set([
  "ENAMETOOLONG",
  "EISDIR",
  "ENOTDIR",
  "EEXIST",
  "ELOOP",
  "EINVAL",
]);

function fileError(path: string, error: unknown, isOfEvents: boolean): AppError {
  if (error instanceof AppError) return error;
  const code = systemCode(error);
  // A path that is the same for all events waits until somebody has mended it.
  if (isOfEvents && code !== undefined && BAD_PATHS.has(code))
    return new AppError("request_invalid", `${path.slice(0, 200)} can't be a file (${code})`, {
      cause: error,
    });
  const full = code === "ENOSPC" || code === "EDQUOT";
  return new AppError(full ? "disk_full" : "file_unreadable", `${path} can't be written (${code})`, {
    cause: error,
  });
}
