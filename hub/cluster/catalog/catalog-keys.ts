/** Keys of the bucket `indices`: a prefix for the kind, then the name in the characters that keys may hold. */

export const INDEX_PREFIX = "index/";
export const TEMPLATE_PREFIX = "template/";
/** For composable templates. */
export const COMPOSABLE_PREFIX = "composable/";
export const COMPONENT_PREFIX = "component/";
/** Marks a deliberate deletion, so that a copy left on some disk is not taken for a lost index. */
export const DELETED_PREFIX = "deleted/";

/** Returns the key of an index. */
export function indexKey(name: string): string {
  return INDEX_PREFIX + encodeName(name);
}

/** Returns the name in a key that begins with `prefix`; undefined for other keys. */
export function nameIn(key: string, prefix: string): string | undefined {
  return key.startsWith(prefix) ? decodeName(key.slice(prefix.length)) : undefined;
}

/** Encodes a name for a key: other characters than [a-zA-Z0-9_-] become =XX, hexadecimal UTF-8. */
export function encodeName(name: string): string {
  return [...Buffer.from(name)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[a-zA-Z0-9_-]/.test(character) ? character : `=${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
}

function decodeName(text: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "=") bytes.push(Number.parseInt(text.slice(at + 1, (at += 2) + 1), 16));
    else bytes.push(text.charCodeAt(at));
  }
  return Buffer.from(bytes).toString();
}
