/** XML as a tree that keeps the order of its parts. */

import { XMLParser, XMLValidator } from "fast-xml-parser";
import { valueText } from "#proto/event.ts";

export interface XmlElement {
  readonly kind: "element";
  /** With its prefix. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlNode[];
}

export type XmlNode = XmlElement | { readonly kind: "text"; readonly text: string };

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
export function textOf(node: XmlNode): string {
  return node.kind === "text" ? node.text : node.children.map(textOf).join("");
}

/** Returns a node as XML. */
export function writeXml(node: XmlNode): string {
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
  if (depth > MAX_DEPTH) throw new Error("elements within elements are too deep");
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
