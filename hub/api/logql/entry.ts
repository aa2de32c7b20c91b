/** A line on its way through the stages of a query. */

/** Returns the values that a label's field has in a document. */
export type FieldValues = (label: string) => readonly string[];

export interface Entry {
  line: string;
  /** Labels of its stream, and those that stages added. */
  readonly labels: Map<string, string>;
  /** Returns the values of the document's field for a label; none if there is no such field. */
  readonly field: FieldValues;
  /** The value that `unwrap` found. */
  value: number | undefined;
  /** Cost of the current stage's expressions so far: characters × weight. */
  work: number;
}

/** A label that a line lacks is empty. */
const NO_VALUE: readonly string[] = [""];

/** One stage. Returns false if the entry is dropped. */
export type Work = (entry: Entry) => boolean;

/** Returns a label's value, or the values of the field that it names, joined by commas; "" if there is neither. */
export function labelOf({ labels, field }: Entry, name: string): string {
  return labels.get(name) ?? field(name).join(",");
}

/** Returns the texts that a label is compared as: its value, or each value of its field; [""] if there is neither. */
export function labelTexts({ labels, field }: Entry, name: string): readonly string[] {
  const label = labels.get(name);
  if (label !== undefined) return [label];
  const values = field(name);
  return values.length === 0 ? NO_VALUE : values;
}
