/** Splits text as Ruby's `split` does. */

/**
 * Returns the parts of `text`, empty ones at the end too. A blank stands for any run of ASCII's whitespace, none of which is
 * before the first part; without a separator each character is a part.
 */
export function rubySplit(text: string, separator: string): string[] {
  if (separator === "") return Array.from(text);
  if (separator !== " ") return text.split(separator);
  return text.replace(/^[\t-\r ]+/, "").split(/[\t-\r ]+/);
}
