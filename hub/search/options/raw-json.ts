/** JSON text that is copied to the answer unchanged. */

/** A document as it was sent: its numbers, key order and white space stay. */
export class RawJson {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get text(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString("utf8");
  }

  /** The value, for those who need to look into it. */
  parse(): unknown {
    return JSON.parse(this.text);
  }

  /** So that plain JSON.stringify is right too, if not exact. */
  toJSON(): unknown {
    return this.parse();
  }
}
