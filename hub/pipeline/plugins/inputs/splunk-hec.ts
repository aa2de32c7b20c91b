/** Input splunk_hec: events for Splunk's HTTP Event Collector. */

import { listenerTls } from "#hub/pipeline/connections/tls.ts";
import { defineInput } from "#hub/pipeline/plugins/input.ts";
import { HttpIntake, intakeOptions } from "#hub/pipeline/plugins/inputs/intake/http-intake.ts";
import { SplunkHec } from "#hub/pipeline/plugins/inputs/intake/splunk-hec.ts";
import { options } from "#proto/kit/options.ts";

const OPTIONS = options(intakeOptions(8088));

export const splunkHecInput = defineInput({
  name: "splunk_hec",
  description: "receives events over Splunk's HTTP Event Collector protocol, as JSON and as raw text",
  options: OPTIONS,
  create(values, { resolvePath }) {
    const tls = listenerTls(values, resolvePath);
    return (context) => new HttpIntake(context, values, tls, [new SplunkHec()]);
  },
});
