/**
 * Makes untrusted text safe for a terminal: log lines, names of files and agents. Replaces or escapes control
 * characters (C0, C1 and DEL of ECMA-48), line ends and characters that change the direction of text.
 */

/** Controls, line and paragraph separators, and the embeddings, overrides and isolates of UAX #9. */
const STEERING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
/** Those that JSON.stringify doesn't escape. */
const UNESCAPED = /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** The same, and controls of C0, in a text that is JSON; a pair of backslashes isn't an escape. */
const IN_JSON = /\\\\|\\u00[01][0-9a-f]|[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Returns `text` in one line, with a blank in place of each character that steers. */
export function printable(text: string): string {
  return text.replace(STEERING, " ");
}

/** Like `printable` for a text of several lines, such as an error whose reason somebody else wrote: line feeds stay. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Returns `value` as JSON in which such characters are escaped: the same value to who parses it. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNESCAPED, unicodeEscape);
}

/** Returns a UTF-16 unit as JSON and JavaScript escape it: `\u00e9`. */
export function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Returns a line of JSON in whose strings no such character is left, for who prints the strings; line feeds stay. */
export function withoutSteering(json: string): string {
  return json.replace(IN_JSON, (found) => (found === "\\\\" ? found : "\ufffd"));
}
