/**
 * The part of XPath 1.0 that selects values from documents: paths, `//`, `*`, `@`, `text()`, positions and equalities.
 */

import { XMLParser, XMLValidator } from "fast-xml-parser";
import { valueText } from "#proto/event.ts";

/** Results of one expression; beyond, the rest is left out. */
const MAX_RESULTS = 10_000;

interface Step {
  readonly axis: "child" | "descendant" | "self" | "attribute" | "text";
  readonly name: string;
  readonly predicates: readonly Predicate[];
}

type Predicate =
  | { readonly kind: "place"; readonly place: number }
  | { readonly kind: "last" }
  | { readonly kind: "test"; readonly path: readonly Step[]; readonly equal: string | undefined };

type Item = XmlNode | { readonly kind: "attribute"; readonly text: string };

/** Returns the texts that the expression picks: elements as XML, texts and attributes as they are. */
export type XPath = (root: XmlElement) => string[];

/** Compiles a path, or several between `|`. Throws SyntaxError for what isn't supported. */
export function compileXPath(text: string): XPath {
  const paths = splitTop(text, "|").map((each) => parsePath(each.trim()));
  return (root) => paths.flatMap((path) => pick(root, path)).slice(0, MAX_RESULTS);
}

function pick(root: XmlElement, path: readonly Step[]): string[] {
  // The document is above its root element.
  const document: XmlElement = { kind: "element", name: "", attributes: {}, children: [root] };
  return walk([document], path).map((item) => {
    if (item.kind === "element") return writeXml(item);
    return item.text;
  });
}

function walk(start: readonly Item[], path: readonly Step[]): readonly Item[] {
  let items = start;
  for (const step of path) {
    const next = items.flatMap((item) => (item.kind === "element" ? filtered(select(item, step), step) : []));
    items = next.slice(0, MAX_RESULTS);
  }
  return items;
}

function select(element: XmlElement, { axis, name }: Step): Item[] {
  switch (axis) {
    case "self":
      return [element];
    case "attribute":
      return Object.entries(element.attributes)
        .filter(([key]) => name === "*" || key === name)
        .map(([, text]) => ({ kind: "attribute", text }));
    case "text":
      return element.children.filter((child) => child.kind === "text");
    case "child":
      return element.children.filter((child) => child.kind === "element" && isNamed(child, name));
    case "descendant":
      return descendants(element);
  }
}

function isNamed(element: XmlElement, name: string): boolean {
  return name === "*" || element.name === name;
}

function descendants(element: XmlElement): Item[] {
  const found: Item[] = [element];
  for (const child of element.children) if (child.kind === "element") found.push(...descendants(child));
  return found;
}

function filtered(items: readonly Item[], { predicates }: Step): readonly Item[] {
  let left = items;
  for (const predicate of predicates) {
    if (predicate.kind === "place") left = left.slice(predicate.place - 1, predicate.place);
    else if (predicate.kind === "last") left = left.slice(-1);
    else left = left.filter((item) => holds(item, predicate.path, predicate.equal));
  }
  return left;
}

function holds(item: Item, path: readonly Step[], equal: string | undefined): boolean {
  const found = walk([item], path);
  if (equal === undefined) return found.length > 0;
  return found.some((each) => (each.kind === "element" ? textOf(each) : each.text) === equal);
}

function parsePath(text: string): Step[] {
  const steps: Step[] = [];
  if (text === "") throw new SyntaxError("an XPath is empty");
  // A path without a slash at its start is looked for from the root element.
  let rest = text.startsWith("/") ? text : `/*/${text}`;
  while (rest !== "") {
    if (rest.startsWith("//")) {
      steps.push({ axis: "descendant", name: "*", predicates: [] });
      rest = rest.slice(2);
    } else if (rest.startsWith("/")) {
      rest = rest.slice(1);
      if (rest === "") break;
    }
    const { step, end } = parseStep(rest, text);
    steps.push(step);
    rest = rest.slice(end);
  }
  return steps;
}

function parseStep(rest: string, whole: string): { step: Step; end: number } {
  const found = /^(?:text\(\)|node\(\)|\.|@?(?:[\w.:-]+|\*))/.exec(rest);
  const name = found?.[0] ?? "";
  if (name === "" || name.includes("::") || name === "..")
    throw new SyntaxError(`"${whole}": "${rest}" isn't supported; use /a/b, //a, @x, text(), * and [ ]`);
  let end = name.length;
  const predicates: Predicate[] = [];
  while (rest[end] === "[") {
    const close = closing(rest, end);
    predicates.push(parsePredicate(rest.slice(end + 1, close).trim(), whole));
    end = close + 1;
  }
  if (end < rest.length && rest[end] !== "/")
    throw new SyntaxError(`"${whole}": "${rest.slice(end)}" isn't supported`);
  if (name === "text()") return { step: { axis: "text", name, predicates }, end };
  if (name === ".") return { step: { axis: "self", name, predicates }, end };
  if (name.startsWith("@")) return { step: { axis: "attribute", name: name.slice(1), predicates }, end };
  return { step: { axis: "child", name: name === "node()" ? "*" : name, predicates }, end };
}

function parsePredicate(text: string, whole: string): Predicate {
  if (/^\d+$/.test(text)) return { kind: "place", place: Number(text) };
  if (text === "last()") return { kind: "last" };
  const equality = /^(.+?)\s*=\s*(?:"([^"]*)"|'([^']*)'|([\d.]+))$/.exec(text);
  const path = (equality?.[1] ?? text).trim();
  if (path.startsWith("/")) throw new SyntaxError(`"${whole}": a path in [ ] begins at its element`);
  const steps = path.split("/").map((part) => parseStep(part, whole).step);
  return { kind: "test", path: steps, equal: equality?.[2] ?? equality?.[3] ?? equality?.[4] };
}

/** Returns the offset of the bracket that closes the one at `open`. */
function closing(text: string, open: number): number {
  let quote = "";
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const character = text[at]!;
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return at;
  }
  throw new SyntaxError(`"${text}": a [ is never closed`);
}

/** Splits at a character outside of brackets and quotes. */
function splitTop(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === "[") depth++;
    else if (character === "]") depth--;
    else if (character === separator && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

export interface XmlElement {
  readonly kind: "element";
  /** With its prefix. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlNode[];
}

type XmlNode = XmlElement | { readonly kind: "text"; readonly text: string };

/** Elements within elements; deeper documents are refused. */
const MAX_DEPTH = 200;

/** What the parser gives with preserveOrder: one member besides ":@" names the part. */
type Part = Readonly<Record<string, unknown>>;

const PARSER = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  processEntities: true,
  cdataPropName: "#cdata",
});

/** Returns the root element; `strict` refuses what isn't well-formed. Undefined where there is none. */
export function parseXml(text: string, strict: boolean): XmlElement | undefined {
  try {
    if (strict && XMLValidator.validate(text) !== true) return undefined;
    const parts = PARSER.parse(text) as Part[];
    return parts.map((part) => nodeOf(part, 0)).find((node) => node?.kind === "element") as
      | XmlElement
      | undefined;
  } catch {
    return undefined;
  }
}

/** Returns the text in an element and in all within it. */
function textOf(node: XmlNode): string {
  return node.kind === "text" ? node.text : node.children.map(textOf).join("");
}

/** Returns a node as XML. */
function writeXml(node: XmlNode): string {
  if (node.kind === "text") return escapeXml(node.text);
  const attributes = Object.entries(node.attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(value).replaceAll('"', "&quot;")}"`)
    .join("");
  if (node.children.length === 0) return `<${node.name}${attributes}/>`;
  return `<${node.name}${attributes}>${node.children.map(writeXml).join("")}</${node.name}>`;
}

/** Returns the tree without prefixes and declarations of namespaces. */
export function withoutNamespaces(element: XmlElement): XmlElement {
  return {
    kind: "element",
    name: localName(element.name),
    attributes: Object.fromEntries(
      Object.entries(element.attributes)
        .filter(([name]) => name !== "xmlns" && !name.startsWith("xmlns:"))
        .map(([name, value]) => [localName(name), value]),
    ),
    children: element.children.map((child) => (child.kind === "text" ? child : withoutNamespaces(child))),
  };
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function nodeOf(part: Part, depth: number): XmlNode | undefined {
  if (depth > MAX_DEPTH) throw new Error("elements are nested too deeply");
  const name = Object.keys(part).find((key) => key !== ":@");
  if (name === undefined || name.startsWith("?")) return undefined;
  const value = part[name];
  if (name === "#text") return { kind: "text", text: valueText(value) };
  if (name === "#cdata") return { kind: "text", text: textOfParts(value as Part[]) };
  if (!Array.isArray(value)) return undefined;
  const attributes = (part[":@"] ?? {}) as Record<string, string>;
  const children = (value as Part[])
    .map((child) => nodeOf(child, depth + 1))
    .filter((child): child is XmlNode => child !== undefined);
  return { kind: "element", name, attributes, children };
}

function textOfParts(parts: readonly Part[]): string {
  return parts.map((part) => valueText(part["#text"])).join("");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
