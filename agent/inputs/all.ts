/** All inputs. */

import type { InputPlugin } from "#agent/contract/input.ts";
import { containerInput } from "./container.ts";
import { journaldInput } from "./journald.ts";
import { kvstoreInput } from "./kvstore.ts";
import { logInput } from "./log.ts";
import { stdinInput } from "./stdin.ts";
import { syslogInput } from "./syslog.ts";
import { tcpInput } from "./tcp.ts";
import { udpInput } from "./udp.ts";

/** By the order in which the settings reference shows them. */
export const INPUTS: readonly InputPlugin[] = [
  logInput,
  containerInput,
  journaldInput,
  stdinInput,
  udpInput,
  tcpInput,
  syslogInput,
  kvstoreInput,
];
