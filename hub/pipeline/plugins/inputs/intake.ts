/** Input intake: OTLP, Loki and Splunk HEC at one port; another path is answered with theirs. */

import { listenerTls } from "#hub/pipeline/connections/tls.ts";
import { defineInput } from "#hub/pipeline/plugins/input.ts";
import { HttpIntake, intakeOptions } from "#hub/pipeline/plugins/inputs/intake/http-intake.ts";
import { lokiPush } from "#hub/pipeline/plugins/inputs/intake/loki-push.ts";
import { SplunkHec } from "#hub/pipeline/plugins/inputs/intake/splunk-hec.ts";
import { options } from "#proto/kit/options.ts";
import { otlpHttp } from "./intake/otlp-logs.ts";

const OPTIONS = options(intakeOptions(5046));

export const intakeInput = defineInput({
  name: "intake",
  description: "receives OTLP, Loki pushes and Splunk events over HTTP, all on one port",
  options: OPTIONS,
  create(values, { resolvePath }) {
    const tls = listenerTls(values, resolvePath);
    return (context) => new HttpIntake(context, values, tls, [otlpHttp, lokiPush, new SplunkHec()]);
  },
});
