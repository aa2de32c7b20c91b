/** Lists of numbers that grow, without an object per number. */

import { grown } from "./byte-buffer.ts";

/** Whole numbers of 32 bits. */
export class IntList {
  values = new Int32Array(16);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.values = grown(this.values, this.length + 1);
    this.values[this.length++] = value;
  }

  view(): Int32Array {
    return this.values.subarray(0, this.length);
  }
}

/** Numbers of 64 bits. */
export class FloatList {
  values = new Float64Array(16);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.values = grown(this.values, this.length + 1);
    this.values[this.length++] = value;
  }

  view(): Float64Array {
    return this.values.subarray(0, this.length);
  }
}
