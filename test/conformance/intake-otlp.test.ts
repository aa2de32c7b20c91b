/** OpenTelemetry's SDK for Node sends to the input otlp: over gRPC and over HTTP, and over a kill of the hub. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";

interface Exporter {
  shutdown(): Promise<void>;
}

interface Sdk {
  readonly BatchLogRecordProcessor: new (options: object) => object;
  readonly LoggerProvider: new (
    options: object,
  ) => {
    getLogger(name: string): { emit(record: object): void };
    forceFlush(): Promise<void>;
    shutdown(): Promise<void>;
  };
}

const EXPORTERS: [transport: string, name: string, path: string][] = [
  ["gRPC", "@opentelemetry/exporter-logs-otlp-grpc", ""],
  ["HTTP", "@opentelemetry/exporter-logs-otlp-proto", "/v1/logs"],
];

for (const [transport, name, path] of EXPORTERS) {
  test(`otlp over ${transport}: the SDK's records are found, with severity and resource, also after a kill`, {
    skip: missingSenders(name, "@opentelemetry/sdk-logs"),
  }, async (t) => {
    const isGrpc = transport === "gRPC";
    let http = 0;
    const { hub, port, messages } = await startIntakeHub(t, (grpc) => {
      http = grpc;
      return isGrpc
        ? `otlp { host => "127.0.0.1" port => 0 grpc_port => ${grpc} tokens => ["secret"] }`
        : `otlp { host => "127.0.0.1" port => ${grpc} tokens => ["secret"] }`;
    });
    const { OTLPLogExporter } = senderPackage<{ OTLPLogExporter: new (options: object) => Exporter }>(name);
    const sdk = senderPackage<Sdk>("@opentelemetry/sdk-logs");
    const signed = { authorization: "Bearer secret" };
    const exporter = new OTLPLogExporter({
      url: `http://127.0.0.1:${http || port}${path}`,
      ...(isGrpc ? { metadata: metadata(signed) } : { headers: signed }),
      timeoutMillis: 60_000,
    });
    const processor = new sdk.BatchLogRecordProcessor({
      exporter,
      maxExportBatchSize: 100,
      exportTimeoutMillis: 60_000,
    });
    const provider = new sdk.LoggerProvider({ processors: [processor] });
    t.after(() => provider.shutdown());
    const logger = provider.getLogger("shop");
    const send = (texts: readonly string[]): void => {
      for (const body of texts) logger.emit({ body, severityNumber: 13, attributes: { n: 1 } });
    };
    send(lines(500));
    await provider.forceFlush();
    await hub.kill9();
    await hub.start();
    send(lines(500, 500));
    await provider.forceFlush();
    assert.deepEqual(await messages(1000), lines(1000));
  });
}

function metadata(values: Readonly<Record<string, string>>): object {
  const { Metadata } = senderPackage<{ Metadata: new () => { set(name: string, value: string): void } }>(
    "@grpc/grpc-js",
  );
  const made = new Metadata();
  for (const [name, value] of Object.entries(values)) made.set(name, value);
  return made;
}
