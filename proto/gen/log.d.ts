import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace tailrace. */
export namespace tailrace {

    /**
     * Properties of a Source.
     * @deprecated Use tailrace.Source.$Properties instead.
     */
    interface ISource extends tailrace.Source.$Properties {
    }

    /** Represents a Source. */
    class Source {

        /**
         * Constructs a new Source.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.Source.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** Source inputId. */
        inputId: string;

        /** Source inputType. */
        inputType: string;

        /** Source fileKey. */
        fileKey: string;

        /** Source generation. */
        generation: number;

        /** Source path. */
        path: string;

        /**
         * Encodes the specified Source message. Does not implicitly {@link tailrace.Source.verify|verify} messages.
         * @param message Source message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.Source.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a Source message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.Source & tailrace.Source.$Shape} Source
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.Source & tailrace.Source.$Shape;
    }

    namespace Source {

        /** Properties of a Source. */
        interface $Properties {

            /** Source inputId */
            inputId?: (string|null);

            /** Source inputType */
            inputType?: (string|null);

            /** Source fileKey */
            fileKey?: (string|null);

            /** Source generation */
            generation?: (number|null);

            /** Source path */
            path?: (string|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a Source. */
        type $Shape = tailrace.Source.$Properties;
    }

    /** Compression enum. */
    enum Compression {

        /** NONE value */
        NONE = 0,

        /** ZSTD value */
        ZSTD = 1
    }

    /**
     * Properties of a LogBlock.
     * @deprecated Use tailrace.LogBlock.$Properties instead.
     */
    interface ILogBlock extends tailrace.LogBlock.$Properties {
    }

    /** Represents a LogBlock. */
    class LogBlock {

        /**
         * Constructs a new LogBlock.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.LogBlock.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** LogBlock source. */
        source?: (tailrace.Source.$Properties|null);

        /** LogBlock from. */
        from: number;

        /** LogBlock to. */
        to: number;

        /** LogBlock readTimeMs. */
        readTimeMs: number;

        /** LogBlock lastLineOpen. */
        lastLineOpen: boolean;

        /** LogBlock firstLineContinued. */
        firstLineContinued: boolean;

        /** LogBlock compression. */
        compression: tailrace.Compression;

        /** LogBlock dataBytes. */
        dataBytes: number;

        /** LogBlock events. */
        events: tailrace.LogEvent.$Properties[];

        /** LogBlock data. */
        data: Uint8Array;

        /**
         * Encodes the specified LogBlock message. Does not implicitly {@link tailrace.LogBlock.verify|verify} messages.
         * @param message LogBlock message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.LogBlock.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a LogBlock message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.LogBlock & tailrace.LogBlock.$Shape} LogBlock
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.LogBlock & tailrace.LogBlock.$Shape;
    }

    namespace LogBlock {

        /** Properties of a LogBlock. */
        interface $Properties {

            /** LogBlock source */
            source?: (tailrace.Source.$Properties|null);

            /** LogBlock from */
            from?: (number|null);

            /** LogBlock to */
            to?: (number|null);

            /** LogBlock readTimeMs */
            readTimeMs?: (number|null);

            /** LogBlock lastLineOpen */
            lastLineOpen?: (boolean|null);

            /** LogBlock firstLineContinued */
            firstLineContinued?: (boolean|null);

            /** LogBlock compression */
            compression?: (tailrace.Compression|null);

            /** LogBlock dataBytes */
            dataBytes?: (number|null);

            /** LogBlock events */
            events?: (tailrace.LogEvent.$Properties[]|null);

            /** LogBlock data */
            data?: (Uint8Array|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a LogBlock. */
        type $Shape = tailrace.LogBlock.$Properties;
    }

    /**
     * Properties of a LogEvent.
     * @deprecated Use tailrace.LogEvent.$Properties instead.
     */
    interface ILogEvent extends tailrace.LogEvent.$Properties {
    }

    /** Represents a LogEvent. */
    class LogEvent {

        /**
         * Constructs a new LogEvent.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.LogEvent.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** LogEvent offset. */
        offset: number;

        /** LogEvent timeMs. */
        timeMs: number;

        /** LogEvent message. */
        message: Uint8Array;

        /** LogEvent fieldsJson. */
        fieldsJson: Uint8Array;

        /** LogEvent length. */
        length: number;

        /**
         * Encodes the specified LogEvent message. Does not implicitly {@link tailrace.LogEvent.verify|verify} messages.
         * @param message LogEvent message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.LogEvent.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a LogEvent message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.LogEvent & tailrace.LogEvent.$Shape} LogEvent
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.LogEvent & tailrace.LogEvent.$Shape;
    }

    namespace LogEvent {

        /** Properties of a LogEvent. */
        interface $Properties {

            /** LogEvent offset */
            offset?: (number|null);

            /** LogEvent timeMs */
            timeMs?: (number|null);

            /** LogEvent message */
            message?: (Uint8Array|null);

            /** LogEvent fieldsJson */
            fieldsJson?: (Uint8Array|null);

            /** LogEvent length */
            length?: (number|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a LogEvent. */
        type $Shape = tailrace.LogEvent.$Properties;
    }

    /**
     * Properties of a LogBatch.
     * @deprecated Use tailrace.LogBatch.$Properties instead.
     */
    interface ILogBatch extends tailrace.LogBatch.$Properties {
    }

    /** Represents a LogBatch. */
    class LogBatch {

        /**
         * Constructs a new LogBatch.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.LogBatch.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** LogBatch agentId. */
        agentId: string;

        /** LogBatch epoch. */
        epoch: number;

        /** LogBatch number. */
        number: number;

        /** LogBatch agentName. */
        agentName: string;

        /** LogBatch agentVersion. */
        agentVersion: string;

        /** LogBatch hostName. */
        hostName: string;

        /** LogBatch fieldsJson. */
        fieldsJson: Uint8Array;

        /** LogBatch block. */
        block?: (tailrace.LogBlock.$Properties|null);

        /** LogBatch pipelineId. */
        pipelineId: string;

        /**
         * Encodes the specified LogBatch message. Does not implicitly {@link tailrace.LogBatch.verify|verify} messages.
         * @param message LogBatch message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.LogBatch.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a LogBatch message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.LogBatch & tailrace.LogBatch.$Shape} LogBatch
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.LogBatch & tailrace.LogBatch.$Shape;
    }

    namespace LogBatch {

        /** Properties of a LogBatch. */
        interface $Properties {

            /** LogBatch agentId */
            agentId?: (string|null);

            /** LogBatch epoch */
            epoch?: (number|null);

            /** LogBatch number */
            number?: (number|null);

            /** LogBatch agentName */
            agentName?: (string|null);

            /** LogBatch agentVersion */
            agentVersion?: (string|null);

            /** LogBatch hostName */
            hostName?: (string|null);

            /** LogBatch fieldsJson */
            fieldsJson?: (Uint8Array|null);

            /** LogBatch block */
            block?: (tailrace.LogBlock.$Properties|null);

            /** LogBatch pipelineId */
            pipelineId?: (string|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a LogBatch. */
        type $Shape = tailrace.LogBatch.$Properties;
    }

    /**
     * Properties of an AgentHello.
     * @deprecated Use tailrace.AgentHello.$Properties instead.
     */
    interface IAgentHello extends tailrace.AgentHello.$Properties {
    }

    /** Represents an AgentHello. */
    class AgentHello {

        /**
         * Constructs a new AgentHello.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.AgentHello.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** AgentHello agentId. */
        agentId: string;

        /** AgentHello agentName. */
        agentName: string;

        /** AgentHello agentVersion. */
        agentVersion: string;

        /** AgentHello hostName. */
        hostName: string;

        /** AgentHello incarnation. */
        incarnation: number;

        /** AgentHello lastSequence. */
        lastSequence: number;

        /** AgentHello lastMessageId. */
        lastMessageId: string;

        /** AgentHello fileKeys. */
        fileKeys: string[];

        /**
         * Encodes the specified AgentHello message. Does not implicitly {@link tailrace.AgentHello.verify|verify} messages.
         * @param message AgentHello message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.AgentHello.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes an AgentHello message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.AgentHello & tailrace.AgentHello.$Shape} AgentHello
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.AgentHello & tailrace.AgentHello.$Shape;
    }

    namespace AgentHello {

        /** Properties of an AgentHello. */
        interface $Properties {

            /** AgentHello agentId */
            agentId?: (string|null);

            /** AgentHello agentName */
            agentName?: (string|null);

            /** AgentHello agentVersion */
            agentVersion?: (string|null);

            /** AgentHello hostName */
            hostName?: (string|null);

            /** AgentHello incarnation */
            incarnation?: (number|null);

            /** AgentHello lastSequence */
            lastSequence?: (number|null);

            /** AgentHello lastMessageId */
            lastMessageId?: (string|null);

            /** AgentHello fileKeys */
            fileKeys?: (string[]|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of an AgentHello. */
        type $Shape = tailrace.AgentHello.$Properties;
    }

    /**
     * Properties of a Watermark.
     * @deprecated Use tailrace.Watermark.$Properties instead.
     */
    interface IWatermark extends tailrace.Watermark.$Properties {
    }

    /** Represents a Watermark. */
    class Watermark {

        /**
         * Constructs a new Watermark.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.Watermark.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** Watermark incarnation. */
        incarnation: number;

        /** Watermark rewind. */
        rewind: boolean;

        /** Watermark committed. */
        committed: tailrace.Committed.$Properties[];

        /** Watermark restored. */
        restored: number;

        /** Watermark agentId. */
        agentId: string;

        /**
         * Encodes the specified Watermark message. Does not implicitly {@link tailrace.Watermark.verify|verify} messages.
         * @param message Watermark message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.Watermark.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a Watermark message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.Watermark & tailrace.Watermark.$Shape} Watermark
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.Watermark & tailrace.Watermark.$Shape;
    }

    namespace Watermark {

        /** Properties of a Watermark. */
        interface $Properties {

            /** Watermark incarnation */
            incarnation?: (number|null);

            /** Watermark rewind */
            rewind?: (boolean|null);

            /** Watermark committed */
            committed?: (tailrace.Committed.$Properties[]|null);

            /** Watermark restored */
            restored?: (number|null);

            /** Watermark agentId */
            agentId?: (string|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a Watermark. */
        type $Shape = tailrace.Watermark.$Properties;
    }

    /**
     * Properties of a Committed.
     * @deprecated Use tailrace.Committed.$Properties instead.
     */
    interface ICommitted extends tailrace.Committed.$Properties {
    }

    /** Represents a Committed. */
    class Committed {

        /**
         * Constructs a new Committed.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.Committed.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** Committed fileKey. */
        fileKey: string;

        /** Committed generation. */
        generation: number;

        /** Committed offset. */
        offset: number;

        /** Committed from. */
        from: number;

        /**
         * Encodes the specified Committed message. Does not implicitly {@link tailrace.Committed.verify|verify} messages.
         * @param message Committed message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.Committed.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a Committed message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.Committed & tailrace.Committed.$Shape} Committed
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.Committed & tailrace.Committed.$Shape;
    }

    namespace Committed {

        /** Properties of a Committed. */
        interface $Properties {

            /** Committed fileKey */
            fileKey?: (string|null);

            /** Committed generation */
            generation?: (number|null);

            /** Committed offset */
            offset?: (number|null);

            /** Committed from */
            from?: (number|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a Committed. */
        type $Shape = tailrace.Committed.$Properties;
    }

    /**
     * Properties of an AgentStatus.
     * @deprecated Use tailrace.AgentStatus.$Properties instead.
     */
    interface IAgentStatus extends tailrace.AgentStatus.$Properties {
    }

    /** Represents an AgentStatus. */
    class AgentStatus {

        /**
         * Constructs a new AgentStatus.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.AgentStatus.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** AgentStatus agentId. */
        agentId: string;

        /** AgentStatus agentName. */
        agentName: string;

        /** AgentStatus agentVersion. */
        agentVersion: string;

        /** AgentStatus hostName. */
        hostName: string;

        /** AgentStatus startedMs. */
        startedMs: number;

        /** AgentStatus timeMs. */
        timeMs: number;

        /** AgentStatus health. */
        health: string;

        /** AgentStatus reason. */
        reason: string;

        /** AgentStatus rssBytes. */
        rssBytes: number;

        /** AgentStatus linesRead. */
        linesRead: number;

        /** AgentStatus bytesRead. */
        bytesRead: number;

        /** AgentStatus bytesAcked. */
        bytesAcked: number;

        /** AgentStatus openFiles. */
        openFiles: number;

        /** AgentStatus lagBytes. */
        lagBytes: number;

        /** AgentStatus openDeletedBytes. */
        openDeletedBytes: number;

        /** AgentStatus inputs. */
        inputs: tailrace.InputStatus.$Properties[];

        /** AgentStatus files. */
        files: tailrace.FileStatus.$Properties[];

        /** AgentStatus filesMore. */
        filesMore: number;

        /** AgentStatus logIsFull. */
        logIsFull: boolean;

        /**
         * Encodes the specified AgentStatus message. Does not implicitly {@link tailrace.AgentStatus.verify|verify} messages.
         * @param message AgentStatus message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.AgentStatus.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes an AgentStatus message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.AgentStatus & tailrace.AgentStatus.$Shape} AgentStatus
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.AgentStatus & tailrace.AgentStatus.$Shape;
    }

    namespace AgentStatus {

        /** Properties of an AgentStatus. */
        interface $Properties {

            /** AgentStatus agentId */
            agentId?: (string|null);

            /** AgentStatus agentName */
            agentName?: (string|null);

            /** AgentStatus agentVersion */
            agentVersion?: (string|null);

            /** AgentStatus hostName */
            hostName?: (string|null);

            /** AgentStatus startedMs */
            startedMs?: (number|null);

            /** AgentStatus timeMs */
            timeMs?: (number|null);

            /** AgentStatus health */
            health?: (string|null);

            /** AgentStatus reason */
            reason?: (string|null);

            /** AgentStatus rssBytes */
            rssBytes?: (number|null);

            /** AgentStatus linesRead */
            linesRead?: (number|null);

            /** AgentStatus bytesRead */
            bytesRead?: (number|null);

            /** AgentStatus bytesAcked */
            bytesAcked?: (number|null);

            /** AgentStatus openFiles */
            openFiles?: (number|null);

            /** AgentStatus lagBytes */
            lagBytes?: (number|null);

            /** AgentStatus openDeletedBytes */
            openDeletedBytes?: (number|null);

            /** AgentStatus inputs */
            inputs?: (tailrace.InputStatus.$Properties[]|null);

            /** AgentStatus files */
            files?: (tailrace.FileStatus.$Properties[]|null);

            /** AgentStatus filesMore */
            filesMore?: (number|null);

            /** AgentStatus logIsFull */
            logIsFull?: (boolean|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of an AgentStatus. */
        type $Shape = tailrace.AgentStatus.$Properties;
    }

    /**
     * Properties of a FileStatus.
     * @deprecated Use tailrace.FileStatus.$Properties instead.
     */
    interface IFileStatus extends tailrace.FileStatus.$Properties {
    }

    /** Represents a FileStatus. */
    class FileStatus {

        /**
         * Constructs a new FileStatus.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.FileStatus.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** FileStatus input. */
        input: string;

        /** FileStatus path. */
        path: string;

        /** FileStatus place. */
        place: string;

        /** FileStatus sizeBytes. */
        sizeBytes: number;

        /** FileStatus sentBytes. */
        sentBytes: number;

        /** FileStatus committedBytes. */
        committedBytes: number;

        /** FileStatus lastError. */
        lastError: string;

        /** FileStatus unfinishedBytes. */
        unfinishedBytes: number;

        /**
         * Encodes the specified FileStatus message. Does not implicitly {@link tailrace.FileStatus.verify|verify} messages.
         * @param message FileStatus message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.FileStatus.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a FileStatus message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.FileStatus & tailrace.FileStatus.$Shape} FileStatus
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.FileStatus & tailrace.FileStatus.$Shape;
    }

    namespace FileStatus {

        /** Properties of a FileStatus. */
        interface $Properties {

            /** FileStatus input */
            input?: (string|null);

            /** FileStatus path */
            path?: (string|null);

            /** FileStatus place */
            place?: (string|null);

            /** FileStatus sizeBytes */
            sizeBytes?: (number|null);

            /** FileStatus sentBytes */
            sentBytes?: (number|null);

            /** FileStatus committedBytes */
            committedBytes?: (number|null);

            /** FileStatus lastError */
            lastError?: (string|null);

            /** FileStatus unfinishedBytes */
            unfinishedBytes?: (number|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a FileStatus. */
        type $Shape = tailrace.FileStatus.$Properties;
    }

    /**
     * Properties of an InputStatus.
     * @deprecated Use tailrace.InputStatus.$Properties instead.
     */
    interface IInputStatus extends tailrace.InputStatus.$Properties {
    }

    /** Represents an InputStatus. */
    class InputStatus {

        /**
         * Constructs a new InputStatus.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.InputStatus.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** InputStatus id. */
        id: string;

        /** InputStatus type. */
        type: string;

        /** InputStatus files. */
        files: number;

        /** InputStatus lagBytes. */
        lagBytes: number;

        /** InputStatus errors. */
        errors: number;

        /** InputStatus lastError. */
        lastError: string;

        /**
         * Encodes the specified InputStatus message. Does not implicitly {@link tailrace.InputStatus.verify|verify} messages.
         * @param message InputStatus message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.InputStatus.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes an InputStatus message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.InputStatus & tailrace.InputStatus.$Shape} InputStatus
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.InputStatus & tailrace.InputStatus.$Shape;
    }

    namespace InputStatus {

        /** Properties of an InputStatus. */
        interface $Properties {

            /** InputStatus id */
            id?: (string|null);

            /** InputStatus type */
            type?: (string|null);

            /** InputStatus files */
            files?: (number|null);

            /** InputStatus lagBytes */
            lagBytes?: (number|null);

            /** InputStatus errors */
            errors?: (number|null);

            /** InputStatus lastError */
            lastError?: (string|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of an InputStatus. */
        type $Shape = tailrace.InputStatus.$Properties;
    }

    /**
     * Properties of a DocOperation.
     * @deprecated Use tailrace.DocOperation.$Properties instead.
     */
    interface IDocOperation extends tailrace.DocOperation.$Properties {
    }

    /** Represents a DocOperation. */
    class DocOperation {

        /**
         * Constructs a new DocOperation.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.DocOperation.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** DocOperation kind. */
        kind: tailrace.DocOperation.Kind;

        /** DocOperation id. */
        id: string;

        /** DocOperation source. */
        source: Uint8Array;

        /** DocOperation routing. */
        routing: string;

        /** DocOperation ordinal. */
        ordinal: number;

        /** DocOperation sourceIndex. */
        sourceIndex: number;

        /** DocOperation offset. */
        offset: number;

        /** DocOperation version. */
        version: number;

        /** DocOperation versionType. */
        versionType: tailrace.DocOperation.VersionType;

        /** DocOperation hasVersion. */
        hasVersion: boolean;

        /** DocOperation ifSeqNo. */
        ifSeqNo: number;

        /** DocOperation ifPrimaryTerm. */
        ifPrimaryTerm: number;

        /** DocOperation upsert. */
        upsert: Uint8Array;

        /** DocOperation docAsUpsert. */
        docAsUpsert: boolean;

        /** DocOperation detectNoop. */
        detectNoop: boolean;

        /** DocOperation appendOnly. */
        appendOnly: boolean;

        /**
         * Encodes the specified DocOperation message. Does not implicitly {@link tailrace.DocOperation.verify|verify} messages.
         * @param message DocOperation message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.DocOperation.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a DocOperation message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.DocOperation & tailrace.DocOperation.$Shape} DocOperation
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.DocOperation & tailrace.DocOperation.$Shape;
    }

    namespace DocOperation {

        /** Properties of a DocOperation. */
        interface $Properties {

            /** DocOperation kind */
            kind?: (tailrace.DocOperation.Kind|null);

            /** DocOperation id */
            id?: (string|null);

            /** DocOperation source */
            source?: (Uint8Array|null);

            /** DocOperation routing */
            routing?: (string|null);

            /** DocOperation ordinal */
            ordinal?: (number|null);

            /** DocOperation sourceIndex */
            sourceIndex?: (number|null);

            /** DocOperation offset */
            offset?: (number|null);

            /** DocOperation version */
            version?: (number|null);

            /** DocOperation versionType */
            versionType?: (tailrace.DocOperation.VersionType|null);

            /** DocOperation hasVersion */
            hasVersion?: (boolean|null);

            /** DocOperation ifSeqNo */
            ifSeqNo?: (number|null);

            /** DocOperation ifPrimaryTerm */
            ifPrimaryTerm?: (number|null);

            /** DocOperation upsert */
            upsert?: (Uint8Array|null);

            /** DocOperation docAsUpsert */
            docAsUpsert?: (boolean|null);

            /** DocOperation detectNoop */
            detectNoop?: (boolean|null);

            /** DocOperation appendOnly */
            appendOnly?: (boolean|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a DocOperation. */
        type $Shape = tailrace.DocOperation.$Properties;

        /** Kind enum. */
        enum Kind {

            /** INDEX value */
            INDEX = 0,

            /** CREATE value */
            CREATE = 1,

            /** UPDATE value */
            UPDATE = 2,

            /** DELETE value */
            DELETE = 3
        }

        /** VersionType enum. */
        enum VersionType {

            /** INTERNAL value */
            INTERNAL = 0,

            /** EXTERNAL value */
            EXTERNAL = 1,

            /** EXTERNAL_GTE value */
            EXTERNAL_GTE = 2
        }
    }

    /**
     * Properties of a DocAppends.
     * @deprecated Use tailrace.DocAppends.$Properties instead.
     */
    interface IDocAppends extends tailrace.DocAppends.$Properties {
    }

    /** Represents a DocAppends. */
    class DocAppends {

        /**
         * Constructs a new DocAppends.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.DocAppends.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** DocAppends documents. */
        documents: Uint8Array;

        /** DocAppends ends. */
        ends: Uint8Array;

        /** DocAppends gap. */
        gap: number;

        /** DocAppends ids. */
        ids: Uint8Array;

        /** DocAppends ordinals. */
        ordinals: Uint8Array;

        /** DocAppends sourceIndices. */
        sourceIndices: Uint8Array;

        /** DocAppends offsets. */
        offsets: Uint8Array;

        /** DocAppends packed. */
        packed: Uint8Array[];

        /** DocAppends packedBytes. */
        packedBytes: number;

        /** DocAppends blocks. */
        blocks: Uint8Array;

        /** DocAppends blockOffsets. */
        blockOffsets: Uint8Array;

        /**
         * Encodes the specified DocAppends message. Does not implicitly {@link tailrace.DocAppends.verify|verify} messages.
         * @param message DocAppends message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.DocAppends.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a DocAppends message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.DocAppends & tailrace.DocAppends.$Shape} DocAppends
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.DocAppends & tailrace.DocAppends.$Shape;
    }

    namespace DocAppends {

        /** Properties of a DocAppends. */
        interface $Properties {

            /** DocAppends documents */
            documents?: (Uint8Array|null);

            /** DocAppends ends */
            ends?: (Uint8Array|null);

            /** DocAppends gap */
            gap?: (number|null);

            /** DocAppends ids */
            ids?: (Uint8Array|null);

            /** DocAppends ordinals */
            ordinals?: (Uint8Array|null);

            /** DocAppends sourceIndices */
            sourceIndices?: (Uint8Array|null);

            /** DocAppends offsets */
            offsets?: (Uint8Array|null);

            /** DocAppends packed */
            packed?: (Uint8Array[]|null);

            /** DocAppends packedBytes */
            packedBytes?: (number|null);

            /** DocAppends blocks */
            blocks?: (Uint8Array|null);

            /** DocAppends blockOffsets */
            blockOffsets?: (Uint8Array|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a DocAppends. */
        type $Shape = tailrace.DocAppends.$Properties;
    }

    /**
     * Properties of a DocSource.
     * @deprecated Use tailrace.DocSource.$Properties instead.
     */
    interface IDocSource extends tailrace.DocSource.$Properties {
    }

    /** Represents a DocSource. */
    class DocSource {

        /**
         * Constructs a new DocSource.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.DocSource.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** DocSource key. */
        key: string;

        /** DocSource from. */
        from: number;

        /** DocSource to. */
        to: number;

        /**
         * Encodes the specified DocSource message. Does not implicitly {@link tailrace.DocSource.verify|verify} messages.
         * @param message DocSource message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.DocSource.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a DocSource message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.DocSource & tailrace.DocSource.$Shape} DocSource
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.DocSource & tailrace.DocSource.$Shape;
    }

    namespace DocSource {

        /** Properties of a DocSource. */
        interface $Properties {

            /** DocSource key */
            key?: (string|null);

            /** DocSource from */
            from?: (number|null);

            /** DocSource to */
            to?: (number|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a DocSource. */
        type $Shape = tailrace.DocSource.$Properties;
    }

    /**
     * Properties of a DocBatch.
     * @deprecated Use tailrace.DocBatch.$Properties instead.
     */
    interface IDocBatch extends tailrace.DocBatch.$Properties {
    }

    /** Represents a DocBatch. */
    class DocBatch {

        /**
         * Constructs a new DocBatch.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.DocBatch.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** DocBatch index. */
        index: string;

        /** DocBatch indexUuid. */
        indexUuid: string;

        /** DocBatch shard. */
        shard: number;

        /** DocBatch mappingVersion. */
        mappingVersion: number;

        /** DocBatch lenient. */
        lenient: boolean;

        /** DocBatch rawIncarnation. */
        rawIncarnation: number;

        /** DocBatch rawPartition. */
        rawPartition: number;

        /** DocBatch rawSequence. */
        rawSequence: number;

        /** DocBatch reply. */
        reply: string;

        /** DocBatch sources. */
        sources: tailrace.DocSource.$Properties[];

        /** DocBatch operations. */
        operations: tailrace.DocOperation.$Properties[];

        /** DocBatch timeMs. */
        timeMs: number;

        /** DocBatch appends. */
        appends?: (tailrace.DocAppends.$Properties|null);

        /**
         * Encodes the specified DocBatch message. Does not implicitly {@link tailrace.DocBatch.verify|verify} messages.
         * @param message DocBatch message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.DocBatch.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a DocBatch message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.DocBatch & tailrace.DocBatch.$Shape} DocBatch
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.DocBatch & tailrace.DocBatch.$Shape;
    }

    namespace DocBatch {

        /** Properties of a DocBatch. */
        interface $Properties {

            /** DocBatch index */
            index?: (string|null);

            /** DocBatch indexUuid */
            indexUuid?: (string|null);

            /** DocBatch shard */
            shard?: (number|null);

            /** DocBatch mappingVersion */
            mappingVersion?: (number|null);

            /** DocBatch lenient */
            lenient?: (boolean|null);

            /** DocBatch rawIncarnation */
            rawIncarnation?: (number|null);

            /** DocBatch rawPartition */
            rawPartition?: (number|null);

            /** DocBatch rawSequence */
            rawSequence?: (number|null);

            /** DocBatch reply */
            reply?: (string|null);

            /** DocBatch sources */
            sources?: (tailrace.DocSource.$Properties[]|null);

            /** DocBatch operations */
            operations?: (tailrace.DocOperation.$Properties[]|null);

            /** DocBatch timeMs */
            timeMs?: (number|null);

            /** DocBatch appends */
            appends?: (tailrace.DocAppends.$Properties|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a DocBatch. */
        type $Shape = tailrace.DocBatch.$Properties;
    }

    /**
     * Properties of a DocResult.
     * @deprecated Use tailrace.DocResult.$Properties instead.
     */
    interface IDocResult extends tailrace.DocResult.$Properties {
    }

    /** Represents a DocResult. */
    class DocResult {

        /**
         * Constructs a new DocResult.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.DocResult.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** DocResult sequence. */
        sequence: number;

        /** DocResult items. */
        items: tailrace.DocItemResult.$Properties[];

        /**
         * Encodes the specified DocResult message. Does not implicitly {@link tailrace.DocResult.verify|verify} messages.
         * @param message DocResult message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.DocResult.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a DocResult message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.DocResult & tailrace.DocResult.$Shape} DocResult
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.DocResult & tailrace.DocResult.$Shape;
    }

    namespace DocResult {

        /** Properties of a DocResult. */
        interface $Properties {

            /** DocResult sequence */
            sequence?: (number|null);

            /** DocResult items */
            items?: (tailrace.DocItemResult.$Properties[]|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a DocResult. */
        type $Shape = tailrace.DocResult.$Properties;
    }

    /**
     * Properties of a DocItemResult.
     * @deprecated Use tailrace.DocItemResult.$Properties instead.
     */
    interface IDocItemResult extends tailrace.DocItemResult.$Properties {
    }

    /** Represents a DocItemResult. */
    class DocItemResult {

        /**
         * Constructs a new DocItemResult.
         * @param [properties] Properties to set
         */
        constructor(properties?: tailrace.DocItemResult.$Properties);

        /** Unknown fields preserved while decoding when enabled */
        $unknowns?: Uint8Array[];

        /** DocItemResult result. */
        result: string;

        /** DocItemResult version. */
        version: number;

        /** DocItemResult seqNo. */
        seqNo: number;

        /** DocItemResult primaryTerm. */
        primaryTerm: number;

        /** DocItemResult errorCode. */
        errorCode: string;

        /** DocItemResult errorReason. */
        errorReason: string;

        /** DocItemResult count. */
        count: number;

        /** DocItemResult causeType. */
        causeType: string;

        /** DocItemResult causeReason. */
        causeReason: string;

        /**
         * Encodes the specified DocItemResult message. Does not implicitly {@link tailrace.DocItemResult.verify|verify} messages.
         * @param message DocItemResult message or plain object to encode
         * @param [writer] Writer to encode to
         * @returns Writer
         */
        static encode(message: tailrace.DocItemResult.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

        /**
         * Decodes a DocItemResult message from the specified reader or buffer.
         * @param reader Reader or buffer to decode from
         * @param [length] Message length if known beforehand
         * @returns {tailrace.DocItemResult & tailrace.DocItemResult.$Shape} DocItemResult
         * @throws {Error} If the payload is not a reader or valid buffer
         * @throws {$protobuf.util.ProtocolError} If required fields are missing
         */
        static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): tailrace.DocItemResult & tailrace.DocItemResult.$Shape;
    }

    namespace DocItemResult {

        /** Properties of a DocItemResult. */
        interface $Properties {

            /** DocItemResult result */
            result?: (string|null);

            /** DocItemResult version */
            version?: (number|null);

            /** DocItemResult seqNo */
            seqNo?: (number|null);

            /** DocItemResult primaryTerm */
            primaryTerm?: (number|null);

            /** DocItemResult errorCode */
            errorCode?: (string|null);

            /** DocItemResult errorReason */
            errorReason?: (string|null);

            /** DocItemResult count */
            count?: (number|null);

            /** DocItemResult causeType */
            causeType?: (string|null);

            /** DocItemResult causeReason */
            causeReason?: (string|null);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];
        }

        /** Shape of a DocItemResult. */
        type $Shape = tailrace.DocItemResult.$Properties;
    }
}
