/** Input otlp: logs of OpenTelemetry over HTTP and gRPC. */

import { randomUUID } from "node:crypto";
import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls } from "#hub/pipeline/connections/tls.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { HttpIntake, intakeOptions } from "#hub/pipeline/plugins/inputs/intake/http-intake.ts";
import { OtlpGrpcServer } from "#hub/pipeline/plugins/inputs/intake/otlp-grpc.ts";
import { SignIn } from "#hub/pipeline/plugins/inputs/stream/sign-in.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { optional, options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { otlpHttp } from "./intake/otlp-logs.ts";

const OPTIONS = options({
  ...intakeOptions(4318),
  grpc_port: optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: "port to listen on for gRPC, by convention 4317; without it only HTTP is accepted",
    }),
  ),
});

type Options = Static<typeof OPTIONS>;

export const otlpInput = defineInput({
  name: "otlp",
  description: "receives OpenTelemetry logs over HTTP, as protobuf and as JSON, and over gRPC",
  options: OPTIONS,
  create(values, { resolvePath }) {
    const tls = listenerTls(values, resolvePath);
    return (context) => {
      const http = new HttpIntake(context, values, tls, [otlpHttp]);
      return values.grpc_port === undefined ? http : new OtlpInput(context, values, http, tls);
    };
  },
});

/** Listens for both. */
class OtlpInput implements Component {
  readonly #context: InputContext;
  readonly #http: HttpIntake;
  readonly #grpc: OtlpGrpcServer;
  #channel: InputChannel | undefined;

  constructor(context: InputContext, values: Options, http: HttpIntake, tls: TlsOptions | undefined) {
    this.#context = context;
    this.#http = http;
    this.#grpc = new OtlpGrpcServer({
      host: values.host,
      port: values.grpc_port ?? 0,
      tls,
      maxBodyBytes: values.max_content_length,
      maxRequests: values.max_pending_requests,
      signIn: new SignIn(values, context.mayIngest),
      shares: context.shares,
      take: async (events) => {
        if (events.length > 0) await this.#channel!.send(events.map((event) => ({ event })));
      },
      now: () => context.clock.now(),
    });
  }

  async start(): Promise<void> {
    this.#channel = this.#context.open({ key: randomUUID() });
    await this.#http.start();
    await this.#grpc.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#http.stop(), this.#grpc.stop()]);
    this.#channel?.close();
  }
}
