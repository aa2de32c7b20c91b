/** Inputs for what other shippers send over HTTP: Loki pushes, Splunk events, and these and OTLP at one port. */

import { listenerTls } from "#hub/pipeline/connections/tls.ts";
import { defineInput } from "#hub/pipeline/plugins/input.ts";
import { options } from "#proto/kit/options.ts";
import { HttpIntake, type IntakeProtocol, intakeOptions } from "./intake/http-intake.ts";
import { lokiPush } from "./intake/loki-push.ts";
import { otlpHttp } from "./intake/otlp-logs.ts";
import { SplunkHec } from "./intake/splunk-hec.ts";

export const intakeInput = httpInput({
  name: "intake",
  description: "receives OTLP, Loki pushes and Splunk events over HTTP, all on one port",
  port: 5046,
  protocols: () => [otlpHttp, lokiPush, new SplunkHec()],
});

export const lokiInput = httpInput({
  name: "loki",
  description: "receives lines over Loki's push API, as JSON and as protobuf",
  port: 3100,
  protocols: () => [lokiPush],
});

export const splunkHecInput = httpInput({
  name: "splunk_hec",
  description: "receives events over Splunk's HTTP Event Collector protocol, as JSON and as raw text",
  port: 8088,
  protocols: () => [new SplunkHec()],
});

interface HttpInput {
  readonly name: string;
  readonly description: string;
  /** Default port. */
  readonly port: number;
  /** Returns the protocols of one input; some have state. */
  readonly protocols: () => IntakeProtocol[];
}

/** Returns an input that answers paths of other protocols with the paths of its own. */
function httpInput({ name, description, port, protocols }: HttpInput) {
  return defineInput({
    name,
    description,
    options: options(intakeOptions(port)),
    create(values, { resolvePath }) {
      const tls = listenerTls(values, resolvePath);
      return (context) => new HttpIntake(context, values, tls, protocols());
    },
  });
}
