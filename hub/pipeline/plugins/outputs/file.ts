/** Output file: events as lines of files, each durable before the log moves on. */

import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { dirname, posix } from "node:path";
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

/** An absolute path whose first part an event chooses: any format but a date. */
const EVENTS_FOLDER = /^\/[^/]*%\{(?![+{])/;

/** How a path begins that doesn't lie below the folder it is relative to. */
const OUTSIDE = /^(?:\/|\.\.(?:\/|$))/;

/** A part that leads to the folder above. */
const CLIMBS = /(^|\/)\.\.(\/|$)/;

export const fileOutput = defineOutput({
  name: "file",
  description: "writes each event to a file",
  options: options({
    path: text("path of the file, a format; relative to the folder `out` of path.data"),
    codec: codecOption("codec that writes events", "json_lines"),
    create_if_deleted: flag(
      "a file that isn't there is created; false: its events go to filename_failure",
      true,
    ),
    dir_mode: number("permissions of new folders, as a number; -1: the system's default", -1),
    file_mode: number("permissions of new files, as a number; -1: the system's default", -1),
    filename_failure: text(
      "file for events whose path would be outside the folder that the path begins with, within that folder",
      "_filepath_failures",
    ),
    flush_interval: withoutEffect(
      "what is written is flushed before the log moves on",
      Type.Number({ default: 2 }),
    ),
    gzip: flag("writes compressed files; each write is a separate gzip member", false),
    stale_cleanup_interval: withoutEffect(
      "at most 64 files are open, the one untouched longest is closed",
      Type.Number({ default: 10 }),
    ),
    write_behavior: Type.Enum(["append", "overwrite"], {
      default: "append",
      description: "append: existing content stays; overwrite: the file holds the last event alone",
    }),
    id: optional(text("name of this output in metrics and messages")),
  }),
  create(values, { codec, report }) {
    if (EVENTS_FOLDER.test(values.path))
      report(
        "error",
        "path",
        "the first folder of an absolute path can't be an event's choice",
        "write: /var/log/%{name}",
      );
    const encoder = codec(values.codec);
    const path = compileFormat(values.path);
    const isSafe = values.path.includes("%{") ? insideOf(rootOf(values.path)) : () => true;
    return {
      shape(event) {
        const target = path(event);
        return { target: isSafe(target) ? target : failurePath(values), body: encoder.encode(event) };
      },
    };
  },
  writer: (values, { writablePath }) => new FileWriter(writablePath, values),
});

/** Returns the folder that a path begins with, without formats; "" for the folder of relative paths. */
function rootOf(path: string): string {
  const format = path.indexOf("%{");
  const folder = path.slice(0, path.lastIndexOf("/", format < 0 ? undefined : format) + 1);
  const root = folder === "" ? "./" : posix.normalize(folder);
  return root === "./" ? "" : root;
}

/** Returns a function that tells whether a path is below a root, however its folders lead there. */
function insideOf(root: string): (path: string) => boolean {
  return (path) => {
    const way = posix.normalize(path);
    if (path.includes("\0") || way.endsWith("/") || way === ".") return false;
    // All paths lie below "/", the folder of a path whose first part is a date.
    if (root === "/" && CLIMBS.test(path)) return false;
    return way.startsWith(root) && !OUTSIDE.test(way.slice(root.length));
  };
}

function failurePath({ path, filename_failure }: Pick<FileOptions, "path" | "filename_failure">): string {
  return `${rootOf(path)}${filename_failure}`;
}

interface FileOptions {
  readonly path: string;
  readonly filename_failure: string;
  readonly create_if_deleted: boolean;
  readonly write_behavior: string;
  readonly file_mode: number;
  readonly dir_mode: number;
  readonly gzip: boolean;
}

class FileWriter implements OutputWriter {
  readonly #writablePath: (path: string) => string;
  readonly #fileMode: number | undefined;
  readonly #dirMode: number | undefined;
  readonly #isCompressed: boolean;
  readonly #isOverwritten: boolean;
  /** Where events go whose file isn't there; undefined: it is created. */
  readonly #instead: string | undefined;
  /** True: the path contains fields of events, so one that can't be a file's is an event's fault. */
  readonly #isOfEvents: boolean;
  readonly #open = new Map<string, FileHandle>();

  constructor(writablePath: (path: string) => string, options: FileOptions) {
    const { path, file_mode, dir_mode, gzip: isCompressed } = options;
    this.#isOverwritten = options.write_behavior === "overwrite";
    this.#instead = options.create_if_deleted ? undefined : failurePath(options);
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
        const path = await this.#path(target);
        const kept = this.#isOverwritten ? ofTarget.slice(-1) : ofTarget;
        const bytes = Buffer.concat(kept.map((place) => records[place]!.body));
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

  /** Returns the path that is written to for a target. Throws forbidden. */
  async #path(target: string): Promise<string> {
    const path = this.#writablePath(target);
    if (this.#instead === undefined) return path;
    const isThere = await stat(path).then(
      () => true,
      (error: unknown) => systemCode(error) !== "ENOENT",
    );
    return isThere ? path : this.#writablePath(this.#instead);
  }

  /** Appends all of `bytes`, or overwrites with them; what a failing try had written is cut off again, so that a further try repeats nothing. */
  async #append(path: string, bytes: Uint8Array): Promise<void> {
    try {
      const handle = await this.#handle(path);
      const size = this.#isOverwritten ? 0 : (await handle.stat()).size;
      try {
        if (this.#isOverwritten) await handle.truncate(0);
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
  // A path that is the same for all events waits until somebody has fixed it.
  if (isOfEvents && code !== undefined && BAD_PATHS.has(code))
    return new AppError("request_invalid", `${path.slice(0, 200)} can't be a file (${code})`, {
      cause: error,
    });
  const full = code === "ENOSPC" || code === "EDQUOT";
  return new AppError(full ? "disk_full" : "file_unreadable", `${path} can't be written (${code})`, {
    cause: error,
  });
}
