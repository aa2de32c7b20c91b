/** Inputs shipper and beats: what agents send. */

import { Type } from "typebox";
import { optional, options, text } from "../filters/option-types.ts";
import { defineInput } from "./input.ts";

const OPTIONS = options({
  id: optional(text("name of this input in metrics and messages")),
  host: optional(text("accepted for compatibility: agents send to the hub's log")),
  port: optional(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: "accepted for compatibility: agents send to the hub's log",
    }),
  ),
});

/** The agents of this installation. */
export const shipperInput = defineInput({
  name: "shipper",
  description: "takes what agents send",
  options: OPTIONS,
  create: () => undefined,
});

/** The name that existing pipelines use. */
export const beatsInput = defineInput({ ...shipperInput, name: "beats" });
