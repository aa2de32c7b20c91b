/** Runs the default pipeline over lines, for its tests. */

import assert from "node:assert/strict";
import { DocumentPacker } from "#hub/pipeline/batch/document-packer.ts";
import type { RawMessage } from "#hub/pipeline/batch/raw-message.ts";
import { DefaultPipeline } from "#hub/pipeline/default/default-pipeline.ts";
import { jsonShape } from "#proto/codec/json-shape.ts";

/** When lines are read and events taken in; the zone of times that say none is UTC. */
const NOW = Date.UTC(2026, 10, 21, 1, 2, 3, 4);
const CLOCK = { now: () => NOW, monotonic: () => 0, sleep: () => Promise.resolve() };

/** A line of the combined access log. */
export const COMBINED =
  '83.149.9.216 - frank [17/May/2015:10:05:03 +0200] "GET /a?b=\\"c HTTP/1.1" 200 203023 "http://e.com/" "Mozilla/5.0 (X11)"';

function rawMessage(data: Buffer, changes: Partial<RawMessage> = {}): RawMessage {
  const from = changes.from ?? 0;
  return {
    agentId: "a-1",
    agentName: "web-1",
    agentVersion: "6.5.0",
    hostName: "host-1",
    fieldsJson: new Uint8Array(),
    sourceKey: "a-1/f/0",
    pipelineId: "",
    sequence: 1,
    inputType: "log",
    path: "/var/log/x.log",
    from,
    readTimeMs: NOW,
    firstLineContinued: false,
    data,
    events: [],
    ranges: [[from, from + data.length]],
    ...changes,
  };
}

/** Returns what a message of these bytes becomes, packed and as objects. */
export function run(data: Buffer | string, changes: Partial<RawMessage> = {}) {
  const out = new DocumentPacker(16);
  new DefaultPipeline("main", CLOCK).process(rawMessage(Buffer.from(data), changes), out);
  const packed = out.pack();
  const documents: Record<string, unknown>[] = [];
  let start = 0;
  const { bytes, ends, shapes } = packed.documents;
  for (const [at, end] of ends.entries()) {
    documents.push(JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()));
    // Shapes that are told by the line's form are those that a look at the document gives.
    assert.equal(shapes![at], jsonShape(bytes, start, end));
    start = end;
  }
  return { packed, documents };
}

/** The members that a line itself brings. */
export function own(line: Buffer | string, changes: Partial<RawMessage> = {}): Record<string, unknown> {
  const { documents } = run(Buffer.concat([Buffer.from(line), Buffer.from("\n")]), changes);
  assert.equal(documents.length, 1);
  const { host, shipper, input, event, ...rest } = documents[0]!;
  assert.ok(host !== undefined && shipper !== undefined && input !== undefined && event !== undefined);
  const { file, offset, ...log } = rest["log"] as Record<string, unknown>;
  assert.deepEqual([file, offset], [{ path: "/var/log/x.log" }, 0]);
  delete rest["log"];
  return Object.keys(log).length === 0 ? rest : { ...rest, log };
}
