import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { warnOfVersion } from "./write-options.ts";

test("versions as a condition are warned of from 6.7 on, from 6.8 on with the document, until 7.0 refuses them", () => {
  for (const [version, end] of [
    [605, undefined],
    [607, "(request for index [i], type [t])"],
    [608, "(request for index [i], type [t], id [1])"],
    [700, undefined],
  ] as const) {
    const warnings = new Set<string>();
    gatherWarnings(warnings, version, () => warnOfVersion("i", "t", "1"));
    const [text] = warnings;
    assert.equal(text?.slice(text.indexOf("(")), end, String(version));
  }
  const warnings = new Set<string>();
  gatherWarnings(warnings, 608, () => warnOfVersion("i", "t", undefined));
  assert.match([...warnings][0]!, /type \[t\]\)$/);
});
