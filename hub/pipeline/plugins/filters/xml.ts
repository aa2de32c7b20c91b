/** Filter xml: parses an XML document, or the parts that XPath selects, into fields. */

import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import {
  compileXPath,
  parseXml,
  withoutNamespaces,
  type XmlElement,
  type XPath,
} from "#hub/pipeline/plugins/filters/xml/xpath.ts";
import type { Event } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { type JsonObject, setMember } from "#proto/kit/json.ts";
import { anyTable, flag, list, optional, options, table, text, withoutEffect } from "#proto/kit/options.ts";

/** Longest document looked at, characters. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** Name of an element's text where it has other parts too. */
const CONTENT = "content";

/** The options of libxml2; only RECOVER and those that include it make a difference here. */
const PARSE_OPTIONS =
  "STRICT RECOVER NOENT DTDLOAD DTDATTR DTDVALID NOERROR NOWARNING PEDANTIC NOBLANKS SAX1 XINCLUDE NONET NODICT NSCLEAN NOCDATA NOXINCNODE COMPACT OLD10 NOBASEFIX HUGE DEFAULTXML";
const LENIENT = ["RECOVER", "DEFAULTXML"];

interface Shape {
  readonly force_array: boolean;
  readonly force_content: boolean;
  readonly suppress_empty: boolean;
}

export const xmlFilter = defineFilter({
  name: "xml",
  description: "parses an XML document into fields",
  options: options({
    source: text("field with the document"),
    target: optional(text("target field; required if store_xml is true")),
    store_xml: flag("false: only the values of xpath are stored", true),
    xpath: table("fields by XPath; each receives a list of the matches"),
    force_array: flag("every element becomes a list, because it may occur several times", true),
    force_content: flag("puts text under content even if an element has nothing else", false),
    suppress_empty: flag("omits empty elements", true),
    namespaces: withoutEffect("prefixes are those of the document", anyTable("")),
    remove_namespaces: flag("removes prefixes and declarations of namespaces first", false),
    parse_options: optional(
      text(
        "options of libxml2, comma-separated; without recover, documents for xpath must be well-formed too, others have no effect",
      ),
    ),
    tag_on_failure: list("tags of events whose document can't be read", ["_xmlparsefailure"]),
  }),
  create(values, { report }) {
    if (values.store_xml && (values.target === undefined || values.target === "")) {
      const remedy = 'write: target => "doc", or store_xml => false';
      report("error", "store_xml", "the document needs a field to go to", remedy);
      return { apply: () => false };
    }
    const source = fieldReference(values.source);
    const target = values.target === undefined ? undefined : fieldReference(values.target);
    const paths = compilePaths(values.xpath, report);
    const strict = isStrict(values.parse_options, report);
    const rootOf = (read: XmlElement) => (values.remove_namespaces ? withoutNamespaces(read) : read);
    return {
      apply(event) {
        const value = event.get(source);
        if (value === undefined) return false;
        const document = documentOf(value);
        const lenient = document === undefined ? undefined : parseXml(document, strict);
        const whole = values.store_xml && document !== undefined ? parseXml(document, true) : lenient;
        if (lenient === undefined || whole === undefined) {
          for (const tag of values.tag_on_failure) event.tag(tag);
          return false;
        }
        pickPaths(event, rootOf(lenient), paths, values.force_array);
        if (values.store_xml && target !== undefined)
          event.set(target, elementValue(rootOf(whole), values) ?? {});
        return true;
      },
      conflicted(event) {
        for (const tag of values.tag_on_failure) event.tag(tag);
      },
    };
  },
});

/** Paths with the fields that receive their matches; a path that isn't understood is reported. */
function compilePaths(
  written: Readonly<Record<string, string>>,
  report: FilterContext["report"],
): [XPath, FieldReference][] {
  const paths: [XPath, FieldReference][] = [];
  for (const [path, field] of Object.entries(written)) {
    try {
      paths.push([compileXPath(path), fieldReference(field)]);
    } catch (error) {
      report("error", "xpath", (error as Error).message);
    }
  }
  return paths;
}

function isStrict(written: string | undefined, report: FilterContext["report"]): boolean {
  if (written === undefined) return false;
  const names = written.split(/[,|]/).map((name) => name.trim().replaceAll("_", "").toUpperCase());
  const known = PARSE_OPTIONS.split(" ");
  for (const name of names)
    if (name !== "" && !known.includes(name))
      report("error", "parse_options", `"${name}" isn't a parse option`, `there are: ${known.join(", ")}`);
  return !names.some((name) => LENIENT.includes(name));
}

/** A list stands for its only text. */
function documentOf(value: unknown): string | undefined {
  const text: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof text === "string" && text.trim() !== "" && text.length <= MAX_LENGTH ? text : undefined;
}

function pickPaths(
  event: Event,
  root: XmlElement,
  paths: readonly [XPath, FieldReference][],
  forceArray: boolean,
): void {
  for (const [path, field] of paths) {
    const found = path(root);
    if (found.length > 0) event.set(field, found.length === 1 && !forceArray ? found[0] : found);
  }
}

/** Undefined: an empty element that is to be left out. */
function elementValue(element: XmlElement, shape: Shape): unknown {
  const members: JsonObject = { ...element.attributes };
  for (const child of element.children) {
    if (child.kind === "text") continue;
    const value = elementValue(child, shape);
    if (value !== undefined) addMember(members, child.name, value, shape.force_array);
  }
  const content = element.children
    .map((child) => (child.kind === "text" ? child.text : ""))
    .join("")
    .trim();
  const isPlain = Object.keys(members).length === 0;
  if (content === "") return isPlain && shape.suppress_empty ? undefined : members;
  if (isPlain && !shape.force_content) return content;
  members[CONTENT] = content;
  return members;
}

function addMember(members: JsonObject, name: string, value: unknown, forceArray: boolean): void {
  const before = Object.hasOwn(members, name) ? members[name] : undefined;
  let next: unknown = forceArray ? [value] : value;
  if (Array.isArray(before)) next = [...(before as unknown[]), value];
  else if (before !== undefined) next = [before, value];
  setMember(members, name, next);
}
