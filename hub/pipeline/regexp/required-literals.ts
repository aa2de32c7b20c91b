/** Literals that every match of an expression contains: if one is missing, the expression need not run. */

import type { RegexpNode } from "./regexp-tree.ts";

/** Looking for more of them costs lines that match more than it saves with those that don't. */
const MAX_LITERALS = 6;

/** A piece of what a match consists of: a character that must occur there, or something unknown. */
type Piece = string | undefined;

/** Returns texts that are in every match, one after another, in this order. */
export function requiredLiterals(tree: RegexpNode): readonly string[] {
  const pieces: Piece[] = [];
  addPieces(tree, pieces);
  const literals: string[] = [];
  let literal = "";
  for (const piece of [...pieces, undefined]) {
    if (piece !== undefined) {
      literal += piece;
      continue;
    }
    // Nearly every line has a single blank.
    if (literal !== "" && literal !== " ") literals.push(literal);
    literal = "";
  }
  return longest(literals);
}

/** Returns true where `text` holds the literals, one after another. */
export function holdsLiterals(text: string, literals: readonly string[]): boolean {
  let at = 0;
  for (const literal of literals) {
    const found = text.indexOf(literal, at);
    if (found < 0) return false;
    at = found + literal.length;
  }
  return true;
}

/**
 * Returns true if every match begins with any number of any characters: an expression that doesn't match from the
 * text's start then doesn't match from anywhere else. Holds only where `.` matches newlines.
 */
export function beginsWithAnything(tree: RegexpNode): boolean {
  switch (tree.kind) {
    case "sequence":
      return tree.items[0] !== undefined && beginsWithAnything(tree.items[0]);
    case "capture":
    case "group":
      return beginsWithAnything(tree.body);
    case "special":
      return /^\?-?i:$/.test(tree.opening) && beginsWithAnything(tree.body);
    case "choice":
      return tree.options.every(beginsWithAnything);
    case "repeat":
      return (
        tree.count === "*" &&
        tree.mode !== "possessive" &&
        tree.body.kind === "text" &&
        tree.body.source === "."
      );
    default:
      return false;
  }
}

function addPieces(node: RegexpNode, pieces: Piece[]): void {
  switch (node.kind) {
    case "text":
      pieces.push(literalOf(node.source));
      return;
    case "sequence":
      for (const item of node.items) addPieces(item, pieces);
      return;
    case "capture":
    case "group":
    case "atomic":
      addPieces(node.body, pieces);
      return;
    case "repeat":
      if (isRequired(node.count)) addPieces(node.body, pieces);
      pieces.push(undefined);
      return;
    case "lineStart":
    case "lineEnd":
      return;
    case "special":
      // A look-around takes no characters; what is under a modifier may be in another case.
      if (node.opening.endsWith(":")) pieces.push(undefined);
      return;
    default:
      pieces.push(undefined);
  }
}

function isRequired(count: string): boolean {
  return count === "+" || /^\{[1-9]/.test(count);
}

/** Returns the character that a piece of source stands for, or undefined if it may be several. */
function literalOf(source: string): Piece {
  if (source.length === 1) return source === "." ? undefined : source;
  if (source === "\\t") return "\t";
  if (source === "\\n") return "\n";
  if (source.length === 2 && /^\\[^A-Za-z0-9]$/.test(source)) return source[1];
  return source.codePointAt(0)! > 0xffff && source.length === 2 ? source : undefined;
}

function longest(literals: readonly string[]): readonly string[] {
  if (literals.length <= MAX_LITERALS) return literals;
  const kept = new Set(
    [...literals.keys()]
      .sort((a, b) => literals[b]!.length - literals[a]!.length || a - b)
      .slice(0, MAX_LITERALS),
  );
  return literals.filter((_, index) => kept.has(index));
}
