/**
 * The files of one input: which are known, which are open, when one is opened and when it may be closed.
 * A file is closed only when what was read of it is safe; a deleted one is held open until then.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { InputContext } from "#agent/inputs/input.ts";
import { newRow } from "#agent/registry/row.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { closeReason } from "./close-policy.ts";
import { type Candidate, CopyFinder } from "./copies.ts";
import { Harvester } from "./harvester.ts";
import { fileKey, HEAD_BYTES, inodeKey } from "./identity.ts";
import { Pump } from "./pump.ts";
import type { Found } from "./scanner.ts";
import { binaryKind } from "./text-probe.ts";

export interface FileSetOptions {
  readonly closeInactiveMs: number;
  readonly closeRemoved: boolean;
  readonly closeRenamed: boolean;
  readonly closeEof: boolean;
  /** 0: never. */
  readonly closeTimeoutMs: number;
  /** 0: never. */
  readonly ignoreOlderMs: number;
  /** 0: never. */
  readonly cleanInactiveMs: number;
  readonly cleanRemoved: boolean;
  readonly tailFiles: boolean;
  /** 0: no limit. */
  readonly harvesterLimit: number;
  readonly maxBytes: number;
  /** Time without change after which the last line of a rotated file is taken as it is, ms. */
  readonly quietMs: number;
}

/** A file that some scan has found. */
interface Entry {
  readonly inode: string;
  readonly birthtimeMs: number;
  path: string;
  /** Empty until the file was opened once. */
  key: string;
  harvester: Harvester | null;
  /** Number of the last scan that found it. */
  scan: number;
  /** Why it isn't read, with the time of change it had; looked at again when that moves. */
  passedOver: { readonly mtimeMs: number } | null;
  missingSinceMs: number | null;
}

/** An unmounted folder must not cost its files their places; it is back within this time. */
const CLEAN_REMOVED_DELAY_MS = 60_000;
/** A copy whose original isn't truncated within this time was made by hand. */
const COPY_HELD_MS = 10_000;
const COPIES_HELD_MAX = 10_000;
/** Paths remembered as told of. */
const WARNED_MAX = 1_000;
/** Above this many open files inactive ones are closed although they aren't committed yet. */
const OPEN_FILES_COMFORTABLE = 4_096;

export class FileSet {
  readonly #options: FileSetOptions;
  readonly #context: InputContext;
  readonly #pump: Pump;
  readonly #entries = new Map<string, Entry>();
  readonly #byPath = new Map<string, Entry>();
  readonly #open = new Map<Harvester, Entry>();
  readonly #copies: CopyFinder;
  /** When copies were seen first whose original isn't truncated yet, by file key. */
  readonly #copiesHeldMs = new Map<string, number>();
  /** Inodes of files that the registry knew at the start. */
  readonly #inodesOfRows = new Set<string>();
  readonly #warned = new Set<string>();
  #scan = 0;
  #hadRows = false;
  #waitingForPlace = false;
  #linesClosed = 0;
  #bytesClosed = 0;
  #errors = 0;
  #lastError = "";

  constructor(options: FileSetOptions, context: InputContext) {
    this.#options = options;
    this.#context = context;
    this.#copies = new CopyFinder(context.registry);
    for (const [key, row] of context.registry.rows()) {
      this.#copies.note(key, row);
      this.#inodesOfRows.add(key.slice(0, key.lastIndexOf("-")));
      if (row.input === context.id) this.#hadRows = true;
    }
    this.#pump = new Pump({
      slots: context.output.slots,
      lingerMs: context.lingerMs,
      clock: context.clock,
      log: context.log,
      isFinal: (harvester) => this.#isFinal(harvester),
      onError: (harvester, error) => this.#fail(harvester.path, error),
      onRewritten: (harvester) => this.#rewritten(harvester),
    });
  }

  get #id(): string {
    return this.#context.id;
  }

  /** True while a file is read or waits for its turn. */
  get busy(): boolean {
    return this.#pump.busy;
  }

  /** Files that are open. */
  get openFiles(): number {
    return this.#open.size;
  }

  get linesRead(): number {
    return this.#sum(({ linesRead }) => linesRead) + this.#linesClosed;
  }

  get bytesRead(): number {
    return this.#sum(({ bytesRead }) => bytesRead) + this.#bytesClosed;
  }

  get lagBytes(): number {
    return this.#sum(({ lagBytes }) => lagBytes);
  }

  /** Unread or uncommitted bytes in files that are deleted but held open. */
  get openDeletedBytes(): number {
    return this.#sum((harvester) => (harvester.deleted ? harvester.uncommittedBytes : 0));
  }

  get errors(): number {
    return this.#errors;
  }

  get lastError(): string {
    return this.#lastError;
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
    for (const harvester of [...this.#open.keys()]) this.#close(harvester);
  }

  /** Looks at a path that a hint named, without waiting for the next scan. */
  look(path: string, followLinks: boolean): void {
    const harvester = this.#byPath.get(path)?.harvester;
    // The file that had the path may have been moved away; it is read first, as its lines are older.
    if (harvester != null) this.#pump.wake(harvester);
    const stat = followLinks ? statOrNull(path) : lstatOrNull(path);
    if (stat?.isFile()) this.#inspect({ raw: path, path, stat }, this.#scan);
  }

  /** Takes the result of a scan: opens what is new or has grown, and closes what may be closed. */
  update(found: readonly Found[], complete: boolean): void {
    const scan = ++this.#scan;
    this.#waitingForPlace = false;
    for (const each of found) this.#inspect(each, scan);
    if (complete) this.#handleMissing(scan);
    this.#closeWhatMay();
  }

  /** Goes back to what is committed in all files. */
  rewind(): void {
    for (const [key, row] of this.#context.registry.rows()) {
      if (row.input !== this.#id || row.committed >= row.sent) continue;
      row.sent = row.committed;
      row.anchor = { bytes: 0, hash: "" };
      row.size = -1;
      this.#context.registry.touch(key);
    }
    for (const harvester of this.#open.keys()) {
      harvester.rewind();
      this.#pump.wake(harvester);
    }
  }

  #inspect(found: Found, scan: number): void {
    const { stat, path } = found;
    const inode = inodeKey(stat.dev, stat.ino);
    const entry = this.#entries.get(inode);
    if (entry !== undefined && entry.birthtimeMs === stat.birthtimeMs)
      return this.#revisit(entry, found, scan);
    const fresh: Entry = {
      inode,
      birthtimeMs: stat.birthtimeMs,
      path,
      key: "",
      harvester: null,
      scan,
      passedOver: null,
      missingSinceMs: null,
    };
    // A file that is open keeps its inode, so the entry replaced here is a closed one.
    if (entry !== undefined && this.#byPath.get(entry.path) === entry) this.#byPath.delete(entry.path);
    this.#entries.set(inode, fresh);
    this.#byPath.set(path, fresh);
    this.#consider(fresh, found);
  }

  #revisit(entry: Entry, found: Found, scan: number): void {
    const { stat, path } = found;
    const { harvester } = entry;
    const again = entry.scan === scan && entry.path !== path;
    entry.missingSinceMs = null;
    if (again && statOrNull(entry.path)?.ino === stat.ino) return; // a second name of the same file
    entry.scan = scan;
    if (entry.path !== path) {
      if (this.#byPath.get(entry.path) === entry) this.#byPath.delete(entry.path);
      entry.path = path;
    }
    this.#byPath.set(path, entry);
    if (harvester === null) return this.#consider(entry, found);
    harvester.movedAway = false;
    harvester.deleted = false;
    if (harvester.observe(stat)) this.#pump.wake(harvester);
  }

  /** Opens a closed file where there may be something to read. */
  #consider(entry: Entry, found: Found): void {
    const { stat } = found;
    if (entry.passedOver?.mtimeMs === stat.mtimeMs) return;
    const { ignoreOlderMs, harvesterLimit } = this.#options;
    const row = entry.key === "" ? undefined : this.#context.registry.get(entry.key);
    if (row === undefined && entry.key === "" && stat.size === 0 && !this.#inodesOfRows.has(entry.inode))
      return;
    if (row !== undefined && row.size === stat.size && row.mtimeMs === stat.mtimeMs) return;
    if (ignoreOlderMs > 0 && this.#context.clock.now() - stat.mtimeMs > ignoreOlderMs) {
      entry.passedOver = { mtimeMs: stat.mtimeMs };
      return;
    }
    if (this.#context.isOwnFile(stat, found.path)) {
      entry.passedOver = { mtimeMs: stat.mtimeMs };
      return this.#once(found.path, "the agent writes it itself");
    }
    if (harvesterLimit > 0 && this.#open.size >= harvesterLimit) {
      this.#waitingForPlace = true;
      return;
    }
    try {
      this.#openFile(entry, found);
    } catch (error) {
      if (["EMFILE", "ENFILE"].includes(systemCode(error))) this.#waitingForPlace = true;
      if (systemCode(error) !== "ENOENT") this.#fail(found.path, error);
    }
  }

  #openFile(entry: Entry, found: Found): void {
    const fd = openSync(found.raw, constants.O_RDONLY | constants.O_NONBLOCK);
    let taken = false;
    try {
      const stat = fstatSync(fd, { bigint: true });
      if (!stat.isFile() || inodeKey(Number(stat.dev), Number(stat.ino)) !== entry.inode) return; // replaced meanwhile
      entry.key = fileKey(stat);
      taken = this.#take(entry, found, fd, Number(stat.size));
    } finally {
      if (!taken) closeSync(fd);
    }
  }

  /** Makes an opened file a harvester's; returns false where it stays closed. */
  #take(entry: Entry, found: Found, fd: number, size: number): boolean {
    const { registry, clock } = this.#context;
    const known = registry.get(entry.key);
    if (known !== undefined && known.size === size && known.mtimeMs === found.stat.mtimeMs) return false;
    const owner = registry.claim(entry.key, this.#id);
    if (owner !== this.#id) {
      entry.passedOver = { mtimeMs: found.stat.mtimeMs };
      this.#once(found.path, `input ${owner} reads it already`);
      return false;
    }
    if (known === undefined) {
      const offset = this.#firstOffset(entry, found, fd, size);
      if (offset === null) {
        registry.release(entry.key);
        return false;
      }
      registry.put(entry.key, newRow(this.#id, found.path, offset, clock.now()));
    }
    const row = registry.get(entry.key)!;
    row.input = this.#id;
    const { key } = entry;
    const harvester = new Harvester({
      key,
      path: found.path,
      fd,
      row,
      maxLineBytes: this.#options.maxBytes,
      output: this.#context.output,
      openChannel: (generation) => {
        const source = { inputId: this.#id, inputType: "log", fileKey: key, generation, path: found.path };
        return this.#context.output.channel(source, this.#context.fieldsJson);
      },
      onChange: () => {
        registry.touch(key);
        this.#copies.note(key, row);
      },
      nowMs: () => clock.now(),
      monotonicMs: () => clock.monotonic(),
    });
    entry.harvester = harvester;
    this.#open.set(harvester, entry);
    harvester.observe(found.stat);
    this.#pump.wake(harvester);
    return true;
  }

  /** Returns where a file nobody has read begins to be read, or null where it isn't to be read now. */
  #firstOffset(entry: Entry, found: Found, fd: number, size: number): number | null {
    if (size === 0) return null;
    const head = Buffer.alloc(Math.min(HEAD_BYTES, size));
    const kind = binaryKind(found.path, head.subarray(0, readSync(fd, head, 0, head.length, 0)));
    if (kind !== null) {
      entry.passedOver = { mtimeMs: found.stat.mtimeMs };
      this.#once(found.path, `it is ${kind}, no text`);
      return null;
    }
    const copied = this.#copiedOffset({ key: entry.key, path: found.path, fd, size }, found);
    if (copied !== undefined) return copied;
    return this.#options.tailFiles && this.#scan === 1 && !this.#hadRows ? size : 0;
  }

  /**
   * Returns where the copy of a file already read begins to be read: behind what was sent of its original.
   * Returns null while that isn't settled, undefined where the file is no copy.
   */
  #copiedOffset(candidate: Candidate, found: Found): number | null | undefined {
    const original = this.#copies.find(candidate);
    if (original === null) return undefined;
    const { row, generation } = original;
    const harvester = [...this.#open.keys()].find(({ key }) => key === original.key);
    const truncated = generation.generation < row.generation;
    const now = this.#context.clock.monotonic();
    const since = this.#copiesHeldMs.get(candidate.key) ?? now;
    const settled = truncated ? (harvester?.previousSettled ?? true) : harvester === undefined;
    const covered = !truncated && now - since > COPY_HELD_MS && row.sent >= candidate.size;
    if (!settled && !covered) {
      if (this.#copiesHeldMs.size < COPIES_HELD_MAX) this.#copiesHeldMs.set(candidate.key, since);
      return null;
    }
    this.#copiesHeldMs.delete(candidate.key);
    const offset = Math.min(generation.offset, candidate.size);
    this.#context.log.info(
      { path: found.path, original: row.path, offset },
      "file is the copy of one already read; going on behind that",
    );
    return covered ? candidate.size : offset;
  }

  /** Looks after files that the scan did not find: still open, moved elsewhere, or gone. */
  #handleMissing(scan: number): void {
    if (scan === 1) this.#adoptOrphans();
    const now = this.#context.clock.monotonic();
    for (const entry of this.#entries.values()) {
      if (entry.scan === scan) continue;
      const { harvester } = entry;
      if (harvester !== null) {
        if (harvester.observeOpen() || (this.#isFinal(harvester) && !harvester.complete))
          this.#pump.wake(harvester);
        continue;
      }
      entry.missingSinceMs ??= now;
      if (entry.key === "" || now - entry.missingSinceMs > CLEAN_REMOVED_DELAY_MS) this.#forget(entry);
    }
  }

  /** Makes entries for files the registry knows and the first scan did not find; those moved within their folder are read on. */
  #adoptOrphans(): void {
    let lostBytes = 0;
    const { registry, log, metrics } = this.#context;
    for (const [key, row] of [...registry.rows()]) {
      const inode = key.slice(0, key.lastIndexOf("-"));
      if (row.input !== this.#id) continue;
      const entry = this.#entries.get(inode);
      if (entry !== undefined && (entry.key === key || entry.key === "")) continue;
      if (entry === undefined) {
        const orphan = orphanEntry(inode, key, row.path);
        this.#entries.set(inode, orphan);
        if (row.size !== row.sent && this.#findMoved(orphan)) continue;
      } else {
        registry.delete(key); // its inode belongs to another file now
      }
      lostBytes += Math.max(0, row.size - row.sent);
    }
    if (lostBytes === 0) return;
    metrics.lostBytes.inc({ input: this.#id }, lostBytes);
    log.warn(
      { bytes: lostBytes },
      "files were removed while the agent was away, with lines in them it had not read",
    );
  }

  /** Opens a file that was given another name in its folder while the agent was away. */
  #findMoved(entry: Entry): boolean {
    const folder = dirname(entry.path);
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      const stat = statOrNull(path);
      if (stat === null || !stat.isFile() || inodeKey(stat.dev, stat.ino) !== entry.inode) continue;
      const moved = { ...entry, birthtimeMs: stat.birthtimeMs, path };
      this.#entries.set(entry.inode, moved);
      this.#consider(moved, { raw: path, path, stat });
      return moved.harvester !== null;
    }
    return false;
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.inode);
    if (this.#byPath.get(entry.path) === entry) this.#byPath.delete(entry.path);
    const row = this.#context.registry.get(entry.key);
    if (row === undefined || !this.#options.cleanRemoved) return;
    this.#copies.forget(row, entry.key);
    this.#context.registry.delete(entry.key);
  }

  #closeWhatMay(): void {
    const { clock } = this.#context;
    const pressed = this.#waitingForPlace || this.#open.size > OPEN_FILES_COMFORTABLE;
    for (const harvester of [...this.#open.keys()]) {
      const facts = { nowMs: clock.monotonic(), pressed, final: this.#isFinal(harvester) };
      const reason = closeReason(harvester, this.#options, facts);
      if (reason === null) continue;
      this.#context.log.debug({ path: harvester.path, reason }, "file closed");
      this.#close(harvester);
    }
    if (this.#options.cleanInactiveMs > 0) this.#cleanInactive();
  }

  #cleanInactive(): void {
    const { registry, clock } = this.#context;
    for (const entry of this.#entries.values()) {
      const row = registry.get(entry.key);
      if (row === undefined || entry.harvester !== null || row.size !== row.sent) continue;
      if (clock.now() - row.mtimeMs <= this.#options.cleanInactiveMs) continue;
      entry.passedOver = { mtimeMs: row.mtimeMs };
      registry.delete(entry.key);
      entry.key = "";
    }
  }

  #close(harvester: Harvester): void {
    const entry = this.#open.get(harvester);
    this.#pump.forget(harvester);
    this.#open.delete(harvester);
    this.#linesClosed += harvester.linesRead;
    this.#bytesClosed += harvester.bytesRead;
    harvester.close();
    this.#context.registry.release(harvester.key);
    if (entry !== undefined) entry.harvester = null;
  }

  /** A rotated or removed file that nobody has written to for a while: its last line is complete as it is. */
  #isFinal(harvester: Harvester): boolean {
    const quietMs = this.#context.clock.monotonic() - harvester.activeMs;
    return (harvester.deleted || harvester.movedAway) && quietMs > this.#options.quietMs;
  }

  #rewritten(harvester: Harvester): void {
    this.#context.metrics.rewritten.inc({ input: this.#id });
    const { path, row } = harvester;
    this.#context.log.info(
      { path, generation: row.generation },
      "file was truncated or rewritten; reading it from its start",
    );
  }

  #fail(path: string, error: unknown): void {
    this.#errors++;
    this.#lastError = `${path}: ${(error as Error).message}`;
    this.#context.metrics.errors.inc({ input: this.#id });
    this.#once(path, (error as Error).message, "warn");
  }

  /** Says once why a path isn't read. */
  #once(path: string, reason: string, level: "info" | "warn" = "info"): void {
    const what = `${path}: ${reason}`;
    if (this.#warned.has(what)) return;
    if (this.#warned.size >= WARNED_MAX) this.#warned.clear();
    this.#warned.add(what);
    this.#context.log[level]({ path }, `file is not read: ${reason}`);
  }

  #sum(value: (harvester: Harvester) => number): number {
    let sum = 0;
    for (const harvester of this.#open.keys()) sum += value(harvester);
    return sum;
  }
}

function orphanEntry(inode: string, key: string, path: string): Entry {
  return {
    inode,
    birthtimeMs: Number.NaN,
    path,
    key,
    harvester: null,
    scan: 0,
    passedOver: null,
    missingSinceMs: null,
  };
}

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
