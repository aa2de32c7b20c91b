/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["cluster"] || ($protobuf.roots["cluster"] = {});

export const tailrace = $root.tailrace = (() => {

    /**
     * Namespace tailrace.
     * @exports tailrace
     * @namespace
     */
    const tailrace = {};

    tailrace.HostFrame = (function() {

        /**
         * Properties of a HostFrame.
         * @typedef {Object} tailrace.HostFrame.$Properties
         * @property {number|null} [id] HostFrame id
         * @property {tailrace.HostFrame.Kind|null} [kind] HostFrame kind
         * @property {string|null} [operation] HostFrame operation
         * @property {number|null} [deadlineMs] HostFrame deadlineMs
         * @property {number|null} [version] HostFrame version
         * @property {Array.<string>|null} [warnings] HostFrame warnings
         * @property {Uint8Array|null} [value] HostFrame value
         * @property {Array.<number>|null} [partBytes] HostFrame partBytes
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a HostFrame.
         * @memberof tailrace
         * @interface IHostFrame
         * @augments tailrace.HostFrame.$Properties
         * @deprecated Use tailrace.HostFrame.$Properties instead.
         */

        /**
         * Shape of a HostFrame.
         * @typedef {tailrace.HostFrame.$Properties} tailrace.HostFrame.$Shape
         */

        /**
         * Constructs a new HostFrame.
         * @memberof tailrace
         * @classdesc Represents a HostFrame.
         * @constructor
         * @param {tailrace.HostFrame.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const HostFrame = function (properties) {
            this.warnings = [];
            this.partBytes = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * HostFrame id.
         * @member {number} id
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.id = 0;

        /**
         * HostFrame kind.
         * @member {tailrace.HostFrame.Kind} kind
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.kind = 0;

        /**
         * HostFrame operation.
         * @member {string} operation
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.operation = "";

        /**
         * HostFrame deadlineMs.
         * @member {number} deadlineMs
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.deadlineMs = 0;

        /**
         * HostFrame version.
         * @member {number} version
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.version = 0;

        /**
         * HostFrame warnings.
         * @member {Array.<string>} warnings
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.warnings = $util.emptyArray;

        /**
         * HostFrame value.
         * @member {Uint8Array} value
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.value = $util.newBuffer([]);

        /**
         * HostFrame partBytes.
         * @member {Array.<number>} partBytes
         * @memberof tailrace.HostFrame
         * @instance
         */
        HostFrame.prototype.partBytes = $util.emptyArray;

        /**
         * Encodes the specified HostFrame message. Does not implicitly {@link tailrace.HostFrame.verify|verify} messages.
         * @function encode
         * @memberof tailrace.HostFrame
         * @static
         * @param {tailrace.HostFrame.$Properties} message HostFrame message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        HostFrame.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== 0)
                writer.uint32(/* id 1, wireType 0 =*/8).uint32(message.id);
            if (message.kind != null && $Object.hasOwnProperty.call(message, "kind") && message.kind !== 0)
                writer.uint32(/* id 2, wireType 0 =*/16).int32(message.kind);
            if (message.operation != null && $Object.hasOwnProperty.call(message, "operation") && message.operation !== "")
                writer.uint32(/* id 3, wireType 2 =*/26).string(message.operation);
            if (message.deadlineMs != null && $Object.hasOwnProperty.call(message, "deadlineMs") && message.deadlineMs !== 0)
                writer.uint32(/* id 4, wireType 0 =*/32).uint32(message.deadlineMs);
            if (message.version != null && $Object.hasOwnProperty.call(message, "version") && message.version !== 0)
                writer.uint32(/* id 5, wireType 0 =*/40).uint32(message.version);
            if (message.warnings != null && message.warnings.length)
                for (let i = 0; i < message.warnings.length; ++i)
                    writer.uint32(/* id 6, wireType 2 =*/50).string(message.warnings[i]);
            if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value.length)
                writer.uint32(/* id 7, wireType 2 =*/58).bytes(message.value);
            if (message.partBytes != null && message.partBytes.length)
                writer.uint32(/* id 8, wireType 2 =*/66).uint32s(message.partBytes);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a HostFrame message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.HostFrame
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.HostFrame & tailrace.HostFrame.$Shape} HostFrame
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        HostFrame.decode = function (reader, length, _end, _depth, _target) {
            if (!(reader instanceof $Reader))
                reader = $Reader.create(reader);
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $Reader.recursionLimit)
                throw $Error("max depth exceeded");
            let end, message, value;
            if (length === $undefined)
                end = reader.len;
            else {
                end = reader.pos + length;
                if (end > reader.len)
                    throw $RangeError("index out of range");
                length = reader.len;
                reader.len = end;
            }
            message = _target || new $root.tailrace.HostFrame();
            while (reader.pos < end) {
                let start = reader.pos;
                let tag = reader.tag();
                if (tag === _end) {
                    _end = $undefined;
                    break;
                }
                let wireType = tag & 7;
                switch (tag >>>= 3) {
                case 1: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.id = value;
                        else
                            delete message.id;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.kind = value;
                        else
                            delete message.kind;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.operation = value;
                        else
                            delete message.operation;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.deadlineMs = value;
                        else
                            delete message.deadlineMs;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.version = value;
                        else
                            delete message.version;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        if (!(message.warnings && message.warnings.length))
                            message.warnings = [];
                        message.warnings.push(reader.stringVerify());
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.value = value;
                        else
                            delete message.value;
                        continue;
                    }
                case 8: {
                        if (wireType === 2) {
                            if (!(message.partBytes && message.partBytes.length))
                                message.partBytes = [];
                            reader.uint32s(message.partBytes);
                            continue;
                        }
                        if (wireType !== 0)
                            break;
                        if (!(message.partBytes && message.partBytes.length))
                            message.partBytes = [];
                        message.partBytes.push(reader.uint32());
                        continue;
                    }
                }
                reader.skipType(wireType, _depth, tag);
                if (!reader.discardUnknown) {
                    $util.makeProp(message, "$unknowns", false);
                    (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                }
            }
            if (length !== $undefined) {
                if (reader.pos !== end)
                    throw $RangeError("index out of range");
                reader.len = length;
            }
            if (_end !== $undefined)
                throw $Error("missing end group");
            return message;
        };

        /**
         * Kind enum.
         * @name tailrace.HostFrame.Kind
         * @enum {number}
         * @property {number} CALL=0 CALL value
         * @property {number} ANSWER=1 ANSWER value
         * @property {number} FAILURE=2 FAILURE value
         * @property {number} CANCEL=3 CANCEL value
         * @property {number} EVENT=4 EVENT value
         */
        HostFrame.Kind = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "CALL"] = 0;
            values[valuesById[1] = "ANSWER"] = 1;
            values[valuesById[2] = "FAILURE"] = 2;
            values[valuesById[3] = "CANCEL"] = 3;
            values[valuesById[4] = "EVENT"] = 4;
            return values;
        })();

        return HostFrame;
    })();

    return tailrace;
})();

export {
  $root as default
};
