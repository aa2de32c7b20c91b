/** Inputs that take a format over UDP and TCP at one port. */

import type { TlsOptions } from "node:tls";
import type { InputOptionsContext } from "#hub/pipeline/plugins/input.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { optional } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

type Protocol = "tcp" | "udp";

/** The option of such an input, to be spread into its options. */
export const TRANSPORTS = {
  protocols: optional(
    Type.Array(Type.Enum(["tcp", "udp"]), {
      minItems: 1,
      description: "transports; default: both, with TLS only tcp",
    }),
  ),
};

/** Returns the transports to listen with. Reports an error for UDP with TLS. */
export function chosenTransports(
  given: readonly Protocol[] | undefined,
  tls: TlsOptions | undefined,
  report: InputOptionsContext["report"],
): readonly Protocol[] {
  if (tls !== undefined && given?.includes("udp") === true)
    report(
      "error",
      "protocols",
      "datagrams aren't encrypted",
      'write protocols => ["tcp"], and an input of its own for UDP',
    );
  const usual: readonly Protocol[] = tls === undefined ? ["tcp", "udp"] : ["tcp"];
  return [...new Set(given ?? usual)];
}

/** Listens with the chosen ones of an input's parts. */
export class Transports implements Component {
  readonly #parts: readonly Component[];

  constructor(parts: Readonly<Record<Protocol, Component>>, chosen: readonly Protocol[]) {
    this.#parts = chosen.map((protocol) => parts[protocol]);
  }

  async start(): Promise<void> {
    for (const part of this.#parts) await part.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.stop()));
  }
}
