/**
 * The files of one input: which are known, which to read, and when to forget one. Files found by a scan are compared
 * with the known ones; a file that may be read becomes an open file, which closes by itself.
 */

import type { FileState, InputContext, InputState } from "#agent/contract/input.ts";
import { displayPath, isAtOrBelow, lstatOrNull, type RawPath, statOrNull } from "#agent/discovery/path.ts";
import { type Found, isExhaustion, type ScanResult } from "#agent/discovery/scanner.ts";
import { inodeKey } from "#agent/harvester/identity.ts";
import { systemCode } from "#proto/kit/errors.ts";
import type { Whereabouts } from "./copy-judge.ts";
import { type Entry, FileIndex, newEntry } from "./file-index.ts";
import { FileOpener, type FileOpenerOptions } from "./file-opener.ts";
import { FileReport, fileStates, Notices } from "./file-report.ts";
import { OpenFiles, type OpenFilesOptions } from "./open-files.ts";
import { adoptOrphans } from "./orphans.ts";
import { RegistryCleanup } from "./registry-cleanup.ts";
import { Succession } from "./succession.ts";
import { WaitingFiles } from "./waiting-files.ts";

/** File systems stamp files with a clock that may be slow by this much. */
const TICK_MS = 20;

export interface FileSetOptions
  extends OpenFilesOptions,
    Omit<FileOpenerOptions, "succession" | "whereIs" | "index"> {
  /** 0: never. */
  readonly cleanInactiveMs: number;
  readonly cleanRemoved: boolean;
  /** True if an event may begin in a rotated file and end in its successor. */
  readonly joinsRotated: boolean;
  /** Returns true if the input reads the file at a path. */
  readonly reads: (path: string) => boolean;
}

export class FileSet {
  readonly #context: InputContext;
  readonly #report: FileReport;
  readonly #opener: FileOpener;
  readonly #succession: Succession | null;
  readonly #cleanup: RegistryCleanup;
  readonly #index = new FileIndex();
  readonly #open: OpenFiles;
  readonly #waiting: WaitingFiles;
  /** Number of the running scan or of the last one, and of the last one that ended. */
  #scan = 0;
  #scanEnded = 0;
  /** When the running scan and the one before it began, by the file system's clock. */
  #scanTimes = { beforeMs: 0, beganMs: 0 };
  #orphansAdopted = false;

  constructor(options: FileSetOptions, context: InputContext) {
    this.#context = context;
    takeOverRows(options.reads, context);
    const notices = new Notices(context.log);
    this.#report = new FileReport(context, notices);
    this.#open = new OpenFiles(options, context, this.#report);
    this.#waiting = new WaitingFiles({
      freeCapacity: (wanted) => this.#open.closeWhatMay(wanted),
      hasCapacity: () => this.#open.hasCapacity(),
      open: (entry, path) => this.#openWaiting(entry, path),
    });
    const { registry, hasBirthTimes, clock } = context;
    this.#succession = options.joinsRotated
      ? new Succession({ inputId: context.id, registry, index: this.#index, hasBirthTimes, clock })
      : null;
    const whereIs = (key: string): Whereabouts | undefined => {
      const entry = this.#index.byKey(key);
      if (entry === undefined || entry.scan === 0) return undefined;
      const isFound = entry.scan >= this.#scanEnded;
      if (isFound || entry.gone === null) return { isThere: true, path: isFound ? entry.path : null };
      return { isThere: false, ...entry.gone };
    };
    this.#opener = new FileOpener(
      { ...options, index: this.#index, whereIs, succession: this.#succession },
      context,
      notices,
    );
    this.#cleanup = new RegistryCleanup({
      ...options,
      registry,
      index: this.#index,
      clock,
      onForget: (key) => this.#opener.forget(key),
      onLost: (path, bytes) => this.#report.gone(path, bytes),
    });
  }

  /** True while a file is read or waits for its turn. */
  get busy(): boolean {
    return this.#open.busy;
  }

  state(): InputState {
    return { ...this.#open.state(), waitingFiles: this.#waiting.count };
  }

  /** Returns the files that are known or couldn't be read. */
  files(): Iterable<FileState> {
    return fileStates(this.#context, this.#open.harvesters(), this.#report.failures());
  }

  start(): void {
    this.#open.start();
  }

  /** Ends reading. Files stay open until `close`, so that acknowledgements still find their rows. */
  async stop(): Promise<void> {
    this.#waiting.stop();
    await this.#open.stop();
    await this.#opener.stop();
  }

  /** Closes all files. */
  close(): void {
    this.#open.close();
  }

  /** Makes every open file check for new data. */
  wakeAll(): void {
    this.#open.wakeAll();
  }

  /** Examines a path that a hint named, without waiting for the next scan. */
  look(path: string, followLinks: boolean): void {
    const harvester = this.#index.atPath(path)?.harvester;
    // The file that had the path may have been moved away; it is read first, as its lines are older.
    if (harvester != null) this.#open.wake(harvester);
    const stat = followLinks ? statOrNull(path) : lstatOrNull(path);
    if (stat?.isFile()) this.#inspect({ raw: path, path, stat });
  }

  /** Begins a scan; the found files are passed to `take`. */
  beginScan(): void {
    this.#scan++;
    this.#scanTimes = { beforeMs: this.#scanTimes.beganMs, beganMs: Date.now() };
  }

  /** Returns true for a path under which the scan under way found a file. */
  hasFound(path: string): boolean {
    return this.#index.atPath(path)?.scan === this.#scan;
  }

  /** Takes a file that the scan found: opens it if it is new or has grown. */
  take(found: Found): void {
    this.#inspect(found);
  }

  /** Ends the scan: handles files that it did not find, and closes those that may be closed. */
  endScan({ complete, exhausted, unseen }: Pick<ScanResult, "complete" | "exhausted" | "unseen">): void {
    this.#scanEnded = this.#scan;
    if (exhausted) this.#exhausted();
    if (complete && !this.#orphansAdopted) this.#adoptOrphans(unseen);
    if (complete) this.#handleMissing(unseen);
    this.#succession?.giveTo(this.#open.harvesters(), (harvester) => this.#open.wake(harvester));
    this.#open.closeWhatMay(Math.max(this.#waiting.count, this.#open.excess));
    this.#cleanup.cleanInactive();
  }

  /** Goes back to the committed position in all files. */
  rewind(): void {
    const { registry, id } = this.#context;
    for (const [key, row] of registry.rows()) {
      if (row.input !== id || row.committed >= row.sent) continue;
      row.sent = row.committed;
      row.anchor = { bytes: 0, hash: "" };
      row.size = -1;
      registry.touch(key);
    }
    this.#open.rewind();
  }

  #inspect(found: Found): void {
    const { stat, path } = found;
    const birthtimeMs = this.#context.hasBirthTimes ? stat.birthtimeMs : 0;
    const known = this.#index.find(path, stat);
    if (known !== undefined && known.birthtimeMs === birthtimeMs) {
      this.#revisit(known, found);
      return;
    }
    const entry = newEntry(inodeKey(stat.dev, stat.ino), birthtimeMs, path, "", this.#scan);
    entry.size = stat.size;
    this.#index.add(entry);
    this.#consider(entry, found);
  }

  #revisit(entry: Entry, found: Found): void {
    const { stat, path } = found;
    const again = entry.scan === this.#scan && entry.path !== path;
    entry.missingSinceMs = null;
    entry.gone = null;
    if (again && statOrNull(entry.path)?.ino === stat.ino) return; // a second name of the same file
    entry.scan = this.#scan;
    entry.size = stat.size;
    this.#index.move(entry, path);
    const { harvester } = entry;
    if (harvester === null) {
      this.#consider(entry, found);
      return;
    }
    harvester.movedAway = false;
    harvester.deleted = false;
    if (harvester.observe(stat)) this.#open.wake(harvester);
  }

  /** Opens a closed file that may have new data, now or when it has its turn. */
  #consider(entry: Entry, found: Found): void {
    if (!this.#opener.worthOpening(entry, found)) {
      this.#open.deleteClosed(entry, found);
      return;
    }
    if (!this.#open.hasCapacity()) {
      this.#waiting.add(entry, found.raw);
      return;
    }
    try {
      const harvester = this.#opener.open(entry, found, this.#open.harvesters(), this.#scanEnded === 0);
      if (harvester === null) return;
      this.#open.add(harvester, entry);
      harvester.observe(found.stat);
      this.#open.wake(harvester);
    } catch (error) {
      if (isExhaustion(error)) {
        this.#exhausted();
        this.#waiting.add(entry, found.raw);
      }
      if (systemCode(error) !== "ENOENT") this.#report.failed(found.path, error);
    }
  }

  /** Opens a file that has its turn; if another file has its path by now, that one is opened as itself. */
  #openWaiting(entry: Entry, raw: RawPath): void {
    const held = this.#opener.waiting(entry);
    const stat = held === null ? statOrNull(raw) : null;
    if (held !== null && entry.harvester === null) this.#consider(entry, held);
    else if (stat?.isFile()) this.#inspect({ raw, path: displayPath(raw), stat });
  }

  #exhausted(): void {
    this.#opener.spare();
    this.#open.exhausted();
  }

  #adoptOrphans(unseen: ReadonlySet<string>): void {
    this.#orphansAdopted = true;
    const { registry, id, hasBirthTimes } = this.#context;
    const open = (entry: Entry, found: Found): void => this.#consider(entry, found);
    const lostBytes = adoptOrphans({
      inputId: id,
      registry,
      index: this.#index,
      hasBirthTimes,
      unseen,
      open,
    });
    this.#report.lostWhileAway(lostBytes);
  }

  /** Handles files that the scan did not find: still open, waiting to be opened, or gone. */
  #handleMissing(unseen: ReadonlySet<string>): void {
    for (const entry of this.#index.values()) {
      if (entry.scan === this.#scan || isAtOrBelow(entry.path, unseen)) continue;
      const { harvester } = entry;
      if (harvester !== null) this.#open.lookAfter(harvester);
      if (harvester?.deletedMs != null)
        entry.gone = { seenMs: harvester.deletedMs, goneMs: harvester.deletedMs };
      else if (harvester === null)
        entry.gone ??= { seenMs: this.#scanTimes.beforeMs - TICK_MS, goneMs: Date.now() };
      if (harvester !== null) continue;
      const waiting = this.#opener.waiting(entry);
      if (waiting !== null && this.#opener.worthOpening(entry, waiting)) this.#consider(entry, waiting);
      else this.#cleanup.missing(entry);
    }
  }
}

/** Takes over the files of inputs that the settings don't have any more. */
function takeOverRows(reads: (path: string) => boolean, { id, isInput, registry }: InputContext): void {
  for (const [key, row] of registry.rows()) {
    if (isInput(row.input) || !reads(row.path)) continue;
    row.input = id;
    registry.touch(key);
  }
}
