/**
 * Messages of the log in a file, each of new documents: so that the process that is measured makes nothing but an index.
 * Each is its length, u32, and its bytes.
 */

import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { writeFully } from "#proto/kit/files/files.ts";
import { DocBatch, DocOperation } from "#proto/messages.ts";
import type { CorpusDocument } from "./log-corpus.ts";

const LENGTH_BYTES = 4;

/** Writes a file of messages. */
export class MessageFileWriter {
  /** Of the documents' JSON so far. */
  sourceBytes = 0;
  readonly path: string;
  readonly #fd: number;

  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, "wx");
  }

  /** Adds a message of some documents. */
  add(documents: readonly CorpusDocument[]): void {
    const operations = documents.map(({ id, json }) => {
      const source = Buffer.from(json);
      this.sourceBytes += source.length;
      return { kind: DocOperation.Kind.INDEX, id, source, appendOnly: true };
    });
    const message = DocBatch.encode({ operations, timeMs: 1, lenient: true }).finish();
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(message.length);
    writeSync(this.#fd, length);
    writeFully(this.#fd, message);
  }

  /** Closes the file once it is on disk: what is measured later shares the disk with nothing of this. */
  close(): void {
    fsyncSync(this.#fd);
    closeSync(this.#fd);
  }
}

/** Reads the messages of a file in their order. */
export class MessageFile {
  readonly #fd: number;
  #buffer = Buffer.alloc(LENGTH_BYTES);

  constructor(path: string) {
    this.#fd = openSync(path, "r");
  }

  /** The next message, good until the one after it is read. Throws where there is none. */
  next(): Uint8Array {
    const length = this.#read(LENGTH_BYTES).readUInt32LE();
    return this.#read(length);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #read(count: number): Buffer {
    if (this.#buffer.length < count) this.#buffer = Buffer.alloc(2 * count);
    let done = 0;
    while (done < count) {
      const more = readSync(this.#fd, this.#buffer, done, count - done, null);
      if (more === 0) throw new Error("the file of messages ends too early");
      done += more;
    }
    return this.#buffer.subarray(0, count);
  }
}
