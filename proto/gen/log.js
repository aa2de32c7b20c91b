/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

// Common aliases
const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

// Exported root namespace
const $root = $protobuf.roots["default"] || ($protobuf.roots["default"] = {});

export const tailrace = $root.tailrace = (() => {

    /**
     * Namespace tailrace.
     * @exports tailrace
     * @namespace
     */
    const tailrace = {};

    tailrace.Source = (function() {

        /**
         * Properties of a Source.
         * @typedef {Object} tailrace.Source.$Properties
         * @property {string|null} [inputId] Source inputId
         * @property {string|null} [inputType] Source inputType
         * @property {string|null} [fileKey] Source fileKey
         * @property {number|null} [generation] Source generation
         * @property {string|null} [path] Source path
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a Source.
         * @memberof tailrace
         * @interface ISource
         * @augments tailrace.Source.$Properties
         * @deprecated Use tailrace.Source.$Properties instead.
         */

        /**
         * Shape of a Source.
         * @typedef {tailrace.Source.$Properties} tailrace.Source.$Shape
         */

        /**
         * Constructs a new Source.
         * @memberof tailrace
         * @classdesc Represents a Source.
         * @constructor
         * @param {tailrace.Source.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const Source = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * Source inputId.
         * @member {string} inputId
         * @memberof tailrace.Source
         * @instance
         */
        Source.prototype.inputId = "";

        /**
         * Source inputType.
         * @member {string} inputType
         * @memberof tailrace.Source
         * @instance
         */
        Source.prototype.inputType = "";

        /**
         * Source fileKey.
         * @member {string} fileKey
         * @memberof tailrace.Source
         * @instance
         */
        Source.prototype.fileKey = "";

        /**
         * Source generation.
         * @member {number} generation
         * @memberof tailrace.Source
         * @instance
         */
        Source.prototype.generation = 0;

        /**
         * Source path.
         * @member {string} path
         * @memberof tailrace.Source
         * @instance
         */
        Source.prototype.path = "";

        /**
         * Encodes the specified Source message. Does not implicitly {@link tailrace.Source.verify|verify} messages.
         * @function encode
         * @memberof tailrace.Source
         * @static
         * @param {tailrace.Source.$Properties} message Source message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        Source.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.inputId != null && $Object.hasOwnProperty.call(message, "inputId") && message.inputId !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.inputId);
            if (message.inputType != null && $Object.hasOwnProperty.call(message, "inputType") && message.inputType !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.inputType);
            if (message.fileKey != null && $Object.hasOwnProperty.call(message, "fileKey") && message.fileKey !== "")
                writer.uint32(/* id 3, wireType 2 =*/26).string(message.fileKey);
            if (message.generation != null && $Object.hasOwnProperty.call(message, "generation") && message.generation !== 0)
                writer.uint32(/* id 4, wireType 0 =*/32).uint32(message.generation);
            if (message.path != null && $Object.hasOwnProperty.call(message, "path") && message.path !== "")
                writer.uint32(/* id 5, wireType 2 =*/42).string(message.path);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a Source message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.Source
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.Source & tailrace.Source.$Shape} Source
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        Source.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.Source();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.inputId = value;
                        else
                            delete message.inputId;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.inputType = value;
                        else
                            delete message.inputType;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.fileKey = value;
                        else
                            delete message.fileKey;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.generation = value;
                        else
                            delete message.generation;
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.path = value;
                        else
                            delete message.path;
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

        return Source;
    })();

    /**
     * Compression enum.
     * @name tailrace.Compression
     * @enum {number}
     * @property {number} NONE=0 NONE value
     * @property {number} ZSTD=1 ZSTD value
     */
    tailrace.Compression = (function() {
        const valuesById = $Object.create(null), values = $Object.create(valuesById);
        values[valuesById[0] = "NONE"] = 0;
        values[valuesById[1] = "ZSTD"] = 1;
        return values;
    })();

    tailrace.LogBlock = (function() {

        /**
         * Properties of a LogBlock.
         * @typedef {Object} tailrace.LogBlock.$Properties
         * @property {tailrace.Source.$Properties|null} [source] LogBlock source
         * @property {number|null} [from] LogBlock from
         * @property {number|null} [to] LogBlock to
         * @property {number|null} [readTimeMs] LogBlock readTimeMs
         * @property {boolean|null} [lastLineOpen] LogBlock lastLineOpen
         * @property {boolean|null} [firstLineContinued] LogBlock firstLineContinued
         * @property {tailrace.Compression|null} [compression] LogBlock compression
         * @property {number|null} [dataBytes] LogBlock dataBytes
         * @property {Array.<tailrace.LogEvent.$Properties>|null} [events] LogBlock events
         * @property {Uint8Array|null} [data] LogBlock data
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a LogBlock.
         * @memberof tailrace
         * @interface ILogBlock
         * @augments tailrace.LogBlock.$Properties
         * @deprecated Use tailrace.LogBlock.$Properties instead.
         */

        /**
         * Shape of a LogBlock.
         * @typedef {tailrace.LogBlock.$Properties} tailrace.LogBlock.$Shape
         */

        /**
         * Constructs a new LogBlock.
         * @memberof tailrace
         * @classdesc Represents a LogBlock.
         * @constructor
         * @param {tailrace.LogBlock.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const LogBlock = function (properties) {
            this.events = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * LogBlock source.
         * @member {tailrace.Source.$Properties|null|undefined} source
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.source = null;

        /**
         * LogBlock from.
         * @member {number} from
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.from = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * LogBlock to.
         * @member {number} to
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.to = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * LogBlock readTimeMs.
         * @member {number} readTimeMs
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.readTimeMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * LogBlock lastLineOpen.
         * @member {boolean} lastLineOpen
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.lastLineOpen = false;

        /**
         * LogBlock firstLineContinued.
         * @member {boolean} firstLineContinued
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.firstLineContinued = false;

        /**
         * LogBlock compression.
         * @member {tailrace.Compression} compression
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.compression = 0;

        /**
         * LogBlock dataBytes.
         * @member {number} dataBytes
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.dataBytes = 0;

        /**
         * LogBlock events.
         * @member {Array.<tailrace.LogEvent.$Properties>} events
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.events = $util.emptyArray;

        /**
         * LogBlock data.
         * @member {Uint8Array} data
         * @memberof tailrace.LogBlock
         * @instance
         */
        LogBlock.prototype.data = $util.newBuffer([]);

        /**
         * Encodes the specified LogBlock message. Does not implicitly {@link tailrace.LogBlock.verify|verify} messages.
         * @function encode
         * @memberof tailrace.LogBlock
         * @static
         * @param {tailrace.LogBlock.$Properties} message LogBlock message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        LogBlock.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                $root.tailrace.Source.encode(message.source, writer.uint32(/* id 1, wireType 2 =*/10).fork(), _depth + 1).ldelim();
            if (message.from != null && $Object.hasOwnProperty.call(message, "from") && (typeof message.from === "object" ? message.from.low || message.from.high : message.from !== 0))
                writer.uint32(/* id 2, wireType 0 =*/16).uint64(message.from);
            if (message.to != null && $Object.hasOwnProperty.call(message, "to") && (typeof message.to === "object" ? message.to.low || message.to.high : message.to !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.to);
            if (message.readTimeMs != null && $Object.hasOwnProperty.call(message, "readTimeMs") && (typeof message.readTimeMs === "object" ? message.readTimeMs.low || message.readTimeMs.high : message.readTimeMs !== 0))
                writer.uint32(/* id 4, wireType 0 =*/32).uint64(message.readTimeMs);
            if (message.lastLineOpen != null && $Object.hasOwnProperty.call(message, "lastLineOpen") && message.lastLineOpen !== false)
                writer.uint32(/* id 5, wireType 0 =*/40).bool(message.lastLineOpen);
            if (message.firstLineContinued != null && $Object.hasOwnProperty.call(message, "firstLineContinued") && message.firstLineContinued !== false)
                writer.uint32(/* id 6, wireType 0 =*/48).bool(message.firstLineContinued);
            if (message.compression != null && $Object.hasOwnProperty.call(message, "compression") && message.compression !== 0)
                writer.uint32(/* id 7, wireType 0 =*/56).int32(message.compression);
            if (message.dataBytes != null && $Object.hasOwnProperty.call(message, "dataBytes") && message.dataBytes !== 0)
                writer.uint32(/* id 8, wireType 0 =*/64).uint32(message.dataBytes);
            if (message.events != null && message.events.length)
                for (let i = 0; i < message.events.length; ++i)
                    $root.tailrace.LogEvent.encode(message.events[i], writer.uint32(/* id 9, wireType 2 =*/74).fork(), _depth + 1).ldelim();
            if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                writer.uint32(/* id 10, wireType 2 =*/82).bytes(message.data);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a LogBlock message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.LogBlock
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.LogBlock & tailrace.LogBlock.$Shape} LogBlock
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        LogBlock.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.LogBlock();
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
                        if (wireType !== 2)
                            break;
                        message.source = $root.tailrace.Source.decode(reader, reader.size(), $undefined, _depth + 1, message.source);
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.from = value;
                        else
                            delete message.from;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.to = value;
                        else
                            delete message.to;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.readTimeMs = value;
                        else
                            delete message.readTimeMs;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.lastLineOpen = value;
                        else
                            delete message.lastLineOpen;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.firstLineContinued = value;
                        else
                            delete message.firstLineContinued;
                        continue;
                    }
                case 7: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.compression = value;
                        else
                            delete message.compression;
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.dataBytes = value;
                        else
                            delete message.dataBytes;
                        continue;
                    }
                case 9: {
                        if (wireType !== 2)
                            break;
                        if (!(message.events && message.events.length))
                            message.events = [];
                        message.events.push($root.tailrace.LogEvent.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 10: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.data = value;
                        else
                            delete message.data;
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

        return LogBlock;
    })();

    tailrace.LogEvent = (function() {

        /**
         * Properties of a LogEvent.
         * @typedef {Object} tailrace.LogEvent.$Properties
         * @property {number|null} [offset] LogEvent offset
         * @property {number|null} [timeMs] LogEvent timeMs
         * @property {Uint8Array|null} [message] LogEvent message
         * @property {Uint8Array|null} [fieldsJson] LogEvent fieldsJson
         * @property {number|null} [length] LogEvent length
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a LogEvent.
         * @memberof tailrace
         * @interface ILogEvent
         * @augments tailrace.LogEvent.$Properties
         * @deprecated Use tailrace.LogEvent.$Properties instead.
         */

        /**
         * Shape of a LogEvent.
         * @typedef {tailrace.LogEvent.$Properties} tailrace.LogEvent.$Shape
         */

        /**
         * Constructs a new LogEvent.
         * @memberof tailrace
         * @classdesc Represents a LogEvent.
         * @constructor
         * @param {tailrace.LogEvent.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const LogEvent = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * LogEvent offset.
         * @member {number} offset
         * @memberof tailrace.LogEvent
         * @instance
         */
        LogEvent.prototype.offset = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * LogEvent timeMs.
         * @member {number} timeMs
         * @memberof tailrace.LogEvent
         * @instance
         */
        LogEvent.prototype.timeMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * LogEvent message.
         * @member {Uint8Array} message
         * @memberof tailrace.LogEvent
         * @instance
         */
        LogEvent.prototype.message = $util.newBuffer([]);

        /**
         * LogEvent fieldsJson.
         * @member {Uint8Array} fieldsJson
         * @memberof tailrace.LogEvent
         * @instance
         */
        LogEvent.prototype.fieldsJson = $util.newBuffer([]);

        /**
         * LogEvent length.
         * @member {number} length
         * @memberof tailrace.LogEvent
         * @instance
         */
        LogEvent.prototype.length = 0;

        /**
         * Encodes the specified LogEvent message. Does not implicitly {@link tailrace.LogEvent.verify|verify} messages.
         * @function encode
         * @memberof tailrace.LogEvent
         * @static
         * @param {tailrace.LogEvent.$Properties} message LogEvent message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        LogEvent.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.offset != null && $Object.hasOwnProperty.call(message, "offset") && (typeof message.offset === "object" ? message.offset.low || message.offset.high : message.offset !== 0))
                writer.uint32(/* id 1, wireType 0 =*/8).uint64(message.offset);
            if (message.timeMs != null && $Object.hasOwnProperty.call(message, "timeMs") && (typeof message.timeMs === "object" ? message.timeMs.low || message.timeMs.high : message.timeMs !== 0))
                writer.uint32(/* id 2, wireType 0 =*/16).uint64(message.timeMs);
            if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message.length)
                writer.uint32(/* id 3, wireType 2 =*/26).bytes(message.message);
            if (message.fieldsJson != null && $Object.hasOwnProperty.call(message, "fieldsJson") && message.fieldsJson.length)
                writer.uint32(/* id 4, wireType 2 =*/34).bytes(message.fieldsJson);
            if (message.length != null && $Object.hasOwnProperty.call(message, "length") && message.length !== 0)
                writer.uint32(/* id 5, wireType 0 =*/40).uint32(message.length);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a LogEvent message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.LogEvent
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.LogEvent & tailrace.LogEvent.$Shape} LogEvent
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        LogEvent.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.LogEvent();
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
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.offset = value;
                        else
                            delete message.offset;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.timeMs = value;
                        else
                            delete message.timeMs;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.message = value;
                        else
                            delete message.message;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.fieldsJson = value;
                        else
                            delete message.fieldsJson;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.length = value;
                        else
                            delete message.length;
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

        return LogEvent;
    })();

    tailrace.LogBatch = (function() {

        /**
         * Properties of a LogBatch.
         * @typedef {Object} tailrace.LogBatch.$Properties
         * @property {string|null} [agentId] LogBatch agentId
         * @property {number|null} [epoch] LogBatch epoch
         * @property {number|null} [number] LogBatch number
         * @property {string|null} [agentName] LogBatch agentName
         * @property {string|null} [agentVersion] LogBatch agentVersion
         * @property {string|null} [hostName] LogBatch hostName
         * @property {Uint8Array|null} [fieldsJson] LogBatch fieldsJson
         * @property {tailrace.LogBlock.$Properties|null} [block] LogBatch block
         * @property {string|null} [pipelineId] LogBatch pipelineId
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a LogBatch.
         * @memberof tailrace
         * @interface ILogBatch
         * @augments tailrace.LogBatch.$Properties
         * @deprecated Use tailrace.LogBatch.$Properties instead.
         */

        /**
         * Shape of a LogBatch.
         * @typedef {tailrace.LogBatch.$Properties} tailrace.LogBatch.$Shape
         */

        /**
         * Constructs a new LogBatch.
         * @memberof tailrace
         * @classdesc Represents a LogBatch.
         * @constructor
         * @param {tailrace.LogBatch.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const LogBatch = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * LogBatch agentId.
         * @member {string} agentId
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.agentId = "";

        /**
         * LogBatch epoch.
         * @member {number} epoch
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.epoch = 0;

        /**
         * LogBatch number.
         * @member {number} number
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.number = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * LogBatch agentName.
         * @member {string} agentName
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.agentName = "";

        /**
         * LogBatch agentVersion.
         * @member {string} agentVersion
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.agentVersion = "";

        /**
         * LogBatch hostName.
         * @member {string} hostName
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.hostName = "";

        /**
         * LogBatch fieldsJson.
         * @member {Uint8Array} fieldsJson
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.fieldsJson = $util.newBuffer([]);

        /**
         * LogBatch block.
         * @member {tailrace.LogBlock.$Properties|null|undefined} block
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.block = null;

        /**
         * LogBatch pipelineId.
         * @member {string} pipelineId
         * @memberof tailrace.LogBatch
         * @instance
         */
        LogBatch.prototype.pipelineId = "";

        /**
         * Encodes the specified LogBatch message. Does not implicitly {@link tailrace.LogBatch.verify|verify} messages.
         * @function encode
         * @memberof tailrace.LogBatch
         * @static
         * @param {tailrace.LogBatch.$Properties} message LogBatch message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        LogBatch.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.agentId != null && $Object.hasOwnProperty.call(message, "agentId") && message.agentId !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.agentId);
            if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && message.epoch !== 0)
                writer.uint32(/* id 2, wireType 0 =*/16).uint32(message.epoch);
            if (message.number != null && $Object.hasOwnProperty.call(message, "number") && (typeof message.number === "object" ? message.number.low || message.number.high : message.number !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.number);
            if (message.agentName != null && $Object.hasOwnProperty.call(message, "agentName") && message.agentName !== "")
                writer.uint32(/* id 4, wireType 2 =*/34).string(message.agentName);
            if (message.agentVersion != null && $Object.hasOwnProperty.call(message, "agentVersion") && message.agentVersion !== "")
                writer.uint32(/* id 5, wireType 2 =*/42).string(message.agentVersion);
            if (message.hostName != null && $Object.hasOwnProperty.call(message, "hostName") && message.hostName !== "")
                writer.uint32(/* id 6, wireType 2 =*/50).string(message.hostName);
            if (message.fieldsJson != null && $Object.hasOwnProperty.call(message, "fieldsJson") && message.fieldsJson.length)
                writer.uint32(/* id 7, wireType 2 =*/58).bytes(message.fieldsJson);
            if (message.block != null && $Object.hasOwnProperty.call(message, "block"))
                $root.tailrace.LogBlock.encode(message.block, writer.uint32(/* id 8, wireType 2 =*/66).fork(), _depth + 1).ldelim();
            if (message.pipelineId != null && $Object.hasOwnProperty.call(message, "pipelineId") && message.pipelineId !== "")
                writer.uint32(/* id 9, wireType 2 =*/74).string(message.pipelineId);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a LogBatch message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.LogBatch
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.LogBatch & tailrace.LogBatch.$Shape} LogBatch
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        LogBatch.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.LogBatch();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentId = value;
                        else
                            delete message.agentId;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.epoch = value;
                        else
                            delete message.epoch;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.number = value;
                        else
                            delete message.number;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentName = value;
                        else
                            delete message.agentName;
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentVersion = value;
                        else
                            delete message.agentVersion;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.hostName = value;
                        else
                            delete message.hostName;
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.fieldsJson = value;
                        else
                            delete message.fieldsJson;
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        message.block = $root.tailrace.LogBlock.decode(reader, reader.size(), $undefined, _depth + 1, message.block);
                        continue;
                    }
                case 9: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.pipelineId = value;
                        else
                            delete message.pipelineId;
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

        return LogBatch;
    })();

    tailrace.AgentHello = (function() {

        /**
         * Properties of an AgentHello.
         * @typedef {Object} tailrace.AgentHello.$Properties
         * @property {string|null} [agentId] AgentHello agentId
         * @property {string|null} [agentName] AgentHello agentName
         * @property {string|null} [agentVersion] AgentHello agentVersion
         * @property {string|null} [hostName] AgentHello hostName
         * @property {number|null} [incarnation] AgentHello incarnation
         * @property {number|null} [lastSequence] AgentHello lastSequence
         * @property {string|null} [lastMessageId] AgentHello lastMessageId
         * @property {Array.<string>|null} [fileKeys] AgentHello fileKeys
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of an AgentHello.
         * @memberof tailrace
         * @interface IAgentHello
         * @augments tailrace.AgentHello.$Properties
         * @deprecated Use tailrace.AgentHello.$Properties instead.
         */

        /**
         * Shape of an AgentHello.
         * @typedef {tailrace.AgentHello.$Properties} tailrace.AgentHello.$Shape
         */

        /**
         * Constructs a new AgentHello.
         * @memberof tailrace
         * @classdesc Represents an AgentHello.
         * @constructor
         * @param {tailrace.AgentHello.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const AgentHello = function (properties) {
            this.fileKeys = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * AgentHello agentId.
         * @member {string} agentId
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.agentId = "";

        /**
         * AgentHello agentName.
         * @member {string} agentName
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.agentName = "";

        /**
         * AgentHello agentVersion.
         * @member {string} agentVersion
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.agentVersion = "";

        /**
         * AgentHello hostName.
         * @member {string} hostName
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.hostName = "";

        /**
         * AgentHello incarnation.
         * @member {number} incarnation
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.incarnation = 0;

        /**
         * AgentHello lastSequence.
         * @member {number} lastSequence
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.lastSequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentHello lastMessageId.
         * @member {string} lastMessageId
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.lastMessageId = "";

        /**
         * AgentHello fileKeys.
         * @member {Array.<string>} fileKeys
         * @memberof tailrace.AgentHello
         * @instance
         */
        AgentHello.prototype.fileKeys = $util.emptyArray;

        /**
         * Encodes the specified AgentHello message. Does not implicitly {@link tailrace.AgentHello.verify|verify} messages.
         * @function encode
         * @memberof tailrace.AgentHello
         * @static
         * @param {tailrace.AgentHello.$Properties} message AgentHello message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        AgentHello.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.agentId != null && $Object.hasOwnProperty.call(message, "agentId") && message.agentId !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.agentId);
            if (message.agentName != null && $Object.hasOwnProperty.call(message, "agentName") && message.agentName !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.agentName);
            if (message.agentVersion != null && $Object.hasOwnProperty.call(message, "agentVersion") && message.agentVersion !== "")
                writer.uint32(/* id 3, wireType 2 =*/26).string(message.agentVersion);
            if (message.hostName != null && $Object.hasOwnProperty.call(message, "hostName") && message.hostName !== "")
                writer.uint32(/* id 4, wireType 2 =*/34).string(message.hostName);
            if (message.incarnation != null && $Object.hasOwnProperty.call(message, "incarnation") && message.incarnation !== 0)
                writer.uint32(/* id 5, wireType 0 =*/40).uint32(message.incarnation);
            if (message.lastSequence != null && $Object.hasOwnProperty.call(message, "lastSequence") && (typeof message.lastSequence === "object" ? message.lastSequence.low || message.lastSequence.high : message.lastSequence !== 0))
                writer.uint32(/* id 6, wireType 0 =*/48).uint64(message.lastSequence);
            if (message.lastMessageId != null && $Object.hasOwnProperty.call(message, "lastMessageId") && message.lastMessageId !== "")
                writer.uint32(/* id 7, wireType 2 =*/58).string(message.lastMessageId);
            if (message.fileKeys != null && message.fileKeys.length)
                for (let i = 0; i < message.fileKeys.length; ++i)
                    writer.uint32(/* id 8, wireType 2 =*/66).string(message.fileKeys[i]);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes an AgentHello message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.AgentHello
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.AgentHello & tailrace.AgentHello.$Shape} AgentHello
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        AgentHello.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.AgentHello();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentId = value;
                        else
                            delete message.agentId;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentName = value;
                        else
                            delete message.agentName;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentVersion = value;
                        else
                            delete message.agentVersion;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.hostName = value;
                        else
                            delete message.hostName;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.incarnation = value;
                        else
                            delete message.incarnation;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.lastSequence = value;
                        else
                            delete message.lastSequence;
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.lastMessageId = value;
                        else
                            delete message.lastMessageId;
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        if (!(message.fileKeys && message.fileKeys.length))
                            message.fileKeys = [];
                        message.fileKeys.push(reader.stringVerify());
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

        return AgentHello;
    })();

    tailrace.Watermark = (function() {

        /**
         * Properties of a Watermark.
         * @typedef {Object} tailrace.Watermark.$Properties
         * @property {number|null} [incarnation] Watermark incarnation
         * @property {boolean|null} [rewind] Watermark rewind
         * @property {Array.<tailrace.Committed.$Properties>|null} [committed] Watermark committed
         * @property {number|null} [restored] Watermark restored
         * @property {string|null} [agentId] Watermark agentId
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a Watermark.
         * @memberof tailrace
         * @interface IWatermark
         * @augments tailrace.Watermark.$Properties
         * @deprecated Use tailrace.Watermark.$Properties instead.
         */

        /**
         * Shape of a Watermark.
         * @typedef {tailrace.Watermark.$Properties} tailrace.Watermark.$Shape
         */

        /**
         * Constructs a new Watermark.
         * @memberof tailrace
         * @classdesc Represents a Watermark.
         * @constructor
         * @param {tailrace.Watermark.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const Watermark = function (properties) {
            this.committed = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * Watermark incarnation.
         * @member {number} incarnation
         * @memberof tailrace.Watermark
         * @instance
         */
        Watermark.prototype.incarnation = 0;

        /**
         * Watermark rewind.
         * @member {boolean} rewind
         * @memberof tailrace.Watermark
         * @instance
         */
        Watermark.prototype.rewind = false;

        /**
         * Watermark committed.
         * @member {Array.<tailrace.Committed.$Properties>} committed
         * @memberof tailrace.Watermark
         * @instance
         */
        Watermark.prototype.committed = $util.emptyArray;

        /**
         * Watermark restored.
         * @member {number} restored
         * @memberof tailrace.Watermark
         * @instance
         */
        Watermark.prototype.restored = 0;

        /**
         * Watermark agentId.
         * @member {string} agentId
         * @memberof tailrace.Watermark
         * @instance
         */
        Watermark.prototype.agentId = "";

        /**
         * Encodes the specified Watermark message. Does not implicitly {@link tailrace.Watermark.verify|verify} messages.
         * @function encode
         * @memberof tailrace.Watermark
         * @static
         * @param {tailrace.Watermark.$Properties} message Watermark message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        Watermark.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.incarnation != null && $Object.hasOwnProperty.call(message, "incarnation") && message.incarnation !== 0)
                writer.uint32(/* id 1, wireType 0 =*/8).uint32(message.incarnation);
            if (message.rewind != null && $Object.hasOwnProperty.call(message, "rewind") && message.rewind !== false)
                writer.uint32(/* id 2, wireType 0 =*/16).bool(message.rewind);
            if (message.committed != null && message.committed.length)
                for (let i = 0; i < message.committed.length; ++i)
                    $root.tailrace.Committed.encode(message.committed[i], writer.uint32(/* id 3, wireType 2 =*/26).fork(), _depth + 1).ldelim();
            if (message.restored != null && $Object.hasOwnProperty.call(message, "restored") && message.restored !== 0)
                writer.uint32(/* id 4, wireType 0 =*/32).uint32(message.restored);
            if (message.agentId != null && $Object.hasOwnProperty.call(message, "agentId") && message.agentId !== "")
                writer.uint32(/* id 5, wireType 2 =*/42).string(message.agentId);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a Watermark message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.Watermark
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.Watermark & tailrace.Watermark.$Shape} Watermark
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        Watermark.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.Watermark();
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
                            message.incarnation = value;
                        else
                            delete message.incarnation;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.rewind = value;
                        else
                            delete message.rewind;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if (!(message.committed && message.committed.length))
                            message.committed = [];
                        message.committed.push($root.tailrace.Committed.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.restored = value;
                        else
                            delete message.restored;
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentId = value;
                        else
                            delete message.agentId;
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

        return Watermark;
    })();

    tailrace.Committed = (function() {

        /**
         * Properties of a Committed.
         * @typedef {Object} tailrace.Committed.$Properties
         * @property {string|null} [fileKey] Committed fileKey
         * @property {number|null} [generation] Committed generation
         * @property {number|null} [offset] Committed offset
         * @property {number|null} [from] Committed from
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a Committed.
         * @memberof tailrace
         * @interface ICommitted
         * @augments tailrace.Committed.$Properties
         * @deprecated Use tailrace.Committed.$Properties instead.
         */

        /**
         * Shape of a Committed.
         * @typedef {tailrace.Committed.$Properties} tailrace.Committed.$Shape
         */

        /**
         * Constructs a new Committed.
         * @memberof tailrace
         * @classdesc Represents a Committed.
         * @constructor
         * @param {tailrace.Committed.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const Committed = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * Committed fileKey.
         * @member {string} fileKey
         * @memberof tailrace.Committed
         * @instance
         */
        Committed.prototype.fileKey = "";

        /**
         * Committed generation.
         * @member {number} generation
         * @memberof tailrace.Committed
         * @instance
         */
        Committed.prototype.generation = 0;

        /**
         * Committed offset.
         * @member {number} offset
         * @memberof tailrace.Committed
         * @instance
         */
        Committed.prototype.offset = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Committed from.
         * @member {number} from
         * @memberof tailrace.Committed
         * @instance
         */
        Committed.prototype.from = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Encodes the specified Committed message. Does not implicitly {@link tailrace.Committed.verify|verify} messages.
         * @function encode
         * @memberof tailrace.Committed
         * @static
         * @param {tailrace.Committed.$Properties} message Committed message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        Committed.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.fileKey != null && $Object.hasOwnProperty.call(message, "fileKey") && message.fileKey !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.fileKey);
            if (message.generation != null && $Object.hasOwnProperty.call(message, "generation") && message.generation !== 0)
                writer.uint32(/* id 2, wireType 0 =*/16).uint32(message.generation);
            if (message.offset != null && $Object.hasOwnProperty.call(message, "offset") && (typeof message.offset === "object" ? message.offset.low || message.offset.high : message.offset !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.offset);
            if (message.from != null && $Object.hasOwnProperty.call(message, "from") && (typeof message.from === "object" ? message.from.low || message.from.high : message.from !== 0))
                writer.uint32(/* id 4, wireType 0 =*/32).uint64(message.from);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a Committed message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.Committed
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.Committed & tailrace.Committed.$Shape} Committed
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        Committed.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.Committed();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.fileKey = value;
                        else
                            delete message.fileKey;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.generation = value;
                        else
                            delete message.generation;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.offset = value;
                        else
                            delete message.offset;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.from = value;
                        else
                            delete message.from;
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

        return Committed;
    })();

    tailrace.AgentStatus = (function() {

        /**
         * Properties of an AgentStatus.
         * @typedef {Object} tailrace.AgentStatus.$Properties
         * @property {string|null} [agentId] AgentStatus agentId
         * @property {string|null} [agentName] AgentStatus agentName
         * @property {string|null} [agentVersion] AgentStatus agentVersion
         * @property {string|null} [hostName] AgentStatus hostName
         * @property {number|null} [startedMs] AgentStatus startedMs
         * @property {number|null} [timeMs] AgentStatus timeMs
         * @property {string|null} [health] AgentStatus health
         * @property {string|null} [reason] AgentStatus reason
         * @property {number|null} [rssBytes] AgentStatus rssBytes
         * @property {number|null} [linesRead] AgentStatus linesRead
         * @property {number|null} [bytesRead] AgentStatus bytesRead
         * @property {number|null} [bytesAcked] AgentStatus bytesAcked
         * @property {number|null} [openFiles] AgentStatus openFiles
         * @property {number|null} [lagBytes] AgentStatus lagBytes
         * @property {number|null} [openDeletedBytes] AgentStatus openDeletedBytes
         * @property {Array.<tailrace.InputStatus.$Properties>|null} [inputs] AgentStatus inputs
         * @property {Array.<tailrace.FileStatus.$Properties>|null} [files] AgentStatus files
         * @property {number|null} [filesMore] AgentStatus filesMore
         * @property {boolean|null} [logIsFull] AgentStatus logIsFull
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of an AgentStatus.
         * @memberof tailrace
         * @interface IAgentStatus
         * @augments tailrace.AgentStatus.$Properties
         * @deprecated Use tailrace.AgentStatus.$Properties instead.
         */

        /**
         * Shape of an AgentStatus.
         * @typedef {tailrace.AgentStatus.$Properties} tailrace.AgentStatus.$Shape
         */

        /**
         * Constructs a new AgentStatus.
         * @memberof tailrace
         * @classdesc Represents an AgentStatus.
         * @constructor
         * @param {tailrace.AgentStatus.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const AgentStatus = function (properties) {
            this.inputs = [];
            this.files = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * AgentStatus agentId.
         * @member {string} agentId
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.agentId = "";

        /**
         * AgentStatus agentName.
         * @member {string} agentName
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.agentName = "";

        /**
         * AgentStatus agentVersion.
         * @member {string} agentVersion
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.agentVersion = "";

        /**
         * AgentStatus hostName.
         * @member {string} hostName
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.hostName = "";

        /**
         * AgentStatus startedMs.
         * @member {number} startedMs
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.startedMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus timeMs.
         * @member {number} timeMs
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.timeMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus health.
         * @member {string} health
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.health = "";

        /**
         * AgentStatus reason.
         * @member {string} reason
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.reason = "";

        /**
         * AgentStatus rssBytes.
         * @member {number} rssBytes
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.rssBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus linesRead.
         * @member {number} linesRead
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.linesRead = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus bytesRead.
         * @member {number} bytesRead
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.bytesRead = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus bytesAcked.
         * @member {number} bytesAcked
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.bytesAcked = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus openFiles.
         * @member {number} openFiles
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.openFiles = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus lagBytes.
         * @member {number} lagBytes
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.lagBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus openDeletedBytes.
         * @member {number} openDeletedBytes
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.openDeletedBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus inputs.
         * @member {Array.<tailrace.InputStatus.$Properties>} inputs
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.inputs = $util.emptyArray;

        /**
         * AgentStatus files.
         * @member {Array.<tailrace.FileStatus.$Properties>} files
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.files = $util.emptyArray;

        /**
         * AgentStatus filesMore.
         * @member {number} filesMore
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.filesMore = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * AgentStatus logIsFull.
         * @member {boolean} logIsFull
         * @memberof tailrace.AgentStatus
         * @instance
         */
        AgentStatus.prototype.logIsFull = false;

        /**
         * Encodes the specified AgentStatus message. Does not implicitly {@link tailrace.AgentStatus.verify|verify} messages.
         * @function encode
         * @memberof tailrace.AgentStatus
         * @static
         * @param {tailrace.AgentStatus.$Properties} message AgentStatus message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        AgentStatus.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.agentId != null && $Object.hasOwnProperty.call(message, "agentId") && message.agentId !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.agentId);
            if (message.agentName != null && $Object.hasOwnProperty.call(message, "agentName") && message.agentName !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.agentName);
            if (message.agentVersion != null && $Object.hasOwnProperty.call(message, "agentVersion") && message.agentVersion !== "")
                writer.uint32(/* id 3, wireType 2 =*/26).string(message.agentVersion);
            if (message.hostName != null && $Object.hasOwnProperty.call(message, "hostName") && message.hostName !== "")
                writer.uint32(/* id 4, wireType 2 =*/34).string(message.hostName);
            if (message.startedMs != null && $Object.hasOwnProperty.call(message, "startedMs") && (typeof message.startedMs === "object" ? message.startedMs.low || message.startedMs.high : message.startedMs !== 0))
                writer.uint32(/* id 5, wireType 0 =*/40).uint64(message.startedMs);
            if (message.timeMs != null && $Object.hasOwnProperty.call(message, "timeMs") && (typeof message.timeMs === "object" ? message.timeMs.low || message.timeMs.high : message.timeMs !== 0))
                writer.uint32(/* id 6, wireType 0 =*/48).uint64(message.timeMs);
            if (message.health != null && $Object.hasOwnProperty.call(message, "health") && message.health !== "")
                writer.uint32(/* id 7, wireType 2 =*/58).string(message.health);
            if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                writer.uint32(/* id 8, wireType 2 =*/66).string(message.reason);
            if (message.rssBytes != null && $Object.hasOwnProperty.call(message, "rssBytes") && (typeof message.rssBytes === "object" ? message.rssBytes.low || message.rssBytes.high : message.rssBytes !== 0))
                writer.uint32(/* id 9, wireType 0 =*/72).uint64(message.rssBytes);
            if (message.linesRead != null && $Object.hasOwnProperty.call(message, "linesRead") && (typeof message.linesRead === "object" ? message.linesRead.low || message.linesRead.high : message.linesRead !== 0))
                writer.uint32(/* id 10, wireType 0 =*/80).uint64(message.linesRead);
            if (message.bytesRead != null && $Object.hasOwnProperty.call(message, "bytesRead") && (typeof message.bytesRead === "object" ? message.bytesRead.low || message.bytesRead.high : message.bytesRead !== 0))
                writer.uint32(/* id 11, wireType 0 =*/88).uint64(message.bytesRead);
            if (message.bytesAcked != null && $Object.hasOwnProperty.call(message, "bytesAcked") && (typeof message.bytesAcked === "object" ? message.bytesAcked.low || message.bytesAcked.high : message.bytesAcked !== 0))
                writer.uint32(/* id 12, wireType 0 =*/96).uint64(message.bytesAcked);
            if (message.openFiles != null && $Object.hasOwnProperty.call(message, "openFiles") && (typeof message.openFiles === "object" ? message.openFiles.low || message.openFiles.high : message.openFiles !== 0))
                writer.uint32(/* id 13, wireType 0 =*/104).uint64(message.openFiles);
            if (message.lagBytes != null && $Object.hasOwnProperty.call(message, "lagBytes") && (typeof message.lagBytes === "object" ? message.lagBytes.low || message.lagBytes.high : message.lagBytes !== 0))
                writer.uint32(/* id 14, wireType 0 =*/112).uint64(message.lagBytes);
            if (message.openDeletedBytes != null && $Object.hasOwnProperty.call(message, "openDeletedBytes") && (typeof message.openDeletedBytes === "object" ? message.openDeletedBytes.low || message.openDeletedBytes.high : message.openDeletedBytes !== 0))
                writer.uint32(/* id 15, wireType 0 =*/120).uint64(message.openDeletedBytes);
            if (message.inputs != null && message.inputs.length)
                for (let i = 0; i < message.inputs.length; ++i)
                    $root.tailrace.InputStatus.encode(message.inputs[i], writer.uint32(/* id 16, wireType 2 =*/130).fork(), _depth + 1).ldelim();
            if (message.files != null && message.files.length)
                for (let i = 0; i < message.files.length; ++i)
                    $root.tailrace.FileStatus.encode(message.files[i], writer.uint32(/* id 17, wireType 2 =*/138).fork(), _depth + 1).ldelim();
            if (message.filesMore != null && $Object.hasOwnProperty.call(message, "filesMore") && (typeof message.filesMore === "object" ? message.filesMore.low || message.filesMore.high : message.filesMore !== 0))
                writer.uint32(/* id 18, wireType 0 =*/144).uint64(message.filesMore);
            if (message.logIsFull != null && $Object.hasOwnProperty.call(message, "logIsFull") && message.logIsFull !== false)
                writer.uint32(/* id 19, wireType 0 =*/152).bool(message.logIsFull);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes an AgentStatus message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.AgentStatus
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.AgentStatus & tailrace.AgentStatus.$Shape} AgentStatus
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        AgentStatus.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.AgentStatus();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentId = value;
                        else
                            delete message.agentId;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentName = value;
                        else
                            delete message.agentName;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.agentVersion = value;
                        else
                            delete message.agentVersion;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.hostName = value;
                        else
                            delete message.hostName;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.startedMs = value;
                        else
                            delete message.startedMs;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.timeMs = value;
                        else
                            delete message.timeMs;
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.health = value;
                        else
                            delete message.health;
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.reason = value;
                        else
                            delete message.reason;
                        continue;
                    }
                case 9: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.rssBytes = value;
                        else
                            delete message.rssBytes;
                        continue;
                    }
                case 10: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.linesRead = value;
                        else
                            delete message.linesRead;
                        continue;
                    }
                case 11: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.bytesRead = value;
                        else
                            delete message.bytesRead;
                        continue;
                    }
                case 12: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.bytesAcked = value;
                        else
                            delete message.bytesAcked;
                        continue;
                    }
                case 13: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.openFiles = value;
                        else
                            delete message.openFiles;
                        continue;
                    }
                case 14: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.lagBytes = value;
                        else
                            delete message.lagBytes;
                        continue;
                    }
                case 15: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.openDeletedBytes = value;
                        else
                            delete message.openDeletedBytes;
                        continue;
                    }
                case 16: {
                        if (wireType !== 2)
                            break;
                        if (!(message.inputs && message.inputs.length))
                            message.inputs = [];
                        message.inputs.push($root.tailrace.InputStatus.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 17: {
                        if (wireType !== 2)
                            break;
                        if (!(message.files && message.files.length))
                            message.files = [];
                        message.files.push($root.tailrace.FileStatus.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 18: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.filesMore = value;
                        else
                            delete message.filesMore;
                        continue;
                    }
                case 19: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.logIsFull = value;
                        else
                            delete message.logIsFull;
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

        return AgentStatus;
    })();

    tailrace.FileStatus = (function() {

        /**
         * Properties of a FileStatus.
         * @typedef {Object} tailrace.FileStatus.$Properties
         * @property {string|null} [input] FileStatus input
         * @property {string|null} [path] FileStatus path
         * @property {string|null} [place] FileStatus place
         * @property {number|null} [sizeBytes] FileStatus sizeBytes
         * @property {number|null} [sentBytes] FileStatus sentBytes
         * @property {number|null} [committedBytes] FileStatus committedBytes
         * @property {string|null} [lastError] FileStatus lastError
         * @property {number|null} [unfinishedBytes] FileStatus unfinishedBytes
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a FileStatus.
         * @memberof tailrace
         * @interface IFileStatus
         * @augments tailrace.FileStatus.$Properties
         * @deprecated Use tailrace.FileStatus.$Properties instead.
         */

        /**
         * Shape of a FileStatus.
         * @typedef {tailrace.FileStatus.$Properties} tailrace.FileStatus.$Shape
         */

        /**
         * Constructs a new FileStatus.
         * @memberof tailrace
         * @classdesc Represents a FileStatus.
         * @constructor
         * @param {tailrace.FileStatus.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const FileStatus = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * FileStatus input.
         * @member {string} input
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.input = "";

        /**
         * FileStatus path.
         * @member {string} path
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.path = "";

        /**
         * FileStatus place.
         * @member {string} place
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.place = "";

        /**
         * FileStatus sizeBytes.
         * @member {number} sizeBytes
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.sizeBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * FileStatus sentBytes.
         * @member {number} sentBytes
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.sentBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * FileStatus committedBytes.
         * @member {number} committedBytes
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.committedBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * FileStatus lastError.
         * @member {string} lastError
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.lastError = "";

        /**
         * FileStatus unfinishedBytes.
         * @member {number} unfinishedBytes
         * @memberof tailrace.FileStatus
         * @instance
         */
        FileStatus.prototype.unfinishedBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Encodes the specified FileStatus message. Does not implicitly {@link tailrace.FileStatus.verify|verify} messages.
         * @function encode
         * @memberof tailrace.FileStatus
         * @static
         * @param {tailrace.FileStatus.$Properties} message FileStatus message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        FileStatus.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.input != null && $Object.hasOwnProperty.call(message, "input") && message.input !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.input);
            if (message.path != null && $Object.hasOwnProperty.call(message, "path") && message.path !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.path);
            if (message.place != null && $Object.hasOwnProperty.call(message, "place") && message.place !== "")
                writer.uint32(/* id 3, wireType 2 =*/26).string(message.place);
            if (message.sizeBytes != null && $Object.hasOwnProperty.call(message, "sizeBytes") && (typeof message.sizeBytes === "object" ? message.sizeBytes.low || message.sizeBytes.high : message.sizeBytes !== 0))
                writer.uint32(/* id 4, wireType 0 =*/32).uint64(message.sizeBytes);
            if (message.sentBytes != null && $Object.hasOwnProperty.call(message, "sentBytes") && (typeof message.sentBytes === "object" ? message.sentBytes.low || message.sentBytes.high : message.sentBytes !== 0))
                writer.uint32(/* id 5, wireType 0 =*/40).uint64(message.sentBytes);
            if (message.committedBytes != null && $Object.hasOwnProperty.call(message, "committedBytes") && (typeof message.committedBytes === "object" ? message.committedBytes.low || message.committedBytes.high : message.committedBytes !== 0))
                writer.uint32(/* id 6, wireType 0 =*/48).uint64(message.committedBytes);
            if (message.lastError != null && $Object.hasOwnProperty.call(message, "lastError") && message.lastError !== "")
                writer.uint32(/* id 7, wireType 2 =*/58).string(message.lastError);
            if (message.unfinishedBytes != null && $Object.hasOwnProperty.call(message, "unfinishedBytes") && (typeof message.unfinishedBytes === "object" ? message.unfinishedBytes.low || message.unfinishedBytes.high : message.unfinishedBytes !== 0))
                writer.uint32(/* id 8, wireType 0 =*/64).uint64(message.unfinishedBytes);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a FileStatus message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.FileStatus
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.FileStatus & tailrace.FileStatus.$Shape} FileStatus
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        FileStatus.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.FileStatus();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.input = value;
                        else
                            delete message.input;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.path = value;
                        else
                            delete message.path;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.place = value;
                        else
                            delete message.place;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sizeBytes = value;
                        else
                            delete message.sizeBytes;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sentBytes = value;
                        else
                            delete message.sentBytes;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.committedBytes = value;
                        else
                            delete message.committedBytes;
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.lastError = value;
                        else
                            delete message.lastError;
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.unfinishedBytes = value;
                        else
                            delete message.unfinishedBytes;
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

        return FileStatus;
    })();

    tailrace.InputStatus = (function() {

        /**
         * Properties of an InputStatus.
         * @typedef {Object} tailrace.InputStatus.$Properties
         * @property {string|null} [id] InputStatus id
         * @property {string|null} [type] InputStatus type
         * @property {number|null} [files] InputStatus files
         * @property {number|null} [lagBytes] InputStatus lagBytes
         * @property {number|null} [errors] InputStatus errors
         * @property {string|null} [lastError] InputStatus lastError
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of an InputStatus.
         * @memberof tailrace
         * @interface IInputStatus
         * @augments tailrace.InputStatus.$Properties
         * @deprecated Use tailrace.InputStatus.$Properties instead.
         */

        /**
         * Shape of an InputStatus.
         * @typedef {tailrace.InputStatus.$Properties} tailrace.InputStatus.$Shape
         */

        /**
         * Constructs a new InputStatus.
         * @memberof tailrace
         * @classdesc Represents an InputStatus.
         * @constructor
         * @param {tailrace.InputStatus.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const InputStatus = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * InputStatus id.
         * @member {string} id
         * @memberof tailrace.InputStatus
         * @instance
         */
        InputStatus.prototype.id = "";

        /**
         * InputStatus type.
         * @member {string} type
         * @memberof tailrace.InputStatus
         * @instance
         */
        InputStatus.prototype.type = "";

        /**
         * InputStatus files.
         * @member {number} files
         * @memberof tailrace.InputStatus
         * @instance
         */
        InputStatus.prototype.files = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * InputStatus lagBytes.
         * @member {number} lagBytes
         * @memberof tailrace.InputStatus
         * @instance
         */
        InputStatus.prototype.lagBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * InputStatus errors.
         * @member {number} errors
         * @memberof tailrace.InputStatus
         * @instance
         */
        InputStatus.prototype.errors = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * InputStatus lastError.
         * @member {string} lastError
         * @memberof tailrace.InputStatus
         * @instance
         */
        InputStatus.prototype.lastError = "";

        /**
         * Encodes the specified InputStatus message. Does not implicitly {@link tailrace.InputStatus.verify|verify} messages.
         * @function encode
         * @memberof tailrace.InputStatus
         * @static
         * @param {tailrace.InputStatus.$Properties} message InputStatus message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        InputStatus.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.id);
            if (message.type != null && $Object.hasOwnProperty.call(message, "type") && message.type !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.type);
            if (message.files != null && $Object.hasOwnProperty.call(message, "files") && (typeof message.files === "object" ? message.files.low || message.files.high : message.files !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.files);
            if (message.lagBytes != null && $Object.hasOwnProperty.call(message, "lagBytes") && (typeof message.lagBytes === "object" ? message.lagBytes.low || message.lagBytes.high : message.lagBytes !== 0))
                writer.uint32(/* id 4, wireType 0 =*/32).uint64(message.lagBytes);
            if (message.errors != null && $Object.hasOwnProperty.call(message, "errors") && (typeof message.errors === "object" ? message.errors.low || message.errors.high : message.errors !== 0))
                writer.uint32(/* id 5, wireType 0 =*/40).uint64(message.errors);
            if (message.lastError != null && $Object.hasOwnProperty.call(message, "lastError") && message.lastError !== "")
                writer.uint32(/* id 6, wireType 2 =*/50).string(message.lastError);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes an InputStatus message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.InputStatus
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.InputStatus & tailrace.InputStatus.$Shape} InputStatus
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        InputStatus.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.InputStatus();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.id = value;
                        else
                            delete message.id;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.type = value;
                        else
                            delete message.type;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.files = value;
                        else
                            delete message.files;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.lagBytes = value;
                        else
                            delete message.lagBytes;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.errors = value;
                        else
                            delete message.errors;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.lastError = value;
                        else
                            delete message.lastError;
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

        return InputStatus;
    })();

    tailrace.DocOperation = (function() {

        /**
         * Properties of a DocOperation.
         * @typedef {Object} tailrace.DocOperation.$Properties
         * @property {tailrace.DocOperation.Kind|null} [kind] DocOperation kind
         * @property {string|null} [id] DocOperation id
         * @property {Uint8Array|null} [source] DocOperation source
         * @property {string|null} [routing] DocOperation routing
         * @property {number|null} [ordinal] DocOperation ordinal
         * @property {number|null} [sourceIndex] DocOperation sourceIndex
         * @property {number|null} [offset] DocOperation offset
         * @property {number|null} [version] DocOperation version
         * @property {tailrace.DocOperation.VersionType|null} [versionType] DocOperation versionType
         * @property {boolean|null} [hasVersion] DocOperation hasVersion
         * @property {number|null} [ifSeqNo] DocOperation ifSeqNo
         * @property {number|null} [ifPrimaryTerm] DocOperation ifPrimaryTerm
         * @property {Uint8Array|null} [upsert] DocOperation upsert
         * @property {boolean|null} [docAsUpsert] DocOperation docAsUpsert
         * @property {boolean|null} [detectNoop] DocOperation detectNoop
         * @property {boolean|null} [appendOnly] DocOperation appendOnly
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a DocOperation.
         * @memberof tailrace
         * @interface IDocOperation
         * @augments tailrace.DocOperation.$Properties
         * @deprecated Use tailrace.DocOperation.$Properties instead.
         */

        /**
         * Shape of a DocOperation.
         * @typedef {tailrace.DocOperation.$Properties} tailrace.DocOperation.$Shape
         */

        /**
         * Constructs a new DocOperation.
         * @memberof tailrace
         * @classdesc Represents a DocOperation.
         * @constructor
         * @param {tailrace.DocOperation.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const DocOperation = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * DocOperation kind.
         * @member {tailrace.DocOperation.Kind} kind
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.kind = 0;

        /**
         * DocOperation id.
         * @member {string} id
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.id = "";

        /**
         * DocOperation source.
         * @member {Uint8Array} source
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.source = $util.newBuffer([]);

        /**
         * DocOperation routing.
         * @member {string} routing
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.routing = "";

        /**
         * DocOperation ordinal.
         * @member {number} ordinal
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.ordinal = 0;

        /**
         * DocOperation sourceIndex.
         * @member {number} sourceIndex
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.sourceIndex = 0;

        /**
         * DocOperation offset.
         * @member {number} offset
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.offset = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocOperation version.
         * @member {number} version
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.version = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocOperation versionType.
         * @member {tailrace.DocOperation.VersionType} versionType
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.versionType = 0;

        /**
         * DocOperation hasVersion.
         * @member {boolean} hasVersion
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.hasVersion = false;

        /**
         * DocOperation ifSeqNo.
         * @member {number} ifSeqNo
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.ifSeqNo = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocOperation ifPrimaryTerm.
         * @member {number} ifPrimaryTerm
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.ifPrimaryTerm = 0;

        /**
         * DocOperation upsert.
         * @member {Uint8Array} upsert
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.upsert = $util.newBuffer([]);

        /**
         * DocOperation docAsUpsert.
         * @member {boolean} docAsUpsert
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.docAsUpsert = false;

        /**
         * DocOperation detectNoop.
         * @member {boolean} detectNoop
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.detectNoop = false;

        /**
         * DocOperation appendOnly.
         * @member {boolean} appendOnly
         * @memberof tailrace.DocOperation
         * @instance
         */
        DocOperation.prototype.appendOnly = false;

        /**
         * Encodes the specified DocOperation message. Does not implicitly {@link tailrace.DocOperation.verify|verify} messages.
         * @function encode
         * @memberof tailrace.DocOperation
         * @static
         * @param {tailrace.DocOperation.$Properties} message DocOperation message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        DocOperation.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.kind != null && $Object.hasOwnProperty.call(message, "kind") && message.kind !== 0)
                writer.uint32(/* id 1, wireType 0 =*/8).int32(message.kind);
            if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.id);
            if (message.source != null && $Object.hasOwnProperty.call(message, "source") && message.source.length)
                writer.uint32(/* id 3, wireType 2 =*/26).bytes(message.source);
            if (message.routing != null && $Object.hasOwnProperty.call(message, "routing") && message.routing !== "")
                writer.uint32(/* id 4, wireType 2 =*/34).string(message.routing);
            if (message.ordinal != null && $Object.hasOwnProperty.call(message, "ordinal") && message.ordinal !== 0)
                writer.uint32(/* id 5, wireType 0 =*/40).uint32(message.ordinal);
            if (message.sourceIndex != null && $Object.hasOwnProperty.call(message, "sourceIndex") && message.sourceIndex !== 0)
                writer.uint32(/* id 6, wireType 0 =*/48).uint32(message.sourceIndex);
            if (message.offset != null && $Object.hasOwnProperty.call(message, "offset") && (typeof message.offset === "object" ? message.offset.low || message.offset.high : message.offset !== 0))
                writer.uint32(/* id 7, wireType 0 =*/56).uint64(message.offset);
            if (message.version != null && $Object.hasOwnProperty.call(message, "version") && (typeof message.version === "object" ? message.version.low || message.version.high : message.version !== 0))
                writer.uint32(/* id 8, wireType 0 =*/64).uint64(message.version);
            if (message.versionType != null && $Object.hasOwnProperty.call(message, "versionType") && message.versionType !== 0)
                writer.uint32(/* id 9, wireType 0 =*/72).int32(message.versionType);
            if (message.hasVersion != null && $Object.hasOwnProperty.call(message, "hasVersion") && message.hasVersion !== false)
                writer.uint32(/* id 10, wireType 0 =*/80).bool(message.hasVersion);
            if (message.ifSeqNo != null && $Object.hasOwnProperty.call(message, "ifSeqNo") && (typeof message.ifSeqNo === "object" ? message.ifSeqNo.low || message.ifSeqNo.high : message.ifSeqNo !== 0))
                writer.uint32(/* id 11, wireType 0 =*/88).uint64(message.ifSeqNo);
            if (message.ifPrimaryTerm != null && $Object.hasOwnProperty.call(message, "ifPrimaryTerm") && message.ifPrimaryTerm !== 0)
                writer.uint32(/* id 12, wireType 0 =*/96).uint32(message.ifPrimaryTerm);
            if (message.upsert != null && $Object.hasOwnProperty.call(message, "upsert") && message.upsert.length)
                writer.uint32(/* id 13, wireType 2 =*/106).bytes(message.upsert);
            if (message.docAsUpsert != null && $Object.hasOwnProperty.call(message, "docAsUpsert") && message.docAsUpsert !== false)
                writer.uint32(/* id 14, wireType 0 =*/112).bool(message.docAsUpsert);
            if (message.detectNoop != null && $Object.hasOwnProperty.call(message, "detectNoop") && message.detectNoop !== false)
                writer.uint32(/* id 15, wireType 0 =*/120).bool(message.detectNoop);
            if (message.appendOnly != null && $Object.hasOwnProperty.call(message, "appendOnly") && message.appendOnly !== false)
                writer.uint32(/* id 16, wireType 0 =*/128).bool(message.appendOnly);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a DocOperation message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.DocOperation
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.DocOperation & tailrace.DocOperation.$Shape} DocOperation
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        DocOperation.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.DocOperation();
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
                        if (value = reader.int32())
                            message.kind = value;
                        else
                            delete message.kind;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.id = value;
                        else
                            delete message.id;
                        continue;
                    }
                case 3: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.source = value;
                        else
                            delete message.source;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.routing = value;
                        else
                            delete message.routing;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.ordinal = value;
                        else
                            delete message.ordinal;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.sourceIndex = value;
                        else
                            delete message.sourceIndex;
                        continue;
                    }
                case 7: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.offset = value;
                        else
                            delete message.offset;
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.version = value;
                        else
                            delete message.version;
                        continue;
                    }
                case 9: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.int32())
                            message.versionType = value;
                        else
                            delete message.versionType;
                        continue;
                    }
                case 10: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.hasVersion = value;
                        else
                            delete message.hasVersion;
                        continue;
                    }
                case 11: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.ifSeqNo = value;
                        else
                            delete message.ifSeqNo;
                        continue;
                    }
                case 12: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.ifPrimaryTerm = value;
                        else
                            delete message.ifPrimaryTerm;
                        continue;
                    }
                case 13: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.upsert = value;
                        else
                            delete message.upsert;
                        continue;
                    }
                case 14: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.docAsUpsert = value;
                        else
                            delete message.docAsUpsert;
                        continue;
                    }
                case 15: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.detectNoop = value;
                        else
                            delete message.detectNoop;
                        continue;
                    }
                case 16: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.appendOnly = value;
                        else
                            delete message.appendOnly;
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
         * @name tailrace.DocOperation.Kind
         * @enum {number}
         * @property {number} INDEX=0 INDEX value
         * @property {number} CREATE=1 CREATE value
         * @property {number} UPDATE=2 UPDATE value
         * @property {number} DELETE=3 DELETE value
         */
        DocOperation.Kind = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "INDEX"] = 0;
            values[valuesById[1] = "CREATE"] = 1;
            values[valuesById[2] = "UPDATE"] = 2;
            values[valuesById[3] = "DELETE"] = 3;
            return values;
        })();

        /**
         * VersionType enum.
         * @name tailrace.DocOperation.VersionType
         * @enum {number}
         * @property {number} INTERNAL=0 INTERNAL value
         * @property {number} EXTERNAL=1 EXTERNAL value
         * @property {number} EXTERNAL_GTE=2 EXTERNAL_GTE value
         */
        DocOperation.VersionType = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "INTERNAL"] = 0;
            values[valuesById[1] = "EXTERNAL"] = 1;
            values[valuesById[2] = "EXTERNAL_GTE"] = 2;
            return values;
        })();

        return DocOperation;
    })();

    tailrace.DocAppends = (function() {

        /**
         * Properties of a DocAppends.
         * @typedef {Object} tailrace.DocAppends.$Properties
         * @property {Uint8Array|null} [documents] DocAppends documents
         * @property {Uint8Array|null} [ends] DocAppends ends
         * @property {number|null} [gap] DocAppends gap
         * @property {Uint8Array|null} [ids] DocAppends ids
         * @property {Uint8Array|null} [ordinals] DocAppends ordinals
         * @property {Uint8Array|null} [sourceIndices] DocAppends sourceIndices
         * @property {Uint8Array|null} [offsets] DocAppends offsets
         * @property {Array.<Uint8Array>|null} [packed] DocAppends packed
         * @property {number|null} [packedBytes] DocAppends packedBytes
         * @property {Uint8Array|null} [blocks] DocAppends blocks
         * @property {Uint8Array|null} [blockOffsets] DocAppends blockOffsets
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a DocAppends.
         * @memberof tailrace
         * @interface IDocAppends
         * @augments tailrace.DocAppends.$Properties
         * @deprecated Use tailrace.DocAppends.$Properties instead.
         */

        /**
         * Shape of a DocAppends.
         * @typedef {tailrace.DocAppends.$Properties} tailrace.DocAppends.$Shape
         */

        /**
         * Constructs a new DocAppends.
         * @memberof tailrace
         * @classdesc Represents a DocAppends.
         * @constructor
         * @param {tailrace.DocAppends.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const DocAppends = function (properties) {
            this.packed = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * DocAppends documents.
         * @member {Uint8Array} documents
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.documents = $util.newBuffer([]);

        /**
         * DocAppends ends.
         * @member {Uint8Array} ends
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.ends = $util.newBuffer([]);

        /**
         * DocAppends gap.
         * @member {number} gap
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.gap = 0;

        /**
         * DocAppends ids.
         * @member {Uint8Array} ids
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.ids = $util.newBuffer([]);

        /**
         * DocAppends ordinals.
         * @member {Uint8Array} ordinals
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.ordinals = $util.newBuffer([]);

        /**
         * DocAppends sourceIndices.
         * @member {Uint8Array} sourceIndices
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.sourceIndices = $util.newBuffer([]);

        /**
         * DocAppends offsets.
         * @member {Uint8Array} offsets
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.offsets = $util.newBuffer([]);

        /**
         * DocAppends packed.
         * @member {Array.<Uint8Array>} packed
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.packed = $util.emptyArray;

        /**
         * DocAppends packedBytes.
         * @member {number} packedBytes
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.packedBytes = 0;

        /**
         * DocAppends blocks.
         * @member {Uint8Array} blocks
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.blocks = $util.newBuffer([]);

        /**
         * DocAppends blockOffsets.
         * @member {Uint8Array} blockOffsets
         * @memberof tailrace.DocAppends
         * @instance
         */
        DocAppends.prototype.blockOffsets = $util.newBuffer([]);

        /**
         * Encodes the specified DocAppends message. Does not implicitly {@link tailrace.DocAppends.verify|verify} messages.
         * @function encode
         * @memberof tailrace.DocAppends
         * @static
         * @param {tailrace.DocAppends.$Properties} message DocAppends message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        DocAppends.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.documents != null && $Object.hasOwnProperty.call(message, "documents") && message.documents.length)
                writer.uint32(/* id 1, wireType 2 =*/10).bytes(message.documents);
            if (message.ends != null && $Object.hasOwnProperty.call(message, "ends") && message.ends.length)
                writer.uint32(/* id 2, wireType 2 =*/18).bytes(message.ends);
            if (message.gap != null && $Object.hasOwnProperty.call(message, "gap") && message.gap !== 0)
                writer.uint32(/* id 3, wireType 0 =*/24).uint32(message.gap);
            if (message.ids != null && $Object.hasOwnProperty.call(message, "ids") && message.ids.length)
                writer.uint32(/* id 4, wireType 2 =*/34).bytes(message.ids);
            if (message.ordinals != null && $Object.hasOwnProperty.call(message, "ordinals") && message.ordinals.length)
                writer.uint32(/* id 5, wireType 2 =*/42).bytes(message.ordinals);
            if (message.sourceIndices != null && $Object.hasOwnProperty.call(message, "sourceIndices") && message.sourceIndices.length)
                writer.uint32(/* id 6, wireType 2 =*/50).bytes(message.sourceIndices);
            if (message.offsets != null && $Object.hasOwnProperty.call(message, "offsets") && message.offsets.length)
                writer.uint32(/* id 7, wireType 2 =*/58).bytes(message.offsets);
            if (message.packed != null && message.packed.length)
                for (let i = 0; i < message.packed.length; ++i)
                    writer.uint32(/* id 8, wireType 2 =*/66).bytes(message.packed[i]);
            if (message.packedBytes != null && $Object.hasOwnProperty.call(message, "packedBytes") && message.packedBytes !== 0)
                writer.uint32(/* id 9, wireType 0 =*/72).uint32(message.packedBytes);
            if (message.blocks != null && $Object.hasOwnProperty.call(message, "blocks") && message.blocks.length)
                writer.uint32(/* id 10, wireType 2 =*/82).bytes(message.blocks);
            if (message.blockOffsets != null && $Object.hasOwnProperty.call(message, "blockOffsets") && message.blockOffsets.length)
                writer.uint32(/* id 11, wireType 2 =*/90).bytes(message.blockOffsets);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a DocAppends message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.DocAppends
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.DocAppends & tailrace.DocAppends.$Shape} DocAppends
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        DocAppends.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.DocAppends();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.documents = value;
                        else
                            delete message.documents;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.ends = value;
                        else
                            delete message.ends;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.gap = value;
                        else
                            delete message.gap;
                        continue;
                    }
                case 4: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.ids = value;
                        else
                            delete message.ids;
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.ordinals = value;
                        else
                            delete message.ordinals;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.sourceIndices = value;
                        else
                            delete message.sourceIndices;
                        continue;
                    }
                case 7: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.offsets = value;
                        else
                            delete message.offsets;
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        if (!(message.packed && message.packed.length))
                            message.packed = [];
                        message.packed.push(reader.bytes());
                        continue;
                    }
                case 9: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.packedBytes = value;
                        else
                            delete message.packedBytes;
                        continue;
                    }
                case 10: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.blocks = value;
                        else
                            delete message.blocks;
                        continue;
                    }
                case 11: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.bytes()).length)
                            message.blockOffsets = value;
                        else
                            delete message.blockOffsets;
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

        return DocAppends;
    })();

    tailrace.DocSource = (function() {

        /**
         * Properties of a DocSource.
         * @typedef {Object} tailrace.DocSource.$Properties
         * @property {string|null} [key] DocSource key
         * @property {number|null} [from] DocSource from
         * @property {number|null} [to] DocSource to
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a DocSource.
         * @memberof tailrace
         * @interface IDocSource
         * @augments tailrace.DocSource.$Properties
         * @deprecated Use tailrace.DocSource.$Properties instead.
         */

        /**
         * Shape of a DocSource.
         * @typedef {tailrace.DocSource.$Properties} tailrace.DocSource.$Shape
         */

        /**
         * Constructs a new DocSource.
         * @memberof tailrace
         * @classdesc Represents a DocSource.
         * @constructor
         * @param {tailrace.DocSource.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const DocSource = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * DocSource key.
         * @member {string} key
         * @memberof tailrace.DocSource
         * @instance
         */
        DocSource.prototype.key = "";

        /**
         * DocSource from.
         * @member {number} from
         * @memberof tailrace.DocSource
         * @instance
         */
        DocSource.prototype.from = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocSource to.
         * @member {number} to
         * @memberof tailrace.DocSource
         * @instance
         */
        DocSource.prototype.to = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * Encodes the specified DocSource message. Does not implicitly {@link tailrace.DocSource.verify|verify} messages.
         * @function encode
         * @memberof tailrace.DocSource
         * @static
         * @param {tailrace.DocSource.$Properties} message DocSource message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        DocSource.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.key != null && $Object.hasOwnProperty.call(message, "key") && message.key !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.key);
            if (message.from != null && $Object.hasOwnProperty.call(message, "from") && (typeof message.from === "object" ? message.from.low || message.from.high : message.from !== 0))
                writer.uint32(/* id 2, wireType 0 =*/16).uint64(message.from);
            if (message.to != null && $Object.hasOwnProperty.call(message, "to") && (typeof message.to === "object" ? message.to.low || message.to.high : message.to !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.to);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a DocSource message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.DocSource
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.DocSource & tailrace.DocSource.$Shape} DocSource
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        DocSource.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.DocSource();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.key = value;
                        else
                            delete message.key;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.from = value;
                        else
                            delete message.from;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.to = value;
                        else
                            delete message.to;
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

        return DocSource;
    })();

    tailrace.DocBatch = (function() {

        /**
         * Properties of a DocBatch.
         * @typedef {Object} tailrace.DocBatch.$Properties
         * @property {string|null} [index] DocBatch index
         * @property {string|null} [indexUuid] DocBatch indexUuid
         * @property {number|null} [shard] DocBatch shard
         * @property {number|null} [mappingVersion] DocBatch mappingVersion
         * @property {boolean|null} [lenient] DocBatch lenient
         * @property {number|null} [rawIncarnation] DocBatch rawIncarnation
         * @property {number|null} [rawPartition] DocBatch rawPartition
         * @property {number|null} [rawSequence] DocBatch rawSequence
         * @property {string|null} [reply] DocBatch reply
         * @property {Array.<tailrace.DocSource.$Properties>|null} [sources] DocBatch sources
         * @property {Array.<tailrace.DocOperation.$Properties>|null} [operations] DocBatch operations
         * @property {number|null} [timeMs] DocBatch timeMs
         * @property {tailrace.DocAppends.$Properties|null} [appends] DocBatch appends
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a DocBatch.
         * @memberof tailrace
         * @interface IDocBatch
         * @augments tailrace.DocBatch.$Properties
         * @deprecated Use tailrace.DocBatch.$Properties instead.
         */

        /**
         * Shape of a DocBatch.
         * @typedef {tailrace.DocBatch.$Properties} tailrace.DocBatch.$Shape
         */

        /**
         * Constructs a new DocBatch.
         * @memberof tailrace
         * @classdesc Represents a DocBatch.
         * @constructor
         * @param {tailrace.DocBatch.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const DocBatch = function (properties) {
            this.sources = [];
            this.operations = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * DocBatch index.
         * @member {string} index
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.index = "";

        /**
         * DocBatch indexUuid.
         * @member {string} indexUuid
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.indexUuid = "";

        /**
         * DocBatch shard.
         * @member {number} shard
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.shard = 0;

        /**
         * DocBatch mappingVersion.
         * @member {number} mappingVersion
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.mappingVersion = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocBatch lenient.
         * @member {boolean} lenient
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.lenient = false;

        /**
         * DocBatch rawIncarnation.
         * @member {number} rawIncarnation
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.rawIncarnation = 0;

        /**
         * DocBatch rawPartition.
         * @member {number} rawPartition
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.rawPartition = 0;

        /**
         * DocBatch rawSequence.
         * @member {number} rawSequence
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.rawSequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocBatch reply.
         * @member {string} reply
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.reply = "";

        /**
         * DocBatch sources.
         * @member {Array.<tailrace.DocSource.$Properties>} sources
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.sources = $util.emptyArray;

        /**
         * DocBatch operations.
         * @member {Array.<tailrace.DocOperation.$Properties>} operations
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.operations = $util.emptyArray;

        /**
         * DocBatch timeMs.
         * @member {number} timeMs
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.timeMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocBatch appends.
         * @member {tailrace.DocAppends.$Properties|null|undefined} appends
         * @memberof tailrace.DocBatch
         * @instance
         */
        DocBatch.prototype.appends = null;

        /**
         * Encodes the specified DocBatch message. Does not implicitly {@link tailrace.DocBatch.verify|verify} messages.
         * @function encode
         * @memberof tailrace.DocBatch
         * @static
         * @param {tailrace.DocBatch.$Properties} message DocBatch message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        DocBatch.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.index != null && $Object.hasOwnProperty.call(message, "index") && message.index !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.index);
            if (message.indexUuid != null && $Object.hasOwnProperty.call(message, "indexUuid") && message.indexUuid !== "")
                writer.uint32(/* id 2, wireType 2 =*/18).string(message.indexUuid);
            if (message.shard != null && $Object.hasOwnProperty.call(message, "shard") && message.shard !== 0)
                writer.uint32(/* id 3, wireType 0 =*/24).uint32(message.shard);
            if (message.mappingVersion != null && $Object.hasOwnProperty.call(message, "mappingVersion") && (typeof message.mappingVersion === "object" ? message.mappingVersion.low || message.mappingVersion.high : message.mappingVersion !== 0))
                writer.uint32(/* id 4, wireType 0 =*/32).uint64(message.mappingVersion);
            if (message.lenient != null && $Object.hasOwnProperty.call(message, "lenient") && message.lenient !== false)
                writer.uint32(/* id 5, wireType 0 =*/40).bool(message.lenient);
            if (message.rawIncarnation != null && $Object.hasOwnProperty.call(message, "rawIncarnation") && message.rawIncarnation !== 0)
                writer.uint32(/* id 6, wireType 0 =*/48).uint32(message.rawIncarnation);
            if (message.rawPartition != null && $Object.hasOwnProperty.call(message, "rawPartition") && message.rawPartition !== 0)
                writer.uint32(/* id 7, wireType 0 =*/56).uint32(message.rawPartition);
            if (message.rawSequence != null && $Object.hasOwnProperty.call(message, "rawSequence") && (typeof message.rawSequence === "object" ? message.rawSequence.low || message.rawSequence.high : message.rawSequence !== 0))
                writer.uint32(/* id 8, wireType 0 =*/64).uint64(message.rawSequence);
            if (message.reply != null && $Object.hasOwnProperty.call(message, "reply") && message.reply !== "")
                writer.uint32(/* id 9, wireType 2 =*/74).string(message.reply);
            if (message.sources != null && message.sources.length)
                for (let i = 0; i < message.sources.length; ++i)
                    $root.tailrace.DocSource.encode(message.sources[i], writer.uint32(/* id 10, wireType 2 =*/82).fork(), _depth + 1).ldelim();
            if (message.operations != null && message.operations.length)
                for (let i = 0; i < message.operations.length; ++i)
                    $root.tailrace.DocOperation.encode(message.operations[i], writer.uint32(/* id 11, wireType 2 =*/90).fork(), _depth + 1).ldelim();
            if (message.timeMs != null && $Object.hasOwnProperty.call(message, "timeMs") && (typeof message.timeMs === "object" ? message.timeMs.low || message.timeMs.high : message.timeMs !== 0))
                writer.uint32(/* id 12, wireType 0 =*/96).uint64(message.timeMs);
            if (message.appends != null && $Object.hasOwnProperty.call(message, "appends"))
                $root.tailrace.DocAppends.encode(message.appends, writer.uint32(/* id 13, wireType 2 =*/106).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a DocBatch message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.DocBatch
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.DocBatch & tailrace.DocBatch.$Shape} DocBatch
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        DocBatch.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.DocBatch();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.index = value;
                        else
                            delete message.index;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.indexUuid = value;
                        else
                            delete message.indexUuid;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.shard = value;
                        else
                            delete message.shard;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.mappingVersion = value;
                        else
                            delete message.mappingVersion;
                        continue;
                    }
                case 5: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.bool())
                            message.lenient = value;
                        else
                            delete message.lenient;
                        continue;
                    }
                case 6: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.rawIncarnation = value;
                        else
                            delete message.rawIncarnation;
                        continue;
                    }
                case 7: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.rawPartition = value;
                        else
                            delete message.rawPartition;
                        continue;
                    }
                case 8: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.rawSequence = value;
                        else
                            delete message.rawSequence;
                        continue;
                    }
                case 9: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.reply = value;
                        else
                            delete message.reply;
                        continue;
                    }
                case 10: {
                        if (wireType !== 2)
                            break;
                        if (!(message.sources && message.sources.length))
                            message.sources = [];
                        message.sources.push($root.tailrace.DocSource.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 11: {
                        if (wireType !== 2)
                            break;
                        if (!(message.operations && message.operations.length))
                            message.operations = [];
                        message.operations.push($root.tailrace.DocOperation.decode(reader, reader.size(), $undefined, _depth + 1));
                        continue;
                    }
                case 12: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.timeMs = value;
                        else
                            delete message.timeMs;
                        continue;
                    }
                case 13: {
                        if (wireType !== 2)
                            break;
                        message.appends = $root.tailrace.DocAppends.decode(reader, reader.size(), $undefined, _depth + 1, message.appends);
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

        return DocBatch;
    })();

    tailrace.DocResult = (function() {

        /**
         * Properties of a DocResult.
         * @typedef {Object} tailrace.DocResult.$Properties
         * @property {number|null} [sequence] DocResult sequence
         * @property {Array.<tailrace.DocItemResult.$Properties>|null} [items] DocResult items
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a DocResult.
         * @memberof tailrace
         * @interface IDocResult
         * @augments tailrace.DocResult.$Properties
         * @deprecated Use tailrace.DocResult.$Properties instead.
         */

        /**
         * Shape of a DocResult.
         * @typedef {tailrace.DocResult.$Properties} tailrace.DocResult.$Shape
         */

        /**
         * Constructs a new DocResult.
         * @memberof tailrace
         * @classdesc Represents a DocResult.
         * @constructor
         * @param {tailrace.DocResult.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const DocResult = function (properties) {
            this.items = [];
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * DocResult sequence.
         * @member {number} sequence
         * @memberof tailrace.DocResult
         * @instance
         */
        DocResult.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocResult items.
         * @member {Array.<tailrace.DocItemResult.$Properties>} items
         * @memberof tailrace.DocResult
         * @instance
         */
        DocResult.prototype.items = $util.emptyArray;

        /**
         * Encodes the specified DocResult message. Does not implicitly {@link tailrace.DocResult.verify|verify} messages.
         * @function encode
         * @memberof tailrace.DocResult
         * @static
         * @param {tailrace.DocResult.$Properties} message DocResult message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        DocResult.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                writer.uint32(/* id 1, wireType 0 =*/8).uint64(message.sequence);
            if (message.items != null && message.items.length)
                for (let i = 0; i < message.items.length; ++i)
                    $root.tailrace.DocItemResult.encode(message.items[i], writer.uint32(/* id 2, wireType 2 =*/18).fork(), _depth + 1).ldelim();
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a DocResult message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.DocResult
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.DocResult & tailrace.DocResult.$Shape} DocResult
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        DocResult.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.DocResult();
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
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.sequence = value;
                        else
                            delete message.sequence;
                        continue;
                    }
                case 2: {
                        if (wireType !== 2)
                            break;
                        if (!(message.items && message.items.length))
                            message.items = [];
                        message.items.push($root.tailrace.DocItemResult.decode(reader, reader.size(), $undefined, _depth + 1));
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

        return DocResult;
    })();

    tailrace.DocItemResult = (function() {

        /**
         * Properties of a DocItemResult.
         * @typedef {Object} tailrace.DocItemResult.$Properties
         * @property {string|null} [result] DocItemResult result
         * @property {number|null} [version] DocItemResult version
         * @property {number|null} [seqNo] DocItemResult seqNo
         * @property {number|null} [primaryTerm] DocItemResult primaryTerm
         * @property {string|null} [errorCode] DocItemResult errorCode
         * @property {string|null} [errorReason] DocItemResult errorReason
         * @property {number|null} [count] DocItemResult count
         * @property {string|null} [causeType] DocItemResult causeType
         * @property {string|null} [causeReason] DocItemResult causeReason
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */

        /**
         * Properties of a DocItemResult.
         * @memberof tailrace
         * @interface IDocItemResult
         * @augments tailrace.DocItemResult.$Properties
         * @deprecated Use tailrace.DocItemResult.$Properties instead.
         */

        /**
         * Shape of a DocItemResult.
         * @typedef {tailrace.DocItemResult.$Properties} tailrace.DocItemResult.$Shape
         */

        /**
         * Constructs a new DocItemResult.
         * @memberof tailrace
         * @classdesc Represents a DocItemResult.
         * @constructor
         * @param {tailrace.DocItemResult.$Properties=} [properties] Properties to set
         * @property {Array.<Uint8Array>} [$unknowns] Unknown fields preserved while decoding when enabled
         */
        const DocItemResult = function (properties) {
            if (properties)
                for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                    if (properties[keys[i]] != null && keys[i] !== "__proto__")
                        this[keys[i]] = properties[keys[i]];
        };

        /**
         * DocItemResult result.
         * @member {string} result
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.result = "";

        /**
         * DocItemResult version.
         * @member {number} version
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.version = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocItemResult seqNo.
         * @member {number} seqNo
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.seqNo = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

        /**
         * DocItemResult primaryTerm.
         * @member {number} primaryTerm
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.primaryTerm = 0;

        /**
         * DocItemResult errorCode.
         * @member {string} errorCode
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.errorCode = "";

        /**
         * DocItemResult errorReason.
         * @member {string} errorReason
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.errorReason = "";

        /**
         * DocItemResult count.
         * @member {number} count
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.count = 0;

        /**
         * DocItemResult causeType.
         * @member {string} causeType
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.causeType = "";

        /**
         * DocItemResult causeReason.
         * @member {string} causeReason
         * @memberof tailrace.DocItemResult
         * @instance
         */
        DocItemResult.prototype.causeReason = "";

        /**
         * Encodes the specified DocItemResult message. Does not implicitly {@link tailrace.DocItemResult.verify|verify} messages.
         * @function encode
         * @memberof tailrace.DocItemResult
         * @static
         * @param {tailrace.DocItemResult.$Properties} message DocItemResult message or plain object to encode
         * @param {$protobuf.Writer} [writer] Writer to encode to
         * @returns {$protobuf.Writer} Writer
         */
        DocItemResult.encode = function (message, writer, _depth) {
            if (!writer)
                writer = $Writer.create();
            if (_depth === $undefined)
                _depth = 0;
            if (_depth > $util.recursionLimit)
                throw $Error("max depth exceeded");
            if (message.result != null && $Object.hasOwnProperty.call(message, "result") && message.result !== "")
                writer.uint32(/* id 1, wireType 2 =*/10).string(message.result);
            if (message.version != null && $Object.hasOwnProperty.call(message, "version") && (typeof message.version === "object" ? message.version.low || message.version.high : message.version !== 0))
                writer.uint32(/* id 2, wireType 0 =*/16).uint64(message.version);
            if (message.seqNo != null && $Object.hasOwnProperty.call(message, "seqNo") && (typeof message.seqNo === "object" ? message.seqNo.low || message.seqNo.high : message.seqNo !== 0))
                writer.uint32(/* id 3, wireType 0 =*/24).uint64(message.seqNo);
            if (message.primaryTerm != null && $Object.hasOwnProperty.call(message, "primaryTerm") && message.primaryTerm !== 0)
                writer.uint32(/* id 4, wireType 0 =*/32).uint32(message.primaryTerm);
            if (message.errorCode != null && $Object.hasOwnProperty.call(message, "errorCode") && message.errorCode !== "")
                writer.uint32(/* id 5, wireType 2 =*/42).string(message.errorCode);
            if (message.errorReason != null && $Object.hasOwnProperty.call(message, "errorReason") && message.errorReason !== "")
                writer.uint32(/* id 6, wireType 2 =*/50).string(message.errorReason);
            if (message.count != null && $Object.hasOwnProperty.call(message, "count") && message.count !== 0)
                writer.uint32(/* id 7, wireType 0 =*/56).uint32(message.count);
            if (message.causeType != null && $Object.hasOwnProperty.call(message, "causeType") && message.causeType !== "")
                writer.uint32(/* id 8, wireType 2 =*/66).string(message.causeType);
            if (message.causeReason != null && $Object.hasOwnProperty.call(message, "causeReason") && message.causeReason !== "")
                writer.uint32(/* id 9, wireType 2 =*/74).string(message.causeReason);
            if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                for (let i = 0; i < message.$unknowns.length; ++i)
                    writer.raw(message.$unknowns[i]);
            return writer;
        };

        /**
         * Decodes a DocItemResult message from the specified reader or buffer.
         * @function decode
         * @memberof tailrace.DocItemResult
         * @static
         * @param {$protobuf.Reader|Uint8Array} reader Reader or buffer to decode from
         * @param {number} [length] Message length if known beforehand
         * @returns {tailrace.DocItemResult & tailrace.DocItemResult.$Shape} DocItemResult
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        DocItemResult.decode = function (reader, length, _end, _depth, _target) {
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
            message = _target || new $root.tailrace.DocItemResult();
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
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.result = value;
                        else
                            delete message.result;
                        continue;
                    }
                case 2: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.version = value;
                        else
                            delete message.version;
                        continue;
                    }
                case 3: {
                        if (wireType !== 0)
                            break;
                        if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                            message.seqNo = value;
                        else
                            delete message.seqNo;
                        continue;
                    }
                case 4: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.primaryTerm = value;
                        else
                            delete message.primaryTerm;
                        continue;
                    }
                case 5: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.errorCode = value;
                        else
                            delete message.errorCode;
                        continue;
                    }
                case 6: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.errorReason = value;
                        else
                            delete message.errorReason;
                        continue;
                    }
                case 7: {
                        if (wireType !== 0)
                            break;
                        if (value = reader.uint32())
                            message.count = value;
                        else
                            delete message.count;
                        continue;
                    }
                case 8: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.causeType = value;
                        else
                            delete message.causeType;
                        continue;
                    }
                case 9: {
                        if (wireType !== 2)
                            break;
                        if ((value = reader.stringVerify()).length)
                            message.causeReason = value;
                        else
                            delete message.causeReason;
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

        return DocItemResult;
    })();

    return tailrace;
})();

export {
  $root as default
};
