/**
 * The format of snapshots of indices in a repository, see README.md here: a description for each snapshot, and pages of
 * documents.
 */

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { RepositoryBlobs } from "#hub/api/ports/repositories.ts";
import type { FoundDocument } from "#hub/api/routes/by-query/change-by-query.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

const pack = promisify(gzip);
const unpack = promisify(gunzip);

const FORMAT = 1;
const DESCRIPTIONS = "index-snapshots/";
const PAGES = "index-pages/";
/** Bytes of documents at which a page is stored; the last document may exceed it. */
const PAGE_BYTES = 8 << 20;
/** A page holds at most one document beyond PAGE_BYTES, and requests are smaller than this. */
const MAX_PAGE_BYTES = 256 << 20;
const LF = 10;

export type SnapshotState = "IN_PROGRESS" | "SUCCESS" | "FAILED";

/** An index in a snapshot. */
export interface SnapshotIndex {
  readonly name: string;
  readonly shards: number;
  readonly replicas: number;
  /** Dotted, without "index."; without the numbers of shards and replicas. */
  readonly settings: JsonObject;
  readonly mapping: JsonObject;
  readonly aliases: JsonObject;
  readonly dataStream?: string;
  readonly docs: number;
  /** Bytes of the pages as stored. */
  readonly bytes: number;
  /** Keys of the pages, in order. */
  readonly pages: readonly string[];
}

/** A snapshot. */
export interface SnapshotRecord {
  readonly format: number;
  readonly snapshot: string;
  /** Also part of the keys of its pages, unique to this snapshot. */
  readonly uuid: string;
  readonly state: SnapshotState;
  readonly indices: readonly SnapshotIndex[];
  readonly includeGlobalState: boolean;
  /** Templates, if they are included. */
  readonly globalState?: JsonObject;
  readonly metadata?: JsonObject;
  /** Version that answers named when it was taken, e.g. "6.5.4". */
  readonly version: string;
  /** ms since 1970-01-01 UTC. */
  readonly startMs: number;
  readonly endMs: number;
  /** Why it failed. */
  readonly failure?: string;
}

/** The snapshots of one repository. */
export class IndexSnapshots {
  readonly #blobs: RepositoryBlobs;

  constructor(blobs: RepositoryBlobs) {
    this.#blobs = blobs;
  }

  /** Returns the names of all snapshots, sorted. */
  async names(): Promise<string[]> {
    const keys = await this.#blobs.list(DESCRIPTIONS);
    return keys
      .filter((key) => key.endsWith(".json"))
      .map((key) => key.slice(DESCRIPTIONS.length, -".json".length));
  }

  /** Returns a snapshot; undefined if there is none. Throws data_corrupt. */
  async read(name: string): Promise<SnapshotRecord | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = await this.#blobs.get(keyOf(name));
    } catch (error) {
      if (toAppError(error).code === "not_found") return undefined;
      throw error;
    }
    try {
      const record = JSON.parse(Buffer.from(bytes).toString()) as SnapshotRecord;
      if (record.format === FORMAT) return record;
    } catch (error) {
      throw new AppError("data_corrupt", `snapshot [${name}] can't be read`, { cause: error });
    }
    throw new AppError("data_corrupt", `snapshot [${name}] has a format that this version doesn't read`);
  }

  /** Returns all snapshots, sorted by start time. */
  async all(): Promise<SnapshotRecord[]> {
    const records: SnapshotRecord[] = [];
    for (const name of await this.names()) {
      const record = await this.read(name);
      if (record !== undefined) records.push(record);
    }
    return records.sort((a, b) => a.startMs - b.startMs);
  }

  async write(record: Omit<SnapshotRecord, "format">): Promise<void> {
    await this.#blobs.put(keyOf(record.snapshot), Buffer.from(JSON.stringify({ ...record, format: FORMAT })));
  }

  /** Removes a snapshot, then the pages that no other snapshot uses. */
  async remove(name: string): Promise<void> {
    await this.#blobs.remove(keyOf(name));
    await this.cleanUp();
  }

  /**
   * Removes pages that no snapshot uses, except those of a running snapshot, whose description doesn't name them yet.
   * Returns what was removed.
   */
  async cleanUp(): Promise<{ blobs: number; bytes: number }> {
    // Listed before the descriptions are read: a page that is stored later could be missing in them.
    const keys = await this.#blobs.list(PAGES);
    const records = await this.all();
    const used = new Set(records.flatMap(({ indices }) => indices.flatMap(({ pages }) => pages)));
    const growing = records
      .filter(({ state }) => state === "IN_PROGRESS")
      .map(({ uuid }) => `${PAGES}${uuid}/`);
    let blobs = 0;
    let bytes = 0;
    for (const key of keys) {
      if (used.has(key) || growing.some((prefix) => key.startsWith(prefix))) continue;
      bytes += (await this.#blobs.get(key)).length;
      await this.#blobs.remove(key);
      blobs++;
    }
    return { blobs, bytes };
  }

  /** Returns the writer for the documents of an index. `uuid`: that of the snapshot. */
  pages(uuid: string, index: number): PageWriter {
    return new PageWriter(this.#blobs, `${PAGES}${uuid}/${index}/`);
  }

  /** Returns the documents of a page. Throws data_corrupt, not_found. */
  async documents(index: string, key: string): Promise<FoundDocument[]> {
    const packed = await this.#blobs.get(key);
    try {
      return decodePage(index, await unpack(packed, { maxOutputLength: MAX_PAGE_BYTES }));
    } catch (error) {
      throw new AppError("data_corrupt", `page [${key}] of the snapshot is damaged`, { cause: error });
    }
  }

  /** Writes, reads and removes a blob. Throws the errors of the storage. */
  async verify(id: string): Promise<void> {
    const key = `tests-${id}`;
    await this.#blobs.put(key, Buffer.from(id));
    await this.#blobs.get(key);
    await this.#blobs.remove(key);
  }
}

/** Collects documents into pages. */
export class PageWriter {
  readonly keys: string[] = [];
  docs = 0;
  bytes = 0;
  readonly #blobs: RepositoryBlobs;
  readonly #prefix: string;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(blobs: RepositoryBlobs, prefix: string) {
    this.#blobs = blobs;
    this.#prefix = prefix;
  }

  async add({ id, routing, version, source }: FoundDocument): Promise<void> {
    const head = Buffer.from(`${JSON.stringify({ id, routing, version, bytes: source.length })}\n`);
    this.#parts.push(head, source);
    this.#size += head.length + source.length;
    this.docs++;
    if (this.#size >= PAGE_BYTES) await this.flush();
  }

  /** Stores the remaining documents. */
  async flush(): Promise<void> {
    if (this.#parts.length === 0) return;
    const bytes = await pack(Buffer.concat(this.#parts));
    const key = `${this.#prefix}${String(this.keys.length).padStart(6, "0")}`;
    await this.#blobs.put(key, bytes);
    this.keys.push(key);
    this.bytes += bytes.length;
    this.#parts = [];
    this.#size = 0;
  }
}

function decodePage(index: string, bytes: Buffer): FoundDocument[] {
  const found: FoundDocument[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(LF, at);
    const head = JSON.parse(bytes.toString("utf8", at, end)) as {
      id: string;
      routing?: string;
      version?: number;
      bytes: number;
    };
    const from = end + 1;
    at = from + head.bytes;
    if (end < 0 || at > bytes.length) throw new Error("the page ends within a document");
    const { id, routing, version } = head;
    const source = bytes.subarray(from, at);
    found.push({
      index,
      type: undefined,
      id,
      version,
      seqNo: undefined,
      primaryTerm: undefined,
      routing,
      source,
    });
  }
  return found;
}

function keyOf(name: string): string {
  return `${DESCRIPTIONS}${name}.json`;
}
