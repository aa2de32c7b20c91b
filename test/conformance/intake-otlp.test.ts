/** OpenTelemetry's SDK for Node sends to the input otlp: over gRPC and over HTTP, and over a kill of the hub. */

import { test } from "node:test";
import { missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";
import { assertNoneLost, killWhileSending } from "#test/harness/kill-while-sending.ts";

interface Exporter {
  export(records: readonly object[], done: (result: ExportResult) => void): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

interface ExportResult {
  /** 0: exported. */
  readonly code: number;
  readonly error?: Error;
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

/** So long the SDK waits for a batch: the hub has to start meanwhile. */
const PATIENCE_MS = 280_000;

const EXPORTERS: [transport: string, name: string, path: string][] = [
  ["gRPC", "@opentelemetry/exporter-logs-otlp-grpc", ""],
  ["HTTP", "@opentelemetry/exporter-logs-otlp-proto", "/v1/logs"],
];

for (const [transport, name, path] of EXPORTERS) {
  test(`otlp over ${transport}: the SDK's records are found, with severity and resource, also after a kill while it sends`, {
    skip: missingSenders(name, "@opentelemetry/sdk-logs"),
  }, async (t) => {
    const isGrpc = transport === "gRPC";
    let http = 0;
    const intake = await startIntakeHub(t, (grpc) => {
      http = grpc;
      return isGrpc
        ? `otlp { host => "127.0.0.1" port => 0 grpc_port => ${grpc} tokens => ["secret"] }`
        : `otlp { host => "127.0.0.1" port => ${grpc} tokens => ["secret"] }`;
    });
    const { OTLPLogExporter } = senderPackage<{ OTLPLogExporter: new (options: object) => Exporter }>(name);
    const sdk = senderPackage<Sdk>("@opentelemetry/sdk-logs");
    const signed = { authorization: "Bearer secret" };
    const exporter = new OTLPLogExporter({
      url: `http://127.0.0.1:${http || intake.port}${path}`,
      ...(isGrpc ? { metadata: metadata(signed) } : { headers: signed }),
      timeoutMillis: PATIENCE_MS,
    });
    const again = new ExportAgain(exporter);
    const processor = new sdk.BatchLogRecordProcessor({
      exporter: again,
      maxExportBatchSize: 100,
      exportTimeoutMillis: PATIENCE_MS,
    });
    const provider = new sdk.LoggerProvider({
      processors: [processor],
      forceFlushTimeoutMillis: PATIENCE_MS,
    });
    t.after(() => {
      again.end();
      return provider.shutdown();
    });
    const logger = provider.getLogger("shop");
    const send = async (texts: readonly string[]): Promise<void> => {
      for (const body of texts) logger.emit({ body, severityNumber: 13, attributes: { n: 1 } });
      await provider.forceFlush();
    };
    const sent = await killWhileSending(intake, { batch: 300, send });
    const repeated = assertNoneLost(sent, sent.succeeded);
    t.diagnostic(`${sent.all} lines sent, 0 lost, ${repeated} repeated`);
  });
}

/** An exporter gives a batch up after five attempts, within seconds: this one begins anew. */
class ExportAgain implements Exporter {
  readonly #exporter: Exporter;
  #isOver = false;

  constructor(exporter: Exporter) {
    this.#exporter = exporter;
  }

  export(records: readonly object[], done: (result: ExportResult) => void): void {
    this.#exporter.export(records, (result) => {
      if (result.code === 0 || this.#isOver) done(result);
      else this.export(records, done);
    });
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }

  /** Ends the attempts. */
  end(): void {
    this.#isOver = true;
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

function metadata(values: Readonly<Record<string, string>>): object {
  const { Metadata } = senderPackage<{ Metadata: new () => { set(name: string, value: string): void } }>(
    "@grpc/grpc-js",
  );
  const made = new Metadata();
  for (const [name, value] of Object.entries(values)) made.set(name, value);
  return made;
}
