/** A segment within its shard: its changing live documents, its files, and the segments that searchers see. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { readU32, writeU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { crc32c } from "#hub/engine/encoding/crc32c.ts";
import { beginSync } from "#hub/engine/files/early-sync.ts";
import { FileSink, SegmentFile } from "#hub/engine/files/segment-file.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import type { Segment } from "#hub/engine/segment/segment.ts";
import { SnapshotReader } from "#hub/engine/segment/snapshot-reader.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";
import type { Position } from "#proto/position.ts";
import type { ManifestSegment } from "./manifest.ts";

/** Document count and CRC. */
const HEADER_BYTES = 8;

/** Changes of live documents become visible with the next snapshot and durable with the next commit. */
export class ShardSegment {
  readonly segment: Segment;
  /** The segment's documents come from messages after this position. */
  readonly after: Position;
  #live: Bitset | null;
  #liveCount: number;
  /** What snapshots see; replaced, never changed. */
  #snapshot: SnapshotReader | null = null;
  #liveGeneration: number;
  #liveDirty = false;
  /** Bytes that aren't in a file yet. */
  #image: Uint8Array | null;
  /** The file that holds the only copy of the bytes, until it is durable. */
  #unsynced: FileSink | null = null;
  #isLost = false;

  constructor(
    segment: Segment,
    after: Position,
    live: Bitset | null,
    liveGeneration: number,
    image: Uint8Array | null,
  ) {
    this.segment = segment;
    this.after = after;
    this.#live = live;
    this.#liveCount = live === null ? segment.docCount : live.count();
    this.#liveGeneration = liveGeneration;
    this.#image = image;
    // A fresh segment may have dead documents that no file records yet.
    this.#liveDirty = live !== null && liveGeneration === 0;
  }

  get liveCount(): number {
    return this.#liveCount;
  }

  /** Bytes held in memory until the next commit. */
  get imageBytes(): number {
    return this.#image?.length ?? 0;
  }

  /** Bytes that aren't durable yet. */
  get uncommittedBytes(): number {
    return this.#unsynced === null ? this.imageBytes : this.segment.sizeBytes;
  }

  /** The file with the only copy of the bytes couldn't be made durable: after a crash it may lack some. */
  get isLost(): boolean {
    return this.#isLost;
  }

  isLive(doc: number): boolean {
    return this.#live === null || this.#live.has(doc);
  }

  /** Live documents now, not to be changed; null for all. */
  get liveDocs(): Bitset | null {
    return this.#live;
  }

  kill(doc: number): void {
    if (!this.isLive(doc)) return;
    this.#live ??= Bitset.full(this.segment.docCount);
    this.#live.remove(doc);
    this.#liveCount--;
    this.#liveDirty = true;
    this.#snapshot = null;
  }

  /** Live document of an id, or -1. */
  find(id: Uint8Array): number {
    return this.segment.find(id, (doc) => this.isLive(doc));
  }

  /** The segment as of now; the same object until documents die. */
  snapshot(): SnapshotReader {
    this.#snapshot ??= new SnapshotReader(this.segment, this.#live?.clone() ?? null);
    return this.#snapshot;
  }

  /**
   * Writes a segment that nobody has read yet to its file in `folder` and frees its memory. The disk stores the file while the
   * thread continues; `persist` waits for that. Throws what writing throws, and the segment stays in memory.
   */
  writeAhead(folder: string): void {
    const image = this.#image;
    if (image === null) return;
    const path = join(folder, segmentFileName(this.segment.name));
    this.#unsynced = writeImage(path, image, () => this.#openFile(path));
    this.#image = null;
    beginSync(path);
    // All of its memory, of which the image is the first part.
    freeBytes(new Uint8Array(image.buffer));
  }

  /**
   * Makes segment and live documents durable in `folder`. Returns the names of files that are replaced by newer ones. Throws
   * what writing throws; it can be tried again unless the segment is lost then.
   */
  persist(folder: string): string[] {
    if (this.#unsynced !== null) this.#sync(this.#unsynced);
    if (this.#image !== null) {
      const path = join(folder, segmentFileName(this.segment.name));
      writeImage(path, this.#image, (sink) => {
        sink.finish();
        this.#openFile(path);
      });
      this.#image = null;
    }
    if (this.#liveDirty && this.#live !== null) {
      writeLiveDocs(join(folder, liveFileName(this.segment.name, this.#liveGeneration + 1)), this.#live);
      this.#liveGeneration++;
      this.#liveDirty = false;
      if (this.#liveGeneration > 1) return [liveFileName(this.segment.name, this.#liveGeneration - 1)];
    }
    return [];
  }

  /** Releases the segment; readers that have it keep it. */
  release(): void {
    this.#unsynced?.abandon();
    this.#unsynced = null;
    this.segment.release();
  }

  /** Files of the segment in the shard's folder, written or not. */
  fileNames(): string[] {
    const { name } = this.segment;
    return [segmentFileName(name), liveFileName(name, this.#liveGeneration)];
  }

  describe(): ManifestSegment {
    return {
      name: this.segment.name,
      docs: this.segment.docCount,
      sizeBytes: this.segment.sizeBytes,
      checksum: this.segment.checksum,
      liveGeneration: this.#liveGeneration,
      after: this.after,
    };
  }

  #openFile(path: string): void {
    this.segment.replaceFile(SegmentFile.open(this.segment.name, path));
  }

  #sync(sink: FileSink): void {
    try {
      sink.finish();
    } catch (error) {
      // The system may have dropped what it couldn't write, and reports that only once.
      this.#isLost = true;
      throw error;
    }
    this.#unsynced = null;
  }
}

/** Writes `image` to a new file, which is removed again if that or `then` fails. Returns the open file. */
function writeImage(path: string, image: Uint8Array, then: (sink: FileSink) => void): FileSink {
  const sink = new FileSink(path);
  try {
    sink.write(image);
    then(sink);
    return sink;
  } catch (error) {
    sink.abandon();
    rmSync(path, { force: true });
    throw error;
  }
}

export function segmentFileName(name: string): string {
  return `${name}.seg`;
}

export function liveFileName(name: string, generation: number): string {
  return `${name}-${generation}.liv`;
}

/** Writes `live` durably. */
function writeLiveDocs(path: string, live: Bitset): void {
  const words = new Uint8Array(live.words.buffer, live.words.byteOffset, live.words.byteLength);
  const bytes = new Uint8Array(HEADER_BYTES + words.length);
  writeU32(bytes, 0, live.size);
  bytes.set(words, HEADER_BYTES);
  writeU32(bytes, 4, crc32c(words, 0, words.length, live.size));
  writeFileAtomic(path, bytes);
}

/** Reads the live documents of a segment of `docCount`. Throws data_corrupt, or the system's error. */
export function readLiveDocs(path: string, docCount: number): Bitset {
  const bytes = readFileSync(path);
  const words = new Uint8Array(bytes.subarray(HEADER_BYTES));
  const isWhole =
    bytes.length === HEADER_BYTES + 4 * ((docCount + 31) >>> 5) && readU32(bytes, 0) === docCount;
  if (!isWhole || readU32(bytes, 4) !== crc32c(words, 0, words.length, docCount)) {
    throw new AppError("data_corrupt", `${path} is damaged`);
  }
  return new Bitset(docCount, new Uint32Array(words.buffer));
}

/** Belongs to the shard's thread. */
export class VisibleSegments {
  #readers: readonly SnapshotReader[] = [];

  /** Shows segments as they are now to searchers made from now on. Returns true if something changed. */
  show(segments: readonly ShardSegment[]): boolean {
    const visible = segments.filter((entry) => entry.liveCount > 0).map((entry) => entry.snapshot());
    const before = this.#readers;
    if (visible.length === before.length && visible.every((reader, index) => reader === before[index]))
      return false;
    for (const reader of visible) reader.segment.retain();
    this.#readers = visible;
    for (const reader of before) reader.segment.release();
    return true;
  }

  /** A snapshot as of the last `show`; its `close` must be called. */
  searcher(mapping: Mapping): Searcher {
    const readers = this.#readers;
    for (const reader of readers) reader.segment.retain();
    let isOpen = true;
    return {
      segments: readers,
      mapping,
      totalDocs: readers.reduce((total, reader) => total + reader.liveCount, 0),
      close() {
        if (isOpen) for (const reader of readers) reader.segment.release();
        isOpen = false;
      },
    };
  }

  /** Makes no documents visible any more; searchers that are open stay readable. */
  close(): void {
    for (const reader of this.#readers) reader.segment.release();
    this.#readers = [];
  }
}
