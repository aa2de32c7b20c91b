/** Ids of log events' documents: the same event has the same id however often it is processed. */

import { createHash } from "node:crypto";

/** Bytes of the hash of source and pipeline that an id begins with. */
const HASH_BYTES = 8;

/** 8 bytes hash, 6 bytes offset, 1 byte child. */
const ID_BYTES = 15;

/** From this child on, its number follows in three more bytes. */
const LONG_CHILD = 255;

/** Makes the ids of one source's events in one pipeline. */
export class DocumentIds {
  readonly #bytes = Buffer.alloc(ID_BYTES + 3);

  /** `sourceKey`: `<agent id>/<file key>/<generation>`. */
  constructor(sourceKey: string, pipelineId: string) {
    createHash("sha256").update(`${sourceKey}/${pipelineId}`).digest().copy(this.#bytes, 0, 0, HASH_BYTES);
  }

  /** Returns the id, 20 characters of base64url (24 from the 256th child on); `child` counts the results of one event. */
  of(offset: number, child: number): string {
    const bytes = this.#bytes;
    bytes.writeUIntBE(offset, HASH_BYTES, 6);
    if (child < LONG_CHILD) {
      bytes[ID_BYTES - 1] = child;
      return bytes.toString("base64url", 0, ID_BYTES);
    }
    bytes[ID_BYTES - 1] = LONG_CHILD;
    bytes.writeUIntBE(child, ID_BYTES, 3);
    return bytes.toString("base64url", 0, ID_BYTES + 3);
  }
}
