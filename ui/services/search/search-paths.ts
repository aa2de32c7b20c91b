/** Paths of the search interface that pages ask. */

/** Returns an index expression for a path; commas and stars stay readable. */
export function encodeIndex(index: string): string {
  return encodeURIComponent(index.trim() || "*")
    .replaceAll("%2C", ",")
    .replaceAll("%2A", "*");
}

/** Returns the path of a search; no index at all is no error but an empty answer. */
export function searchPath(index: string): string {
  return `/${encodeIndex(index)}/_search?ignore_unavailable=true&allow_no_indices=true`;
}

/** Returns the path of the fields of an index expression. */
export function fieldsPath(index: string): string {
  return `/${encodeIndex(index)}/_field_caps?fields=*&ignore_unavailable=true&allow_no_indices=true`;
}
