/** A fault with the request that shows it. */

const MOST_CHARACTERS = 3_000;

export function faultText(fault: string | undefined, request: unknown): string | undefined {
  return fault === undefined ? undefined : `${fault}\n  ${JSON.stringify(request).slice(0, MOST_CHARACTERS)}`;
}
