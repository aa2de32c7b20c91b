/**
 * Filebeat's modules: their ingest pipelines load, and make the documents of lines that the modules expect. The modules
 * are beside the checkout; TAILRACE_FILEBEAT_MODULES names a folder with others. `filebeat-modules.json` lists the files
 * that differ, each with its reason.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { IngestPipelines } from "#hub/pipeline/ingest/ingest-pipelines.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "../support/kit/memory-bucket.ts";
import { differences } from "./filebeat/expected.ts";
import { Fileset, type SampleFile } from "./filebeat/fileset.ts";
import { suiteFile } from "./shared-suites.ts";

const SHARED = suiteFile("filebeat-modules");
const OTHER = process.env["TAILRACE_FILEBEAT_MODULES"];
const FOLDER = OTHER ?? SHARED.path;
/** The server that made the expected documents: 717 for modules of 7.17. */
const VERSION = Number(process.env["TAILRACE_FILEBEAT_VERSION"] ?? 815);
/** Expected files hold the first documents only. */
const DOCUMENTS = 100;

const listed: Readonly<Record<string, string>> =
  OTHER === undefined
    ? (JSON.parse(readFileSync(join(import.meta.dirname, "filebeat-modules.json"), "utf8")) as Record<
        string,
        string
      >)
    : {};

suite("Filebeat's modules", { skip: existsSync(FOLDER) ? false : SHARED.missing }, () => {
  // The expected documents have lists of what grok captures twice (8.7), and extensions of a path's last part (8.14).
  const ingest = new IngestPipelines(new MemoryBucket(), silentLogger(), { version: VERSION });
  const filesets = existsSync(FOLDER) ? Fileset.all(FOLDER) : [];
  before(() => ingest.start());
  after(() => ingest.stop());

  test("all pipelines load", async () => {
    assert.ok(filesets.length > 0, `${FOLDER} holds no modules`);
    const failed: string[] = [];
    for (const fileset of filesets) {
      for (const [id, definition] of fileset.pipelines())
        await ingest.put(id, definition).catch((error: Error) => failed.push(`${id}: ${error.message}`));
    }
    assert.deepEqual(failed, []);
  });

  test("lines become the documents that the modules expect, but for those listed", async () => {
    const failed: string[] = [];
    let count = 0;
    for (const fileset of filesets) {
      for (const sample of fileset.samples()) {
        count++;
        const id = `${fileset.id}/${sample.name}`;
        const found = await differencesOf(ingest, fileset, sample);
        if (found.length === 0 ? listed[id] !== undefined : listed[id] === undefined)
          failed.push(`${id}: ${found.slice(0, 8).join("\n    ") || "listed, but as expected"}`);
      }
    }
    assert.ok(count > 0, `the modules of ${FOLDER} have no sample files`);
    assert.deepEqual(failed, [], `${failed.length} of ${count} files`);
  });
});

async function differencesOf(
  ingest: IngestPipelines,
  fileset: Fileset,
  sample: SampleFile,
): Promise<string[]> {
  const [pipeline = ""] = fileset.pipelines().keys();
  const events = fileset.events(sample, Date.now());
  const outcomes = await ingest.run(
    events.map((event) => ({
      pipeline,
      destination: { _index: "filebeat" },
      source: Buffer.from(JSON.stringify(event)),
    })),
  );
  const documents: Record<string, unknown>[] = [];
  for (const outcome of outcomes) {
    if (outcome.kind === "failed") return [`failed: ${outcome.message}`];
    if (outcome.kind === "done") documents.push(JSON.parse(outcome.source) as Record<string, unknown>);
  }
  const shown = documents.slice(0, DOCUMENTS);
  const { expected } = sample;
  if (shown.length !== expected.length) return [`${shown.length} documents, expected ${expected.length}`];
  return shown.flatMap((document, at) =>
    differences(document, expected[at]!, sample.name).map((each) => `${at}: ${each}`),
  );
}
