/** Ids of documents that came without one. */

import { randomBytes } from "node:crypto";

/** Bytes of an id: 6 of time, 3 of a counter, 6 of this process. */
const ID_BYTES = 15;

/** Characters of an id. */
export const ID_CHARACTERS = 20;

/** Makes ids that are unique over processes and rise with time: 20 characters base64url. */
export class DocumentIds {
  readonly #bytes = Buffer.concat([Buffer.alloc(9), randomBytes(6)], ID_BYTES);
  readonly #now: () => number;
  #lastMs = 0;
  #counter = randomBytes(3).readUIntBE(0, 3);

  constructor(now: () => number) {
    this.#now = now;
  }

  next(): string {
    this.#counter = (this.#counter + 1) & 0xff_ffff;
    this.#lastMs = Math.max(this.#lastMs + (this.#counter === 0 ? 1 : 0), this.#now());
    this.#bytes.writeUIntBE(this.#lastMs, 0, 6);
    this.#bytes.writeUIntBE(this.#counter, 6, 3);
    return this.#bytes.toString("base64url");
  }
}
