/** Inputs agent and shipper: what this installation's agents send. */

import { defineInput } from "#hub/pipeline/plugins/input.ts";
import { optional, options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: optional(Type.String({ description: "accepted for compatibility: agents send to the hub's log" })),
  port: optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: "accepted for compatibility: agents send to the hub's log",
    }),
  ),
});

/** The agents of this installation. */
export const agentInput = defineInput({
  name: "agent",
  description: "takes what agents send",
  options: OPTIONS,
  takesAgents: true,
  create: () => undefined,
});

/** The agent by its specified name. */
export const shipperInput = defineInput({ ...agentInput, name: "shipper" });
