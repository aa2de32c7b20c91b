/** Opens files: decides whether a file is read at all and where reading begins. */

import { closeSync, fstatSync, readSync } from "node:fs";
import { Scratch } from "#agent/contract/block-memory.ts";
import type { InputContext } from "#agent/contract/input.ts";
import type { Found } from "#agent/discovery/scanner.ts";
import { Archives, isArchive, isBroken, type Unpacked } from "#agent/harvester/archives.ts";
import { Harvester } from "#agent/harvester/harvester.ts";
import type { EventCutting } from "#agent/harvester/harvester-options.ts";
import { ANCHOR_BYTES, fileKey, HEAD_BYTES, inodeKey, inodeOf } from "#agent/harvester/identity.ts";
import type { EventFormat } from "#agent/lines/event-format.ts";
import { type FileRow, newRow, sourceOf } from "#agent/registry/row.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { Candidate } from "./copy-finder.ts";
import { CopyJudge, type CopyJudgeOptions } from "./copy-judge.ts";
import type { Entry, FileIndex } from "./file-index.ts";
import type { Notices } from "./file-report.ts";
import { openWithin } from "./open-safely.ts";
import type { Succession } from "./succession.ts";
import { binaryKind } from "./text-probe.ts";
import { HeldFiles } from "./waiting-files.ts";

export interface FileOpenerOptions {
  /** Type of the input, for the source of batches. */
  readonly inputType: string;
  /** Makes the parts that cut events of a file; null: blocks of files are sent unchanged. */
  readonly createFormat: ((path: string, maxEventBytes: number) => EventFormat) | null;
  /** Returns {"fields": {}, "tags": []} of a file; null: those of the input. */
  readonly fieldsOf: ((path: string) => Uint8Array) | null;
  /** Returns true while fields of a file are awaited: it is opened when they are there. */
  readonly awaitsFields: ((path: string) => boolean) | null;
  /** True if the files' encoding has NULs in ordinary text. */
  readonly wideText: boolean;
  /** 0: none. */
  readonly ignoreOlderMs: number;
  readonly tailFiles: boolean;
  /** Returns the folder above a path below which no link is followed; undefined: links are followed. */
  readonly rootOf?: ((path: string) => string) | undefined;
  /** True if gzip archives are read as well. */
  readonly archives: boolean;
  /** The known files. */
  readonly index: FileIndex;
  /** See CopyJudgeOptions. */
  readonly whereIs: CopyJudgeOptions["whereIs"];
  /** Finds where events continue in the next file; null: they don't. */
  readonly succession: Succession | null;
  /** Longest line that stays whole, bytes. */
  readonly maxBytes: number;
}

/** Waits before an archive is tried again for which there was no disk space or descriptor: a try may write much in vain. */
const UNPACK_RETRY = { firstMs: 60_000, capMs: 3_600_000 };
/** Bytes of an event in a message besides its text. */
const EVENT_ROOM_BYTES = 4_096;

export class FileOpener {
  readonly #options: FileOpenerOptions;
  readonly #context: InputContext;
  readonly #notices: Notices;
  readonly #copies: CopyJudge;
  readonly #archives: Archives | null;
  /** Of archives that couldn't be unpacked, by file key. */
  readonly #unpackRetries = new Map<string, Backoff>();
  readonly #held = new HeldFiles();
  readonly #scratch: Scratch;
  /** Inodes of the files that were in the registry at the start. */
  readonly #inodesOfRows = new Set<string>();
  #hadRows = false;

  constructor(options: FileOpenerOptions, context: InputContext, notices: Notices) {
    this.#options = options;
    this.#context = context;
    this.#notices = notices;
    this.#copies = new CopyJudge({ ...context, inputId: context.id, whereIs: options.whereIs });
    this.#archives = options.archives ? new Archives(context.dataFolder) : null;
    this.#scratch = new Scratch(context.batchBytes + ANCHOR_BYTES, context.output.slots.memory);
    for (const [key, row] of context.registry.rows()) {
      this.#copies.note(key, row);
      this.#inodesOfRows.add(inodeOf(key));
      if (row.input === context.id) this.#hadRows = true;
    }
  }

  /** Returns true if opening the file may find new content; a cheap answer from its stat. */
  worthOpening(entry: Entry, { stat, path }: Found): boolean {
    if (this.#isPassedOver(entry, stat)) return false;
    const row = entry.key === "" ? undefined : this.#context.registry.get(entry.key);
    if (entry.key === "" && stat.size === 0 && !this.#inodesOfRows.has(entry.inode)) return false;
    if (row !== undefined && row.size === stat.size && row.mtimeMs === stat.mtimeMs) return false;
    const { ignoreOlderMs } = this.#options;
    const isOld = ignoreOlderMs > 0 && this.#context.clock.now() - stat.mtimeMs > ignoreOlderMs;
    const own = !isOld && this.#context.isOwnFile(stat, path);
    if (own) this.#notices.notRead(path, "the agent writes it itself");
    entry.passedOver = isOld || own ? { mtimeMs: stat.mtimeMs, isOld } : null;
    return !isOld && !own;
  }

  #isPassedOver({ passedOver }: Entry, { mtimeMs }: Found["stat"]): boolean {
    if (passedOver?.mtimeMs !== mtimeMs || passedOver.isOld === true) return false;
    const { againMs = Number.POSITIVE_INFINITY } = passedOver;
    return this.#context.clock.monotonic() < againMs;
  }

  /**
   * Returns a harvester for the file, or null if it is not to be read now. `others`: open files, which may be the
   * originals of copies. Throws the system's error if the file can't be opened.
   */
  open(entry: Entry, found: Found, others: Iterable<Harvester>, firstScan: boolean): Harvester | null {
    const candidate = this.#openContent(entry, found, firstScan);
    if (candidate === null) return null;
    let row: FileRow | "wait" | null = null;
    let harvester: Harvester | null = null;
    try {
      row = this.#claimRow(entry, found, candidate, others, firstScan);
      if (row !== null && row !== "wait") harvester = this.#createHarvester(candidate, row);
    } finally {
      if (harvester === null) this.#putAside(candidate, row === "wait");
    }
    return harvester;
  }

  /** Returns a waiting file, even if no path leads to it any more; null for others. */
  waiting({ key, path }: Entry): Found | null {
    const stat = this.#held.stat(key) ?? this.#archives?.stat(key) ?? null;
    return stat === null ? null : { raw: path, path, stat };
  }

  /** Closes the descriptors of waiting files because the system gives no more. */
  spare(): void {
    this.#held.clear();
  }

  /** Ends unpacking, and keeps nothing open. No file may be read any more. */
  async stop(): Promise<void> {
    await this.#archives?.stop();
    this.#held.clear();
    this.#scratch.release();
  }

  #putAside({ key, fd, size, archive }: Candidate, waits: boolean): void {
    if (archive !== null) this.#archives?.giveBack(key, { fd, size });
    else if (waits) this.#held.keep(key, fd);
    else closeSync(fd);
  }

  /** Opens a file and identifies it; null if it isn't the one that the scan found, or is still packed. */
  #openContent(entry: Entry, found: Found, firstScan: boolean): Candidate | null {
    const { key } = entry;
    const archive = found.stat;
    const unpacked = this.#takeUnpacked(entry, archive);
    if (unpacked !== null) return { ...unpacked, key, path: found.path, archive };
    if (this.#archives?.stat(key) != null) return null;
    const fd = this.#held.take(key) ?? this.#openSafely(entry, found);
    if (fd === null) return null;
    let isHandedOn = false;
    try {
      const stat = fstatSync(fd, { bigint: true });
      const replaced = inodeKey(Number(stat.dev), Number(stat.ino)) !== entry.inode;
      if (replaced || !stat.isFile()) return null;
      this.#options.index.identify(entry, fileKey(stat, this.#context.hasBirthTimes));
      const isPacked = this.#archives !== null && isArchive(fd);
      if (isPacked && this.#passesOver(entry.key, found, firstScan)) return null;
      isHandedOn = true;
      if (!isPacked) return { key: entry.key, path: found.path, fd, size: Number(stat.size), archive: null };
      if (this.#archives?.start(entry.key, fd) !== true) this.#held.keep(entry.key, fd);
      return null;
    } finally {
      if (!isHandedOn) closeSync(fd);
    }
  }

  /** Returns a descriptor of the file, or null if a link leads to it that must not be followed. */
  #openSafely(entry: Entry, { raw, path, stat }: Found): number | null {
    const opened = openWithin(raw, path, this.#options.rootOf?.(path) ?? null);
    if (typeof opened === "number") return opened;
    entry.passedOver = { mtimeMs: stat.mtimeMs };
    this.#notices.notRead(path, opened);
    return null;
  }

  /** Returns the content of an archive if it is unpacked. Throws if it can't be unpacked. */
  #takeUnpacked(entry: Entry, { mtimeMs }: Found["stat"]): Unpacked | null {
    try {
      const unpacked = this.#archives?.take(entry.key) ?? null;
      if (unpacked !== null) this.#unpackRetries.delete(entry.key);
      return unpacked;
    } catch (error) {
      const againMs = isBroken(error) ? undefined : this.#unpackAgainMs(entry.key);
      entry.passedOver = { mtimeMs, ...(againMs !== undefined && { againMs }) };
      throw error;
    }
  }

  #unpackAgainMs(key: string): number {
    const retries = this.#unpackRetries.get(key) ?? new Backoff(UNPACK_RETRY);
    this.#unpackRetries.set(key, retries);
    return this.#context.clock.monotonic() + retries.next();
  }

  /**
   * Returns true for an archive that was read before, or that existed before a first start that skips existing files.
   */
  #passesOver(key: string, { stat, path }: Found, firstScan: boolean): boolean {
    const { registry, id, clock } = this.#context;
    const row = registry.get(key);
    if (row === undefined && this.#options.tailFiles && firstScan && !this.#hadRows) {
      registry.put(key, { ...newRow(id, path, 0, clock.now()), size: stat.size, mtimeMs: stat.mtimeMs });
      return true;
    }
    return row?.size === stat.size && row.mtimeMs === stat.mtimeMs;
  }

  /** Forgets a file that is gone. */
  forget(key: string): void {
    this.#copies.forget(key);
    this.#archives?.forget(key);
    this.#unpackRetries.delete(key);
    this.#held.forget(key);
  }

  #createHarvester({ key, path, fd, archive }: Candidate, row: FileRow): Harvester {
    const { id, output, registry, clock, metrics, isNear, dataFolder } = this.#context;
    const { inputType, fieldsOf } = this.#options;
    const fieldsJson = fieldsOf?.(path) ?? this.#context.fieldsJson;
    return new Harvester({
      key,
      path,
      fd,
      archive,
      near: isNear(archive === null ? path : dataFolder),
      row,
      maxLineBytes: this.#options.maxBytes,
      output,
      events: this.#eventCutting(path),
      onHole: (bytes) => metrics.nulBytes.inc({ input: id }, bytes),
      openChannel: ({ fileKey, generation }) =>
        output.channel({ inputId: id, inputType, fileKey, generation, path }, fieldsJson),
      persist: () => registry.checkpoint(),
      onChange: () => {
        registry.touch(key);
        this.#copies.note(key, row);
      },
      nowMs: () => clock.now(),
      monotonicMs: () => clock.monotonic(),
    });
  }

  #awaitsFields(path: string): boolean {
    const { fieldsOf, awaitsFields } = this.#options;
    if (awaitsFields === null) return false;
    fieldsOf?.(path); // starts the request for them
    return awaitsFields(path);
  }

  #eventCutting(path: string): EventCutting | null {
    const { createFormat, maxBytes } = this.#options;
    if (createFormat === null) return null;
    const { metrics, id, output } = this.#context;
    return {
      format: createFormat(path, Math.min(maxBytes, output.maxBodyBytes - EVENT_ROOM_BYTES)),
      scratch: this.#scratch,
      onTruncated: (bytes) => metrics.truncatedBytes.inc({ input: id }, bytes),
    };
  }

  /** Returns the file's row, a new one if it has none; null if this input doesn't read it, "wait" if not yet. */
  #claimRow(
    entry: Entry,
    { path, stat }: Found,
    candidate: Candidate,
    others: Iterable<Harvester>,
    firstScan: boolean,
  ): FileRow | "wait" | null {
    const { registry, id } = this.#context;
    const known = registry.get(entry.key);
    const { size } = candidate.archive ?? candidate;
    if (known !== undefined && known.size === size && known.mtimeMs === stat.mtimeMs) return null;
    const owner = registry.claim(entry.key, id);
    if (owner !== id) {
      entry.passedOver = { mtimeMs: stat.mtimeMs };
      this.#notices.notRead(path, `input ${owner} reads it already`);
      return null;
    }
    if (this.#awaitsFields(path)) {
      registry.release(entry.key);
      return "wait";
    }
    if (known === undefined) {
      const held = this.#options.succession?.holds(entry.key, path, others) ?? false;
      const made = held
        ? "wait"
        : (this.#formerRow(entry.key, path, others) ??
          this.#firstRow(entry, { path, mtimeMs: stat.mtimeMs }, candidate, others, firstScan));
      if (made === null || made === "wait") {
        registry.release(entry.key);
        return made;
      }
      registry.put(entry.key, made);
    }
    const row = registry.get(entry.key)!;
    row.input = id;
    return row;
  }

  /** Takes over the row of a file whose device has another number now; null if it has none, "wait" while it is in use. */
  #formerRow(key: string, path: string, others: Iterable<Harvester>): FileRow | "wait" | null {
    const { registry, log } = this.#context;
    const former = this.#copies.formerKey(key, path);
    const row = former === null ? undefined : registry.get(former);
    if (former === null || row === undefined) return null;
    if ([...others].some((each) => each.key === former)) return "wait";
    const entry = this.#options.index.byKey(former);
    if (entry !== undefined) entry.size = 0; // nothing of it is lost
    log.debug({ path, former, key }, "the file's device has another number; the file is read on");
    registry.delete(former);
    this.forget(former);
    return { ...row, source: sourceOf(former, row) };
  }

  /** Returns the row of an unread file, null if it isn't to be read, "wait" if not yet. */
  #firstRow(
    entry: Entry,
    { path, mtimeMs }: { readonly path: string; readonly mtimeMs: number },
    candidate: Candidate,
    others: Iterable<Harvester>,
    firstScan: boolean,
  ): FileRow | "wait" | null {
    const { fd, size } = candidate;
    if (size === 0) return null;
    const head = Buffer.alloc(Math.min(HEAD_BYTES, size));
    const kind = binaryKind(
      path,
      head.subarray(0, readSync(fd, head, 0, head.length, 0)),
      this.#options.wideText,
    );
    if (kind !== null) {
      entry.passedOver = { mtimeMs };
      this.#notices.notRead(path, `it is ${kind}, no plain text`);
      return null;
    }
    const copied = this.#copies.judge(candidate, others);
    if (copied !== "other") return copied;
    const { id, clock } = this.#context;
    const offset = this.#options.tailFiles && firstScan && !this.#hadRows ? size : 0;
    return newRow(id, path, offset, clock.now());
  }
}
