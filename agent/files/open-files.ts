/**
 * The open files of one input: gives them turns to read, decides when each may be closed or deleted, and closes it
 * when its lines are committed.
 */

import { unlinkSync } from "node:fs";
import type { InputContext, InputState } from "#agent/contract/input.ts";
import { lstatOrNull } from "#agent/discovery/path.ts";
import type { Found } from "#agent/discovery/scanner.ts";
import type { Harvester } from "#agent/harvester/harvester.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { type CloseOptions, closeReason, mayDelete } from "./close-rules.ts";
import type { Entry } from "./file-index.ts";
import type { FileReport } from "./file-report.ts";
import { OpenLimit } from "./open-limit.ts";
import { Pump } from "./pump.ts";

export interface OpenFilesOptions extends CloseOptions {
  /** Time without change after which a file that is committed is deleted, ms; null: none is. */
  readonly deleteAfterMs: number | null;
  /** Files open at the same time; 0: no limit. */
  readonly harvesterLimit: number;
  /** Time without change after which the last line of a rotated file is sent without its end, ms. */
  readonly quietMs: number;
}

/** Maximum of openings a second that waiting files cause. */
const OPENINGS_PER_SECOND = 2_000;
/** If few files may be open, their lines still share a batch. */
const PRESSED_LEAST_MS = 100;

export class OpenFiles {
  readonly #options: OpenFilesOptions;
  readonly #context: InputContext;
  readonly #report: FileReport;
  readonly #entries = new Map<Harvester, Entry>();
  readonly #limit: OpenLimit;
  readonly #pump: Pump;

  constructor(options: OpenFilesOptions, context: InputContext, report: FileReport) {
    this.#options = options;
    this.#context = context;
    this.#report = report;
    this.#limit = new OpenLimit(options.harvesterLimit, context.clock);
    this.#pump = new Pump({
      slots: context.output.slots,
      lingerMs: context.lingerMs,
      clock: context.clock,
      isFinal: (harvester) => this.#isFinal(harvester),
      onError: (harvester, error) => report.failed(harvester.path, error),
      onRewritten: (harvester) => report.rewritten(harvester),
    });
  }

  /** True while a file is read or waits for its turn. */
  get busy(): boolean {
    return this.#pump.busy;
  }

  start(): void {
    this.#pump.start();
  }

  /** Ends reading. Files stay open until `close`, so that acknowledgements still find their rows. */
  stop(): Promise<void> {
    return this.#pump.stop();
  }

  /** Closes all files. */
  close(): void {
    for (const harvester of this.#entries.keys()) this.#close(harvester);
  }

  state(): InputState {
    return this.#report.state([...this.#entries.keys()]);
  }

  /** Files that must be closed, as the system has fewer descriptors than are open. */
  get excess(): number {
    return Math.max(0, this.#entries.size - this.#limit.systemFiles);
  }

  harvesters(): IterableIterator<Harvester> {
    return this.#entries.keys();
  }

  /** Returns true if another file may be opened. */
  hasCapacity(): boolean {
    return this.#entries.size < this.#limit.files;
  }

  /** Records that the system gave no descriptor. */
  exhausted(): void {
    this.#limit.lower(this.#entries.size);
  }

  add(harvester: Harvester, entry: Entry): void {
    entry.harvester = harvester;
    this.#entries.set(harvester, entry);
  }

  /** Makes a file check for new data. */
  wake(harvester: Harvester): void {
    this.#pump.wake(harvester);
  }

  wakeAll(): void {
    for (const harvester of this.#entries.keys()) this.#pump.wake(harvester);
  }

  /** Goes back to the committed position in all files. */
  rewind(): void {
    for (const harvester of this.#entries.keys()) {
      harvester.rewind();
      this.#pump.wake(harvester);
    }
  }

  /** Handles a file that the search did not find: moved elsewhere, or gone. */
  lookAfter(harvester: Harvester): void {
    const { deleted } = harvester;
    let changed: boolean;
    try {
      changed = harvester.observeOpen();
    } catch (error) {
      this.#report.failed(harvester.path, error);
      if (systemCode(error) === "ESTALE") this.#giveUp(harvester);
      return;
    }
    if (harvester.deleted && !deleted) this.#report.deleted(harvester);
    if (changed || (this.#isFinal(harvester) && !harvester.complete)) this.#pump.wake(harvester);
  }

  /** Closes and deletes the files that may be; closes up to `wanted` files only because others wait for descriptors. */
  closeWhatMay(wanted: number): void {
    const nowMs = this.#context.clock.monotonic();
    const { closeInactiveMs } = this.#options;
    const turnMs = Math.min(
      closeInactiveMs,
      Math.max(PRESSED_LEAST_MS, (this.#limit.files * 1_000) / OPENINGS_PER_SECOND),
    );
    let left = wanted;
    for (const harvester of this.#entries.keys()) {
      const final = this.#isFinal(harvester);
      const facts = { nowMs, final, pressedAfterMs: left > 0 ? turnMs : null };
      const reason = closeReason(harvester, this.#options, facts);
      if (mayDelete(harvester, this.#options.deleteAfterMs, nowMs)) this.#delete(harvester);
      if (reason === null) continue;
      this.#context.log.debug({ path: harvester.path, reason }, "file closed");
      this.#close(harvester);
      left--;
    }
  }

  /** Closes a file that was removed on its file server: its descriptor leads nowhere any more. */
  #giveUp(harvester: Harvester): void {
    harvester.deleted = true;
    this.#close(harvester);
  }

  /** Deletes a closed file for `delete_after_read`: the agent may have ended, or closed it, before its time. */
  deleteClosed({ key }: Entry, { path, stat }: Found): void {
    const { registry, clock, id } = this.#context;
    const { deleteAfterMs } = this.#options;
    const row = registry.get(key);
    if (deleteAfterMs === null || row?.input !== id || clock.now() - row.seenMs <= deleteAfterMs) return;
    const isRead = row.sent === stat.size && row.committed >= row.sent;
    const isUnchanged = row.size === stat.size && row.mtimeMs === stat.mtimeMs;
    if (isRead && isUnchanged && lstatOrNull(path)?.ino === stat.ino) this.#delete({ path });
  }

  #delete({ path }: Pick<Harvester, "path">): void {
    try {
      unlinkSync(path);
      this.#context.log.info({ path }, "file deleted: all of it is committed");
    } catch (error) {
      this.#report.failed(path, error);
    }
  }

  #close(harvester: Harvester): void {
    const entry = this.#entries.get(harvester);
    this.#pump.forget(harvester);
    this.#entries.delete(harvester);
    this.#report.closes(harvester);
    harvester.close();
    this.#context.registry.release(harvester.key);
    if (entry === undefined) return;
    entry.harvester = null;
    if (harvester.deleted) entry.size = 0; // its unsent bytes are reported already
  }

  /** A rotated or removed file that hasn't changed for a while: its last line is complete. */
  #isFinal(harvester: Harvester): boolean {
    const quietMs = this.#context.clock.monotonic() - harvester.activeMs;
    const isRotated = harvester.deleted || harvester.movedAway;
    return harvester.isArchive || (isRotated && quietMs > this.#options.quietMs);
  }
}
