/** Characters that change the direction of the text after them, which may disguise it. */

/**
 * Embeddings, overrides, isolates and their ends (UAX #9). Marks for the direction of a letter change nothing after
 * them.
 */
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns a text with its controls of direction written out, as "[U+202E]": the letters after them keep their order.
 */
export function visibleText(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`);
}
