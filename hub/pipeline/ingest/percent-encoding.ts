/** Percent-encoding of addresses. */

/** Returns a text with its `%xx` decoded as UTF-8; bytes that are none become U+FFFD. */
export function decodePercents(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString(),
  );
}
