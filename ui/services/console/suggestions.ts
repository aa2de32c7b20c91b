/** The console's suggestions at the cursor. */

export interface Suggestion {
  readonly label: string;
  /** Replaces the text between `from` and `to`. */
  readonly insert: string;
  /** Offset of the cursor from the start of `insert`. */
  readonly caret: number;
  /** A word or a sentence as explanation. */
  readonly detail: string;
}

export interface Completion {
  readonly from: number;
  readonly to: number;
  readonly items: readonly Suggestion[];
}
