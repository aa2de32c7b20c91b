/** Tracks the offset up to which one source is acknowledged without a gap. */

/** Describes the bytes before an offset, to recognise later whether they are still the same. */
export interface Anchor {
  /** Length, bytes; 0: no bytes are known. */
  readonly bytes: number;
  /** Hash of them. */
  readonly hash: string;
}

/** The anchor that fits everything. */
export const NO_ANCHOR: Anchor = { bytes: 0, hash: "" };

/** A range in flight. */
export interface Flight {
  readonly from: number;
  readonly to: number;
  /** Of the bytes before `to`. */
  readonly anchor: Anchor;
  acked: boolean;
}

/**
 * Takes ranges in ascending order and their acknowledgements in any. `sent` is the end of the first
 * unbroken run of acknowledged ranges: a restart reads on there.
 */
export class AckTracker {
  #flights: Flight[] = [];
  #sent: number;
  #anchor: Anchor;

  constructor(sent: number, anchor: Anchor) {
    this.#sent = sent;
    this.#anchor = anchor;
  }

  /** Everything below is acknowledged, bytes. */
  get sent(): number {
    return this.#sent;
  }

  /** Of the bytes before `sent`. */
  get anchor(): Anchor {
    return this.#anchor;
  }

  /** True where nothing is in flight. */
  get idle(): boolean {
    return this.#flights.length === 0;
  }

  /** Records that [from, to) is sent off; `from` is where the range before ended. */
  begin(from: number, to: number, anchor: Anchor): Flight {
    const flight = { from, to, anchor, acked: false };
    this.#flights.push(flight);
    return flight;
  }

  /** Records an acknowledgement; returns true where `sent` moved. A flight of another tracker changes nothing. */
  ack(flight: Flight): boolean {
    flight.acked = true;
    let moved = false;
    for (let first = this.#flights[0]; first?.acked; first = this.#flights[0]) {
      this.#sent = first.to;
      this.#anchor = first.anchor;
      this.#flights.shift();
      moved = true;
    }
    return moved;
  }
}
