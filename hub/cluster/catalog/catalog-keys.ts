/** Keys of the bucket `indices`: a prefix that says what it is, and a name in the characters that keys may hold. */

export const INDEX_PREFIX = "index/";
export const TEMPLATE_PREFIX = "template/";
/** Of composable templates. */
export const COMPOSABLE_PREFIX = "composable/";
export const COMPONENT_PREFIX = "component/";
/** Left behind by a deletion, so that a copy on some disk isn't taken for an index that was lost. */
export const DELETED_PREFIX = "deleted/";

/** Returns the key of an index. */
export function indexKey(name: string): string {
  return INDEX_PREFIX + encodeName(name);
}

/** Returns the name in a key that begins with `prefix`; undefined for other keys. */
export function nameIn(key: string, prefix: string): string | undefined {
  return key.startsWith(prefix) ? decodeName(key.slice(prefix.length)) : undefined;
}

/** Returns a name as it stands in keys: characters that they can't hold become =XX, hexadecimal UTF-8. */
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
