/** Texts with fields in them, in the language of the search templates. */

import { compileValueTemplate } from "#hub/pipeline/formats/value-template.ts";
import { compileMustache, templateText } from "#hub/scripts/mustache.ts";
import { type IngestDocument, ProcessorFault } from "./ingest-document.ts";

/** A text with `{{field}}` in it. */
export type Template = (document: IngestDocument) => string;

/** How a field's text is written in two braces; in three it stays as it is. */
export type Escape = (text: string) => string;

/** The escapes of the media types that a processor may name. */
export const ESCAPES: Readonly<Record<string, Escape>> = {
  "application/json": (text) => JSON.stringify(text).slice(1, -1),
  "text/plain": (text) => text,
  "application/x-www-form-urlencoded": (text) => encodeURIComponent(text).replaceAll("%20", "+"),
};
const JSON_ESCAPE = ESCAPES["application/json"]!;

/** A variable: three braces or an ampersand leave its text as it is. */
const VARIABLE = /\{\{\{\s*([^{}]+?)\s*\}\}\}|\{\{\s*(&?)\s*([^{}]+?)\s*\}\}/g;
/** Tags that are more than variables: sections, comments, other delimiters. */
const OTHER_TAG = /\{\{\s*[#^!=>/]/;

/** Compiles a text; `{{a.b}}` and `{{{a.b}}}` stand for fields, missing ones for nothing. */
export function compileTemplate(text: string, write: Escape = JSON_ESCAPE): Template {
  if (!text.includes("{{")) return () => text;
  if (OTHER_TAG.test(text)) return compileSections(text);
  const parts: (string | Template)[] = [];
  let from = 0;
  for (const match of text.matchAll(VARIABLE)) {
    const [all, plain, mark, escaped] = match;
    const path = (plain ?? escaped)!;
    const isPlain = plain !== undefined || mark === "&";
    parts.push(text.slice(from, match.index), (document) => {
      const value = templateText(document.get(path));
      return isPlain ? value : write(value);
    });
    from = match.index + all.length;
  }
  parts.push(text.slice(from));
  return (document) => parts.map((part) => (typeof part === "string" ? part : part(document))).join("");
}

/** Compiles a text with sections. */
function compileSections(text: string): Template {
  const template = compileMustache(text);
  return (document) => {
    const { source, ingest, destination } = document;
    try {
      return template.render({ ...source, ...destination, _source: source, _ingest: ingest });
    } catch (error) {
      throw new ProcessorFault((error as Error).message, { cause: error });
    }
  };
}

/** Compiles a value: templates in texts, lists and objects. */
export function compileValue(value: unknown, write?: Escape): (document: IngestDocument) => unknown {
  const text = (template: string): Template => compileTemplate(template, write);
  return compileValueTemplate(value, { value: text, name: text });
}
