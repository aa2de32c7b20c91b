/** A position in one of the log's streams. */

/**
 * `incarnation`, from 1, grows when the stream was lost, rolled back or recreated.
 * `sequence` is the stream sequence of the last message taken in; 0: none. Positions order by both.
 */
export interface Position {
  readonly incarnation: number;
  readonly sequence: number;
}

/** The position before everything. */
export const START: Position = { incarnation: 0, sequence: 0 };

/** Returns the later one of two positions. */
export function laterOf(a: Position, b: Position): Position {
  return comparePositions(a, b) < 0 ? b : a;
}

/** Returns the earliest of positions; START without any. */
export function lowestOf(positions: readonly Position[]): Position {
  const [first = START, ...rest] = positions;
  return rest.reduce(
    (lowest, position) => (comparePositions(position, lowest) < 0 ? position : lowest),
    first,
  );
}

/** Returns a negative number, 0 or a positive number as `a` is before, at or after `b`. */
export function comparePositions(a: Position, b: Position): number {
  return a.incarnation - b.incarnation || a.sequence - b.sequence;
}
