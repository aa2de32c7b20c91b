/** A line that passes through the stages of a query. */

/** Returns the values that a label's field has in a document. */
export type FieldValues = (label: string) => readonly string[];

export interface Entry {
  line: string;
  /** Labels of its stream, and those that stages added. */
  readonly labels: Map<string, string>;
  /** Labels of the stream, before stages changed them. */
  readonly stream: ReadonlyMap<string, string>;
  /** The labels that stages made of the line. */
  readonly extracted: Set<string>;
  /** Returns the values of the document's field for a label; none if there is no such field. */
  readonly field: FieldValues;
  /** The value that `unwrap` found. */
  value: number | undefined;
  /** Cost of the current stage's expressions so far: characters × weight. */
  work: number;
}

/** Maximum number of labels of one line. */
const MAX_LABELS = 200;
/** `__error__` of a line with more labels, so that filters for Loki's errors also match it. */
export const LABELS_LEFT_OUT = "LabelsLimitErr";

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

/**
 * Adds a label that a stage found in the line. One of the stream keeps its value, and `NAME_extracted` has the new one; of
 * several stages that find a name the first one counts.
 */
export function extractLabel(entry: Entry, name: string, value: string): void {
  const label = entry.stream.has(name) ? `${name}_extracted` : name;
  if (label === "" || entry.extracted.has(label)) return;
  if (entry.labels.size >= MAX_LABELS && !entry.labels.has(label))
    entry.labels.set("__error__", LABELS_LEFT_OUT);
  else {
    entry.extracted.add(label);
    entry.labels.set(label, value);
  }
}
