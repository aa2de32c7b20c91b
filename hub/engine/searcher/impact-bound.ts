/** What a search by score says of the documents that are still of use to it. */

/** Says which impacts are of use: those whose largest freq is at least what the smallest norm byte asks for. */
export interface ImpactBound {
  /** Smallest useful freq by norm byte; 0: `find` tells it, and writes it here. */
  readonly leastFreqs: Uint16Array;
  /** Smallest useful freq of a norm byte, 1..255; a larger number where no freq is. */
  find(norm: number): number;
}
