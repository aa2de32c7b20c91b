/**
 * Turns off protobufjs's Long objects, so that 64-bit fields are plain numbers as their types say.
 * Must be evaluated before the generated code, which reads the setting when it loads.
 */

import protobuf from "protobufjs/minimal.js";

(protobuf.util as { Long: unknown }).Long = null;
protobuf.configure();
