/** Opens files: decides whether one is to be read at all and where reading begins. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { InputContext } from "#agent/inputs/input.ts";
import type { EventFormat } from "#agent/lines/event-format.ts";
import { type FileRow, newRow } from "#agent/registry/row.ts";
import type { Candidate } from "./copies.ts";
import { CopyJudge } from "./copy-judge.ts";
import type { Entry, FileIndex } from "./file-index.ts";
import { Harvester } from "./harvester.ts";
import type { EventCutting } from "./harvester-options.ts";
import { ANCHOR_BYTES, fileKey, HEAD_BYTES, inodeKey } from "./identity.ts";
import type { Notices } from "./notices.ts";
import type { Found } from "./scanner.ts";
import { Scratch } from "./scratch.ts";
import type { Succession } from "./succession.ts";
import { binaryKind } from "./text-probe.ts";

export interface FileOpenerOptions {
  /** Type of the input, for the source of batches. */
  readonly inputType: string;
  /** Makes what cuts events of a file; null: blocks of files are sent as they are. */
  readonly createFormat: ((path: string, maxEventBytes: number) => EventFormat) | null;
  /** Returns {"fields": {}, "tags": []} of a file; null: those of the input. */
  readonly fieldsOf: ((path: string) => Uint8Array) | null;
  /** Returns true while fields of a file are awaited: it is opened when they are there. */
  readonly awaitsFields: ((path: string) => boolean) | null;
  /** True where the files' encoding has NULs in ordinary text. */
  readonly wideText: boolean;
  /** 0: none. */
  readonly ignoreOlderMs: number;
  readonly tailFiles: boolean;
  /** The files that are known. */
  readonly index: FileIndex;
  /** Returns true for a file, named by its key, that the last search found. */
  readonly isPresent: (key: string) => boolean;
  /** Where events may go on in the next file; null: they don't. */
  readonly succession: Succession | null;
  /** Longest line that stays whole, bytes. */
  readonly maxBytes: number;
}

/** What an event takes in a message beside its text. */
const EVENT_ROOM_BYTES = 4_096;

export class FileOpener {
  readonly #options: FileOpenerOptions;
  readonly #context: InputContext;
  readonly #notices: Notices;
  readonly #copies: CopyJudge;
  readonly #scratch: Scratch;
  /** Inodes of files that the registry knew at the start. */
  readonly #inodesOfRows = new Set<string>();
  #hadRows = false;

  constructor(options: FileOpenerOptions, context: InputContext, notices: Notices) {
    this.#options = options;
    this.#context = context;
    this.#notices = notices;
    this.#copies = new CopyJudge({ ...context, inputId: context.id, isPresent: options.isPresent });
    this.#scratch = new Scratch(context.batchBytes + ANCHOR_BYTES);
    for (const [key, row] of context.registry.rows()) {
      this.#copies.note(key, row);
      this.#inodesOfRows.add(inodeOf(key));
      if (row.input === context.id) this.#hadRows = true;
    }
  }

  /** Returns true where opening the file may bring something; a cheap answer from its stat. */
  worthOpening(entry: Entry, { stat, path }: Found): boolean {
    if (entry.passedOver?.mtimeMs === stat.mtimeMs) return false;
    const row = entry.key === "" ? undefined : this.#context.registry.get(entry.key);
    if (entry.key === "" && stat.size === 0 && !this.#inodesOfRows.has(entry.inode)) return false;
    if (row !== undefined && row.size === stat.size && row.mtimeMs === stat.mtimeMs) return false;
    const { ignoreOlderMs } = this.#options;
    const old = ignoreOlderMs > 0 && this.#context.clock.now() - stat.mtimeMs > ignoreOlderMs;
    const own = !old && this.#context.isOwnFile(stat, path);
    if (own) this.#notices.notRead(path, "the agent writes it itself");
    if (old || own) entry.passedOver = { mtimeMs: stat.mtimeMs };
    return !old && !own;
  }

  /**
   * Returns a harvester for the file, or null where it is not to be read now. `others`: open files, which may
   * be the originals of copies. Throws the system's error where the file can't be opened.
   */
  open(entry: Entry, found: Found, others: Iterable<Harvester>, firstScan: boolean): Harvester | null {
    const fd = openSync(found.raw, constants.O_RDONLY | constants.O_NONBLOCK);
    let harvester: Harvester | null = null;
    try {
      const stat = fstatSync(fd, { bigint: true });
      const replaced = inodeKey(Number(stat.dev), Number(stat.ino)) !== entry.inode;
      if (replaced || !stat.isFile()) return null;
      this.#options.index.identify(entry, fileKey(stat, this.#context.tellsBirth));
      const candidate = { key: entry.key, path: found.path, fd, size: Number(stat.size) };
      const row = this.#claimRow(entry, found, candidate, others, firstScan);
      if (row !== null) harvester = this.#createHarvester(candidate, row);
    } finally {
      if (harvester === null) closeSync(fd);
    }
    return harvester;
  }

  /** Forgets a file that is gone. `row`: what the registry had of it. */
  forget(key: string, row: FileRow | undefined): void {
    this.#copies.forget(key, row);
  }

  #createHarvester({ key, path, fd }: Candidate, row: FileRow): Harvester {
    const { id, output, registry, clock, metrics } = this.#context;
    const { inputType, fieldsOf } = this.#options;
    const fieldsJson = fieldsOf?.(path) ?? this.#context.fieldsJson;
    return new Harvester({
      key,
      path,
      fd,
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
    fieldsOf?.(path); // asks for them
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

  /** Returns the file's row, made where it has none, or null where this input doesn't read it now. */
  #claimRow(
    entry: Entry,
    { path, stat }: Found,
    candidate: Candidate,
    others: Iterable<Harvester>,
    firstScan: boolean,
  ): FileRow | null {
    const { registry, id } = this.#context;
    const known = registry.get(entry.key);
    if (known !== undefined && known.size === candidate.size && known.mtimeMs === stat.mtimeMs) return null;
    const owner = registry.claim(entry.key, id);
    if (owner !== id) {
      entry.passedOver = { mtimeMs: stat.mtimeMs };
      this.#notices.notRead(path, `input ${owner} reads it already`);
      return null;
    }
    if (this.#awaitsFields(path)) {
      registry.release(entry.key);
      return null;
    }
    if (known === undefined) {
      const held = this.#options.succession?.holds(entry.key, path, others) ?? false;
      const made = held
        ? null
        : this.#firstRow(entry, { path, mtimeMs: stat.mtimeMs }, candidate, others, firstScan);
      if (made === null) {
        registry.release(entry.key);
        return null;
      }
      registry.put(entry.key, made);
    }
    const row = registry.get(entry.key)!;
    row.input = id;
    return row;
  }

  /** Returns the row of a file nobody has read, or null where it isn't to be read now. */
  #firstRow(
    entry: Entry,
    { path, mtimeMs }: { readonly path: string; readonly mtimeMs: number },
    candidate: Candidate,
    others: Iterable<Harvester>,
    firstScan: boolean,
  ): FileRow | null {
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
    if (copied !== "other") return copied === "wait" ? null : copied;
    const { id, clock } = this.#context;
    const offset = this.#options.tailFiles && firstScan && !this.#hadRows ? size : 0;
    return newRow(id, path, offset, clock.now());
  }
}

/** Returns "<dev>-<inode>" of a file key. */
export function inodeOf(key: string): string {
  return key.slice(0, key.lastIndexOf("-"));
}
