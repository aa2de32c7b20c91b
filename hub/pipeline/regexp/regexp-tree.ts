/** The tree of a Ruby (Onigmo) regular expression, as far as grok patterns and people's filters use it. */

export type RegexpNode =
  /** JavaScript source that stands for itself. `unicode`: needs the u flag. */
  | { readonly kind: "text"; readonly source: string; readonly unicode?: boolean }
  | { readonly kind: "lineStart" }
  | { readonly kind: "lineEnd" }
  | { readonly kind: "sequence"; readonly items: readonly RegexpNode[] }
  | { readonly kind: "choice"; readonly options: readonly RegexpNode[] }
  | { readonly kind: "capture"; readonly name: string; readonly body: RegexpNode }
  | { readonly kind: "group"; readonly body: RegexpNode }
  | { readonly kind: "atomic"; readonly body: RegexpNode }
  /** `opening`: "?=", "?!", "?<=", "?<!" or modifiers as "?i:". */
  | { readonly kind: "special"; readonly opening: string; readonly body: RegexpNode }
  | {
      readonly kind: "repeat";
      readonly body: RegexpNode;
      /** `*`, `+`, `?`, `{1,3}` */
      readonly count: string;
      readonly mode: "greedy" | "lazy" | "possessive";
    }
  | { readonly kind: "reference"; readonly name: string };

/** The regular expression can't be used; says where and why. */
export class RegexpFault extends Error {}

/** Returns true where `node` holds a capture. */
export function hasCapture(node: RegexpNode): boolean {
  return hasNode(node, ({ kind }) => kind === "capture");
}

/** Returns true where `node` matches as it should only with the flag `u`. */
export function needsUnicode(node: RegexpNode): boolean {
  return hasNode(node, (each) => each.kind === "text" && each.unicode === true);
}

/** Returns true where `node` holds a `\b` or `\B`, which depend on letters of all alphabets. */
export function hasWordBorder(node: RegexpNode): boolean {
  return hasNode(node, (each) => each.kind === "text" && /^\\[bB]$/.test(each.source));
}

/** Returns true where `node` may match one half of a pair of surrogates without the flag `u`. */
export function matchesAnyCharacter(node: RegexpNode): boolean {
  const isAny = (source: string): boolean =>
    source === "." || source.startsWith("[^") || /\\[DSW]/.test(source);
  return hasNode(node, (each) => each.kind === "text" && isAny(each.source));
}

/** Returns true where case is ignored in all of `node`. */
export function ignoresCaseThroughout(node: RegexpNode): boolean {
  const heedsCase = (each: RegexpNode): boolean =>
    each.kind === "special" && /^\?[a-z]*-[a-z]*i/.test(each.opening);
  return node.kind === "special" && node.opening === "?i:" && !hasNode(node.body, heedsCase);
}

function hasNode(node: RegexpNode, is: (node: RegexpNode) => boolean): boolean {
  if (is(node)) return true;
  switch (node.kind) {
    case "sequence":
      return node.items.some((item) => hasNode(item, is));
    case "choice":
      return node.options.some((option) => hasNode(option, is));
    case "capture":
    case "group":
    case "atomic":
    case "special":
    case "repeat":
      return hasNode(node.body, is);
    default:
      return false;
  }
}

/** Returns true where `node` may match no character. */
export function mayBeEmpty(node: RegexpNode): boolean {
  switch (node.kind) {
    case "text":
      return node.source === "";
    case "sequence":
      return node.items.every(mayBeEmpty);
    case "choice":
      return node.options.some(mayBeEmpty);
    case "repeat":
      return /^(?:[*?]|\{0?,|\{0\})/.test(node.count) || mayBeEmpty(node.body);
    case "capture":
    case "group":
    case "atomic":
      return mayBeEmpty(node.body);
    case "special":
      return node.opening.endsWith(":") ? mayBeEmpty(node.body) : true;
    default:
      return true;
  }
}
