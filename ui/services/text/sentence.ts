/** Texts of the hub as sentences of a page. */

/** Returns a text with a capital at its begin and an end: `connection lost` is `Connection lost.` */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return begun === "" || /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
