/** A line on its way through the stages of a query. */

/** Returns the values that a label's field has in a document. */
export type FieldValues = (label: string) => readonly string[];

export interface Entry {
  line: string;
  /** Of its stream, and those that stages made. */
  readonly labels: Map<string, string>;
  /** Returns the values of a field of the document by its label; none where there is no such field. */
  readonly field: FieldValues;
  /** What `unwrap` found. */
  value: number | undefined;
  /** What the expressions of the present stage cost so far: characters × weight. */
  work: number;
}

/** A label that a line doesn't have is empty. */
const NO_VALUE: readonly string[] = [""];

/** One stage. Returns false where the entry is dropped. */
export type Work = (entry: Entry) => boolean;

/** Returns a label, or the field that it stands for, its values joined by commas; "" where there is neither. */
export function labelOf({ labels, field }: Entry, name: string): string {
  return labels.get(name) ?? field(name).join(",");
}

/** Returns what a label is compared as: its value, or each of its field's; "" alone where there is neither. */
export function labelTexts({ labels, field }: Entry, name: string): readonly string[] {
  const label = labels.get(name);
  if (label !== undefined) return [label];
  const values = field(name);
  return values.length === 0 ? NO_VALUE : values;
}
