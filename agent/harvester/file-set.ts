/**
 * The files of one input: which are known, which are open, when one is opened and when it may be closed.
 * A file is closed only when what was read of it is safe; a deleted one is held open until then.
 */

import { unlinkSync } from "node:fs";
import type { FileState, InputContext, InputState } from "#agent/inputs/input.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { type CloseOptions, closeReason, mayDelete } from "./close-policy.ts";
import { type Entry, FileIndex, isFile, newEntry } from "./file-index.ts";
import { FileOpener, type FileOpenerOptions, inodeOf } from "./file-opener.ts";
import { FileReport } from "./file-report.ts";
import { fileStates } from "./file-states.ts";
import type { Harvester } from "./harvester.ts";
import { inodeKey } from "./identity.ts";
import { Notices } from "./notices.ts";
import { Oblivion } from "./oblivion.ts";
import { OpenLimit } from "./open-limit.ts";
import { adoptOrphans } from "./orphans.ts";
import { Pump } from "./pump.ts";
import { type Found, isExhaustion, type ScanResult } from "./scanner.ts";
import { lstatOrNull, statOrNull } from "./stats.ts";
import { Succession } from "./succession.ts";

export interface FileSetOptions
  extends CloseOptions,
    Omit<FileOpenerOptions, "succession" | "isPresent" | "index"> {
  /** 0: never. */
  readonly cleanInactiveMs: number;
  readonly cleanRemoved: boolean;
  /** Time without change after which a file that is committed is deleted, ms; null: none is. */
  readonly deleteAfterMs: number | null;
  /** Files open at the same time; 0: no limit. */
  readonly harvesterLimit: number;
  /** True where an event may begin in a rotated file and end in its successor. */
  readonly joinsRotated: boolean;
  /** Time without change after which the last line of a rotated file is taken as it is, ms. */
  readonly quietMs: number;
}

export class FileSet {
  readonly #options: FileSetOptions;
  readonly #context: InputContext;
  readonly #report: FileReport;
  readonly #opener: FileOpener;
  readonly #succession: Succession | null;
  readonly #pump: Pump;
  readonly #oblivion: Oblivion;
  readonly #index = new FileIndex();
  readonly #open = new Map<Harvester, Entry>();
  readonly #limit: OpenLimit;
  /** Number of the scan under way or of the last one, and of the last one that ended. */
  #scan = 0;
  #scanEnded = 0;
  #orphansAdopted = false;
  #waitingForPlace = false;

  constructor(options: FileSetOptions, context: InputContext) {
    this.#options = options;
    this.#context = context;
    const notices = new Notices(context.log);
    this.#report = new FileReport(context, notices);
    const { registry, tellsBirth, clock } = context;
    this.#limit = new OpenLimit(options.harvesterLimit, clock);
    this.#succession = options.joinsRotated
      ? new Succession({ inputId: context.id, registry, index: this.#index, tellsBirth, clock })
      : null;
    const isPresent = (key: string): boolean => {
      const entry = this.#index.get(inodeOf(key));
      return entry !== undefined && isFile(entry, key) && entry.scan >= this.#scanEnded;
    };
    this.#opener = new FileOpener(
      { ...options, index: this.#index, isPresent, succession: this.#succession },
      context,
      notices,
    );
    this.#oblivion = new Oblivion({
      ...options,
      registry,
      index: this.#index,
      clock,
      onForget: (key, row) => this.#opener.forget(key, row),
    });
    this.#pump = new Pump({
      slots: context.output.slots,
      lingerMs: context.lingerMs,
      clock: context.clock,
      isFinal: (harvester) => this.#isFinal(harvester),
      onError: (harvester, error) => this.#report.failed(harvester.path, error),
      onRewritten: (harvester) => this.#report.rewritten(harvester),
    });
  }

  /** True while a file is read or waits for its turn. */
  get busy(): boolean {
    return this.#pump.busy;
  }

  state(): InputState {
    return this.#report.state([...this.#open.keys()]);
  }

  /** Returns the files that are known or couldn't be read. */
  files(): Iterable<FileState> {
    return fileStates(this.#context, this.#open.keys(), this.#report.failures());
  }

  start(): void {
    this.#pump.start();
  }

  /** Ends reading. Files stay open until `close`, so that acknowledgements still find their rows. */
  async stop(): Promise<void> {
    await Promise.all([this.#pump.stop(), this.#opener.stop()]);
  }

  /** Closes all files. */
  close(): void {
    for (const harvester of this.#open.keys()) this.#close(harvester);
  }

  /** Lets every open file look for news. */
  wakeAll(): void {
    for (const harvester of this.#open.keys()) this.#pump.wake(harvester);
  }

  /** Looks at a path that a hint named, without waiting for the next scan. */
  look(path: string, followLinks: boolean): void {
    const harvester = this.#index.atPath(path)?.harvester;
    // The file that had the path may have been moved away; it is read first, as its lines are older.
    if (harvester != null) this.#pump.wake(harvester);
    const stat = followLinks ? statOrNull(path) : lstatOrNull(path);
    if (stat?.isFile()) this.#inspect({ raw: path, path, stat }, this.#scan);
  }

  /** A scan begins; what it finds comes to `take`. */
  beginScan(): void {
    this.#scan++;
    this.#waitingForPlace = false;
  }

  /** Takes a file that the scan found: opens it where it is new or has grown. */
  take(found: Found): void {
    this.#inspect(found, this.#scan);
  }

  /** The scan has ended: looks after files it did not find, and closes what may be closed. */
  endScan({ complete, exhausted }: Pick<ScanResult, "complete" | "exhausted">): void {
    this.#scanEnded = this.#scan;
    if (exhausted) {
      this.#waitingForPlace = true;
      this.#limit.lower(this.#open.size);
    }
    if (complete && !this.#orphansAdopted) this.#adoptOrphans();
    if (complete) this.#handleMissing(this.#scan);
    this.#succession?.giveTo(this.#open.keys(), (harvester) => this.#pump.wake(harvester));
    this.#closeWhatMay();
    this.#oblivion.cleanInactive();
  }

  /** Goes back to what is committed in all files. */
  rewind(): void {
    const { registry, id } = this.#context;
    for (const [key, row] of registry.rows()) {
      if (row.input !== id || row.committed >= row.sent) continue;
      row.sent = row.committed;
      row.anchor = { bytes: 0, hash: "" };
      row.size = -1;
      registry.touch(key);
    }
    for (const harvester of this.#open.keys()) {
      harvester.rewind();
      this.#pump.wake(harvester);
    }
  }

  #inspect(found: Found, scan: number): void {
    const { stat, path } = found;
    const inode = inodeKey(stat.dev, stat.ino);
    const birthtimeMs = this.#context.tellsBirth ? stat.birthtimeMs : 0;
    const known = this.#index.get(inode);
    if (known !== undefined && known.birthtimeMs === birthtimeMs) {
      this.#revisit(known, found, scan);
      return;
    }
    const entry = newEntry(inode, birthtimeMs, path, "", scan);
    this.#index.add(entry);
    this.#consider(entry, found);
  }

  #revisit(entry: Entry, found: Found, scan: number): void {
    const { stat, path } = found;
    const again = entry.scan === scan && entry.path !== path;
    entry.missingSinceMs = null;
    if (again && statOrNull(entry.path)?.ino === stat.ino) return; // a second name of the same file
    entry.scan = scan;
    this.#index.move(entry, path);
    const { harvester } = entry;
    if (harvester === null) {
      this.#consider(entry, found);
      return;
    }
    harvester.movedAway = false;
    harvester.deleted = false;
    if (harvester.observe(stat)) this.#pump.wake(harvester);
  }

  /** Opens a closed file where there may be something to read. */
  #consider(entry: Entry, found: Found): void {
    if (!this.#opener.worthOpening(entry, found)) return;
    if (this.#open.size >= this.#limit.files) {
      this.#waitingForPlace = true;
      return;
    }
    try {
      const harvester = this.#opener.open(entry, found, this.#open.keys(), this.#scanEnded === 0);
      if (harvester === null) return;
      entry.harvester = harvester;
      this.#open.set(harvester, entry);
      harvester.observe(found.stat);
      this.#pump.wake(harvester);
    } catch (error) {
      if (isExhaustion(error)) {
        this.#waitingForPlace = true;
        this.#limit.lower(this.#open.size);
      }
      if (systemCode(error) !== "ENOENT") this.#report.failed(found.path, error);
    }
  }

  #adoptOrphans(): void {
    this.#orphansAdopted = true;
    const { registry, id, tellsBirth } = this.#context;
    const open = (entry: Entry, found: Found): void => this.#consider(entry, found);
    const lostBytes = adoptOrphans({ inputId: id, registry, index: this.#index, tellsBirth, open });
    this.#report.lostWhileAway(lostBytes);
  }

  /** Looks after files that the scan did not find: still open, moved elsewhere, or gone. */
  #handleMissing(scan: number): void {
    for (const entry of this.#index.values()) {
      if (entry.scan === scan) continue;
      const { harvester } = entry;
      if (harvester !== null) {
        const { deleted } = harvester;
        const changed = harvester.observeOpen();
        if (harvester.deleted && !deleted) this.#report.deleted(harvester);
        if (changed || (this.#isFinal(harvester) && !harvester.complete)) this.#pump.wake(harvester);
        continue;
      }
      this.#oblivion.missing(entry);
    }
  }

  #closeWhatMay(): void {
    const nowMs = this.#context.clock.monotonic();
    const pressed = this.#waitingForPlace || this.#open.size >= this.#limit.systemFiles;
    for (const harvester of this.#open.keys()) {
      const reason = closeReason(harvester, this.#options, {
        nowMs,
        pressed,
        final: this.#isFinal(harvester),
      });
      if (mayDelete(harvester, this.#options.deleteAfterMs, nowMs)) this.#delete(harvester);
      if (reason === null) continue;
      this.#context.log.debug({ path: harvester.path, reason }, "file closed");
      this.#close(harvester);
    }
  }

  #delete({ path }: Harvester): void {
    try {
      unlinkSync(path);
      this.#context.log.info({ path }, "file deleted: all of it is committed");
    } catch (error) {
      this.#report.failed(path, error);
    }
  }

  #close(harvester: Harvester): void {
    const entry = this.#open.get(harvester);
    this.#pump.forget(harvester);
    this.#open.delete(harvester);
    this.#report.closes(harvester);
    harvester.close();
    this.#context.registry.release(harvester.key);
    if (entry !== undefined) entry.harvester = null;
  }

  /** A rotated or removed file that nobody has written to for a while: its last line is complete as it is. */
  #isFinal(harvester: Harvester): boolean {
    const quietMs = this.#context.clock.monotonic() - harvester.activeMs;
    const isRotated = harvester.deleted || harvester.movedAway;
    return harvester.isArchive || (isRotated && quietMs > this.#options.quietMs);
  }
}
