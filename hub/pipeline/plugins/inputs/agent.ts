/** Inputs agent and shipper: lines from this installation's agents. */

import { defineInput } from "#hub/pipeline/plugins/input.ts";
import { options, withoutEffect } from "#proto/kit/options.ts";

const OPTIONS = options({
  host: withoutEffect("agents send to the hub's log, not to a port of the pipeline"),
  port: withoutEffect("agents send to the hub's log, not to a port of the pipeline"),
});

/** The agents of this installation. */
export const agentInput = defineInput({
  name: "agent",
  description: "receives the lines of agents",
  options: OPTIONS,
  takesAgents: true,
  create: () => undefined,
});

/** The agent by its specified name. */
export const shipperInput = defineInput({ ...agentInput, name: "shipper" });
