/** Input loki: what Promtail, Alloy, Fluent Bit and Docker's log driver push to Loki. */

import { listenerTls } from "#hub/pipeline/connections/tls.ts";
import { defineInput } from "#hub/pipeline/plugins/input.ts";
import { HttpIntake, intakeOptions } from "#hub/pipeline/plugins/inputs/intake/http-intake.ts";
import { lokiPush } from "#hub/pipeline/plugins/inputs/intake/loki-push.ts";
import { options } from "#proto/kit/options.ts";

const OPTIONS = options(intakeOptions(3100));

export const lokiInput = defineInput({
  name: "loki",
  description: "receives lines over Loki's push API, as JSON and as protobuf",
  options: OPTIONS,
  create(values, { resolvePath }) {
    const tls = listenerTls(values, resolvePath);
    return (context) => new HttpIntake(context, values, tls, [lokiPush]);
  },
});
