/** Codec dots: a dot per event, to see that something flows. */

import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { options } from "#proto/kit/options.ts";
import { plainCodec } from "./plain.ts";

const DOT = Buffer.from(".");

export const dotsCodec = defineCodec({
  name: "dots",
  description: "writes a dot for each event; reads text",
  options: options({}),
  create: () => ({ ...plainCodec.create({ charset: "UTF-8" }), encode: () => DOT }),
});
