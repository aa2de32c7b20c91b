/** Networks of scripts: `new CIDR("10.0.0.0/8").contains(address)`. */

import { isIP } from "node:net";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Method, type Methods, print, ScriptObject } from "#hub/scripts/values/values.ts";
import { AddressSet } from "#proto/kit/net/address-set.ts";

/** A network, or one address. */
export class Cidr extends ScriptObject {
  readonly type = "CIDR";
  readonly methods = CIDR_METHODS;
  readonly addresses = new AddressSet();

  /** `given`: "192.0.2.0/24", "2001:db8::/32" or an address. Throws IllegalArgumentException, NullPointerException. */
  constructor(given: unknown) {
    super();
    if ((given ?? null) === null) throw new ScriptException("NullPointerException", null);
    const range = print(given);
    const [address = ""] = range.split("/");
    const size = isIP(checkedAddress(address)) === 4 ? 32 : 128;
    if (!this.addresses.add(range))
      throw new ScriptException(
        "IllegalArgumentException",
        `Expected [ip/prefix] with a prefix from 0 to ${size} but was [${range}]`,
      );
  }
}

/** Throws IllegalArgumentException for what isn't an address. */
function checkedAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new ScriptException("IllegalArgumentException", `'${text}' is not an IP string literal.`);
}

const CIDR_METHODS: Methods = new Map<string, Method>([
  [
    "contains",
    (self: Cidr, [given]) => {
      const address = (given ?? null) === null ? "" : print(given);
      return address !== "" && self.addresses.has(checkedAddress(address));
    },
  ],
]);
