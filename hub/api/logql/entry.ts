/** A line on its way through the stages of a query. */

export interface Entry {
  line: string;
  /** Of its stream, and those that stages made. */
  readonly labels: Map<string, string>;
  /** Returns a field of the document by its label; undefined where there is none. */
  readonly field: (label: string) => string | undefined;
  /** What `unwrap` found. */
  value: number | undefined;
  /** What the expressions of the present stage cost so far: characters × weight. */
  work: number;
}

/** One stage. Returns false where the entry is dropped. */
export type Work = (entry: Entry) => boolean;

/** Returns a label, or the field that it stands for; "" where there is neither. */
export function labelOf({ labels, field }: Entry, name: string): string {
  return labels.get(name) ?? field(name) ?? "";
}
