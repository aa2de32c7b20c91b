import assert from "node:assert/strict";
import { test } from "node:test";
import { highlightTree, tagHighlighter } from "@lezer/highlight";
import { consoleLanguage, pipelineLanguage, TOKENS } from "./code-syntax.ts";

/** Returns `class:text` of what is coloured. */
function coloured(language: typeof consoleLanguage, text: string): string[] {
  const highlighter = tagHighlighter(Object.entries(TOKENS).map(([name, tag]) => ({ tag, class: name })));
  const found: string[] = [];
  highlightTree(language.parser.parse(text), highlighter, (from, to, name) => {
    found.push(`${name}:${text.slice(from, to)}`);
  });
  return found;
}

test("requests are coloured with their bodies", () => {
  assert.deepEqual(
    coloured(consoleLanguage, 'GET a/_search # all\n{"b": [1.5, true], c: "x"} // end\nDELETE a'),
    [
      "method:GET",
      "path: a/_search # all",
      "punctuation:{",
      'key:"b"',
      "punctuation::",
      "punctuation:[",
      "number:1.5",
      "punctuation:,",
      "literal:true",
      "punctuation:],",
      "key:c",
      "punctuation::",
      'string:"x"',
      "punctuation:}",
      "comment:// end",
      "danger:DELETE",
      "path: a",
    ],
  );
});

test("a text in triple quotes goes on over lines, and holds no request", () => {
  const text = '{"a": """one\nGET two\n"three"""}';
  assert.deepEqual(coloured(consoleLanguage, text).slice(3), [
    'string:"""one',
    "string:GET two",
    'string:"three"""',
    "punctuation:}",
  ]);
});

test("pipelines are coloured", () => {
  const text =
    'filter { # first\n  if [a][b] =~ /x y/ and "z\n" in [tags] {\n    date { match => ["t", "ISO8601"] ttl => 5 }';
  assert.deepEqual(
    coloured(pipelineLanguage, text).filter((part) => !part.startsWith("punctuation:")),
    [
      "method:filter",
      "comment:# first",
      "method:if",
      "path:[a][b]",
      "string:/x y/",
      "method:and",
      'string:"z',
      'string:"',
      "method:in",
      "path:[tags]",
      "key:match",
      'string:"t"',
      'string:"ISO8601"',
      "key:ttl",
      "number:5",
    ],
  );
});
