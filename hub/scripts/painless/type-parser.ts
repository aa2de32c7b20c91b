/** Reads names of types, and tells casts and declarations from expressions. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { isTypeName } from "../library/type-names.ts";
import type { TypeName } from "./syntax.ts";
import { isSymbol, type TokenReader } from "./token-reader.ts";

const PRIMITIVES: ReadonlySet<string> = new Set(
  "boolean byte short char int long float double def".split(" "),
);

/** Reads "int", "Map.Entry", "String[]". Throws where there is no such type. */
export function readType(tokens: TokenReader): TypeName {
  const { offset } = tokens.token;
  let name = tokens.expectName().text;
  while (tokens.is(".") && tokens.peek(1).kind === "name") {
    tokens.next();
    name += `.${tokens.next().text}`;
  }
  if (!isTypeName(name))
    throw new ScriptException("IllegalArgumentException", `Not a type [${name}].`, offset);
  let dimensions = 0;
  while (isBrackets(tokens, 0)) {
    tokens.next();
    tokens.next();
    dimensions++;
  }
  return { name, dimensions, offset };
}

/** Returns true where a type and a name are next: a declaration. */
export function isDeclaration(tokens: TokenReader): boolean {
  if (tokens.token.kind !== "name") return false;
  // "foo bar" is a declaration with an unknown type where a statement begins; the type is refused by name then.
  if (tokens.peek(1).kind === "name") return isTypeName(tokens.token.text);
  const length = typeLength(tokens, 0);
  return length > 0 && tokens.peek(length).kind === "name";
}

/** Returns true where the present "(" opens a cast: a type stands in it alone, and an operand follows. */
export function isCast(tokens: TokenReader): boolean {
  const length = typeLength(tokens, 1);
  if (length === 0 || !isSymbol(tokens.peek(1 + length), ")")) return false;
  const behind = tokens.peek(length + 2);
  if (behind.kind === "end") return false;
  if (behind.kind !== "operator") return !isSymbol(behind, "instanceof");
  if (["(", "[", "!", "~"].includes(behind.text)) return true;
  return PRIMITIVES.has(tokens.peek(1).text) && ["+", "-", "++", "--"].includes(behind.text);
}

/** Tokens of the longest name of a type with its points; a longer path is none, and isn't read to its end at each step. */
export const MAX_NAME_TOKENS = 15;

/** Returns how many tokens from `from` on name a known type; 0 for none. */
function typeLength(tokens: TokenReader, from: number): number {
  const first = tokens.peek(from);
  if (first.kind !== "name") return 0;
  let name = first.text;
  let length = 1;
  while (isSymbol(tokens.peek(from + length), ".") && tokens.peek(from + length + 1).kind === "name") {
    if (length >= MAX_NAME_TOKENS) return 0;
    name += `.${tokens.peek(from + length + 1).text}`;
    length += 2;
  }
  if (!isTypeName(name)) return 0;
  while (isBrackets(tokens, from + length)) length += 2;
  return length;
}

function isBrackets(tokens: TokenReader, from: number): boolean {
  return isSymbol(tokens.peek(from), "[") && isSymbol(tokens.peek(from + 1), "]");
}
