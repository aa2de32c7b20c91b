import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePipeline } from "#hub/pipeline/language/parser.ts";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { readCases } from "./suite.ts";

interface ConfigCase {
  readonly file: string;
  readonly source: string;
  readonly parses: boolean;
}

const { cases, missing } = readCases<ConfigCase>("configs.json");

test("the parser takes and refuses the same texts as the grammar", { skip: missing }, () => {
  const differing = cases.filter(({ file, source, parses }) => {
    const { diagnostics } = parsePipeline(new SourceText(file, source));
    return (diagnostics.length === 0) !== parses;
  });
  assert.deepEqual(differing, []);
});
