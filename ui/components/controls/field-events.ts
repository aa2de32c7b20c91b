/** Events by which fields request an action of their page: filter by a value, show a column. */

export interface FilterDetail {
  readonly field: string;
  /** Undefined: the field must exist at all. */
  readonly value: string | undefined;
  readonly exclude: boolean;
}

/** Fires `tr-filter` from `target`. */
export function fireFilter(target: EventTarget, detail: FilterDetail): void {
  target.dispatchEvent(new CustomEvent<FilterDetail>("tr-filter", { detail, bubbles: true, composed: true }));
}

/** Fires `tr-column`: show or hide the field as a column. */
export function fireColumn(target: EventTarget, field: string): void {
  target.dispatchEvent(
    new CustomEvent<string>("tr-column", { detail: field, bubbles: true, composed: true }),
  );
}
