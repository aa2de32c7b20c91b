/** The order of texts that are addresses. */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import { compareKeys } from "./bucket-order.ts";

/** Addresses whose bytes are remembered; beyond it all are dropped. */
const MAX_ADDRESSES = 100_000;

/** Compares addresses by their 16 bytes, which are computed once for all comparisons of a sort. */
export class AddressOrder {
  readonly #known = new Map<string, Uint8Array | null>();

  /** A field may be of addresses in one index and of texts in another: texts that aren't addresses come last. */
  readonly compare = (a: string, b: string): number => {
    const [left, right] = [this.#bytes(a), this.#bytes(b)];
    if (left === null || right === null)
      return Number(left === null) - Number(right === null) || compareKeys(a, b);
    return Buffer.compare(left, right) || compareKeys(a, b);
  };

  #bytes(text: string): Uint8Array | null {
    let bytes = this.#known.get(text);
    if (bytes === undefined) {
      if (this.#known.size >= MAX_ADDRESSES) this.#known.clear();
      bytes = parseIp(text);
      this.#known.set(text, bytes);
    }
    return bytes;
  }
}
