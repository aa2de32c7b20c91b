/** Reports on the files of one input: its state, its metrics, the state of single files, and messages in the agent's log. */

import type { FileState, InputContext, InputState } from "#agent/contract/input.ts";
import type { Harvester } from "#agent/harvester/harvester.ts";
import type { FileRow } from "#agent/registry/row.ts";
import { systemCode } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { systemReason } from "#proto/kit/system-reason.ts";

/** Files whose last failure is remembered. */
const FAILURES_MAX = 100;
/** A scan comes at least once in this time, however many files there are. */
const FAILURE_SHOWN_MS = 60_000;

type Context = Pick<InputContext, "id" | "log" | "metrics" | "clock">;

export class FileReport {
  readonly #context: Context;
  readonly #notices: Notices;
  /** Of files that are closed. */
  #lines = 0;
  #bytes = 0;
  #errors = 0;
  #lastError = "";
  /** By path, the oldest first. */
  readonly #failures = new Map<string, { readonly reason: string; readonly atMs: number }>();

  constructor(context: Context, notices: Notices) {
    this.#context = context;
    this.#notices = notices;
  }

  /** Returns the state of the input with these files open. */
  state(open: readonly Harvester[]): InputState {
    const state = {
      files: open.length,
      linesRead: this.#lines,
      bytesRead: this.#bytes,
      lagBytes: 0,
      openDeletedBytes: 0,
      errors: this.#errors,
      lastError: this.#lastError,
    };
    for (const harvester of open) {
      state.linesRead += harvester.linesRead;
      state.bytesRead += harvester.bytesRead;
      state.lagBytes += harvester.lagBytes - harvester.unfinishedBytes;
      if (harvester.deleted) state.openDeletedBytes += harvester.uncommittedBytes;
    }
    return state;
  }

  /** Returns why files couldn't be read recently, by their path: each scan tries them again. */
  failures(): ReadonlyMap<string, string> {
    const sinceMs = this.#context.clock.monotonic() - FAILURE_SHOWN_MS;
    return new Map(
      [...this.#failures]
        .filter(([, { atMs }]) => atMs >= sinceMs)
        .map(([path, { reason }]) => [path, reason]),
    );
  }

  /** Records that a file is about to be closed; the unread bytes of a deleted one are lost with it. */
  closes(harvester: Harvester): void {
    this.#lines += harvester.linesRead;
    this.#bytes += harvester.bytesRead;
    const { path, deleted, lagBytes } = harvester;
    if (!deleted || lagBytes === 0) return;
    const { id, log, metrics } = this.#context;
    metrics.lostBytes.inc({ input: id }, lagBytes);
    log.warn({ path, bytes: lagBytes }, "deleted file closed before its lines were shipped; they are lost");
  }

  /** The lines of a deleted file are safe only as long as it is held open; meanwhile it uses disk space. */
  deleted({ path, uncommittedBytes }: Harvester): void {
    if (uncommittedBytes === 0) return;
    this.#context.log.info(
      { path, bytes: uncommittedBytes },
      "file was deleted; it is held open until its lines are committed",
    );
  }

  /** Records a file that is gone and was not read completely: it wasn't open. */
  gone(path: string, bytes: number): void {
    const { id, log, metrics } = this.#context;
    metrics.lostBytes.inc({ input: id }, bytes);
    log.warn({ path, bytes }, "the file was deleted before its lines were read; they are lost");
  }

  lostWhileAway(bytes: number): void {
    if (bytes === 0) return;
    const { id, log, metrics } = this.#context;
    metrics.lostBytes.inc({ input: id }, bytes);
    log.warn({ bytes }, "files were removed while the agent was away, with lines in them it had not read");
  }

  rewritten({ path, row }: Harvester): void {
    const { id, log, metrics } = this.#context;
    metrics.rewritten.inc({ input: id });
    log.info(
      { path, generation: row.generation },
      "file was truncated or rewritten; reading it from its start",
    );
  }

  failed(path: string, error: unknown): void {
    const reason = reasonOf(error);
    this.#errors++;
    this.#lastError = `${path}: ${reason}`;
    this.#failures.delete(path);
    this.#failures.set(path, { reason, atMs: this.#context.clock.monotonic() });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > FAILURES_MAX && oldest !== undefined) this.#failures.delete(oldest);
    this.#context.metrics.errors.inc({ input: this.#context.id });
    this.#notices.notRead(path, reason, "warn");
  }
}

function reasonOf(error: unknown): string {
  const reason = systemReason(error);
  return systemCode(error) === "EACCES" ? `${reason}; give the agent's user the right to read it` : reason;
}

/** Notices remembered as logged. */
const REMEMBERED_MAX = 1_000;

export class Notices {
  readonly #log: Logger;
  readonly #logged = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs that `path` is not read and why, unless it was logged before. */
  notRead(path: string, reason: string, level: "info" | "warn" = "info"): void {
    const what = `${path}: ${reason}`;
    if (this.#logged.has(what)) return;
    if (this.#logged.size >= REMEMBERED_MAX) this.#logged.clear();
    this.#logged.add(what);
    this.#log[level]({ path }, `file is not read: ${reason}`);
  }
}

/**
 * Yields the files of an input that are in the registry, and those that couldn't be opened; `failures`: why files
 * couldn't be read recently, by their path.
 */
export function* fileStates(
  { id, registry }: Pick<InputContext, "id" | "registry">,
  open: Iterable<Harvester>,
  failures: ReadonlyMap<string, string>,
): Generator<FileState> {
  const harvesters = new Map([...open].map((harvester) => [harvester.key, harvester]));
  const unknown = new Map(failures);
  for (const [key, row] of registry.rows()) {
    if (row.input !== id) continue;
    const harvester = harvesters.get(key);
    unknown.delete(row.path);
    yield {
      path: row.path,
      place: harvester === undefined ? "closed" : placeOf(harvester),
      sizeBytes: Math.max(row.known, row.sent),
      sentBytes: row.sent,
      committedBytes: row.committed,
      unfinishedBytes: harvester?.unfinishedBytes ?? unfinishedOf(row),
      lastError: failures.get(row.path) ?? "",
    };
  }
  const nothing = { sizeBytes: 0, sentBytes: 0, committedBytes: 0, unfinishedBytes: 0 };
  for (const [path, lastError] of unknown) yield { path, place: "closed", ...nothing, lastError };
}

/** Returns the number of bytes after the last line end of a closed file that was read to its end. */
function unfinishedOf({ size, known, sent }: FileRow): number {
  return size === known ? Math.max(0, size - sent) : 0;
}

function placeOf({ deleted, movedAway }: Harvester): FileState["place"] {
  if (deleted) return "deleted";
  return movedAway ? "moved" : "open";
}
