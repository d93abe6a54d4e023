/** The protobuf messages of the Tinker API (tinker 0.25, tinker_public.proto), as far as training and sampling need them. */
import { ToolEnvError } from '@toolenv/core';
import protobuf from 'protobufjs/light.js';

/** A row of tokens and what the loss reads of each target. All arrays have one element per target: T − 1 for T tokens. */
export interface Datum {
  /** What the model reads: all tokens but the last. */
  tokens: Int32Array;
  /** Each token's successor. */
  targets: Int32Array;
  /** Float32 arrays by the server's name: `weights`, and for most losses `logprobs` and `advantages`. */
  inputs: Readonly<Record<string, Float32Array>>;
}

export interface ForwardBackward {
  modelId: string;
  /** Numbers the requests of a model from 1. */
  seqId: number;
  data: readonly Datum[];
  loss: string;
  config?: Readonly<Record<string, number>>;
  /** Computes outputs and no gradients. */
  forwardOnly?: boolean;
}

export interface SampledSequence {
  /** `false`: the sequence was cut at the largest number of tokens. */
  stopped: boolean;
  /** [A] */
  tokens: Int32Array;
  /** [A] in nats; empty if the server gives none. */
  logprobs: Float32Array;
}

const float32 = 1;
const int64 = 2;
const stop = 0;

const field = (type: string, id: number) => ({ type, id });
const repeated = (type: string, id: number) => ({ type, id, rule: 'repeated' });
const mapOf = (type: string, id: number) => ({ keyType: 'string', type, id });
const root = protobuf.Root.fromJSON({
  nested: {
    ForwardBackwardRequest: {
      fields: {
        modelId: field('string', 1),
        seqId: field('int32', 2),
        data: repeated('Datum', 3),
        loss: field('string', 4),
        config: mapOf('float', 5),
        forwardOnly: field('bool', 6),
      },
    },
    Datum: { fields: { modelInput: repeated('Chunk', 1), inputs: mapOf('Tensor', 2) } },
    Chunk: { fields: { encodedText: field('EncodedText', 1) } },
    EncodedText: { fields: { tokens: field('bytes', 1) } },
    Tensor: { fields: { dense: field('bytes', 1), dtype: field('int32', 3), shape: repeated('int64', 4) } },
    ForwardBackwardOutput: { fields: { records: repeated('ArrayRecord', 2) } },
    ArrayRecord: { fields: { tensors: mapOf('BatchedTensor', 2) } },
    BatchedTensor: {
      fields: { data: field('bytes', 1), offsets: field('bytes', 2), dtype: field('int32', 3) },
    },
    SampleResponse: { fields: { sequences: repeated('SampledSequence', 1) } },
    SampledSequence: {
      fields: { stopReason: field('int32', 1), tokens: field('bytes', 2), logprobs: field('bytes', 3) },
    },
  },
});

export function encodeForwardBackward({ data, ...rest }: ForwardBackward): Uint8Array {
  const type = root.lookupType('ForwardBackwardRequest');
  const message = type.fromObject({ ...rest, data: data.map(datumMessage) });
  return type.encode(message).finish();
}

function datumMessage({ tokens, targets, inputs }: Datum): object {
  const named = Object.entries(inputs).map(([name, values]) => [name, tensor(values, float32)] as const);
  const wide = BigInt64Array.from(targets, BigInt);
  return {
    modelInput: [{ encodedText: { tokens: bytesOf(tokens) } }],
    inputs: { target_tokens: tensor(wide, int64), ...Object.fromEntries(named) },
  };
}

function tensor(values: Float32Array | BigInt64Array, dtype: number): object {
  return { dense: bytesOf(values), dtype, shape: [values.length] };
}

/**
 * The log-probabilities of each datum's targets, in nats: [B][T − 1].
 * @param lengths Of each datum's targets.
 * @throws ToolEnvError `infrastructure.tinker_reply` if the bytes are no such message, or the lengths differ.
 */
export function decodeLogprobs(bytes: Uint8Array, lengths: readonly number[]): Float32Array[] {
  const { records } = decoded<{ records: { tensors: Record<string, BatchedTensor> }[] }>(
    'ForwardBackwardOutput',
    bytes,
  );
  const rows = records.flatMap(({ tensors }) => {
    const { logprobs } = tensors;
    if (!logprobs || logprobs.dtype !== float32) throw badReply('gives no log-probabilities');
    return rowsOf(logprobs);
  });
  const found = rows.map((row) => row.length);
  if (found.length === lengths.length && found.every((length, b) => length === lengths[b])) return rows;
  throw badReply(`gives log-probabilities for ${brief(found)} tokens, and ${brief(lengths)} were asked for`);
}

/** An absent field of bytes is an empty array of JavaScript. */
type Bytes = Uint8Array | never[];

interface BatchedTensor {
  data: Bytes;
  /** int64: where each row begins in `data`, and where the last row ends. */
  offsets: Bytes;
  dtype: number;
}

function rowsOf({ data, offsets }: BatchedTensor): Float32Array[] {
  const ends = Array.from(new BigInt64Array(bufferOf(offsets, 8)), Number);
  return ends.slice(1).map((end, b) => {
    const start = ends[b]!;
    if (start < 0 || end < start || end > data.length) throw badReply('has offsets outside of its data');
    return new Float32Array(bufferOf(data.slice(start, end), 4));
  });
}

/** @throws ToolEnvError `infrastructure.tinker_reply` if the bytes are no such message. */
export function decodeSamples(bytes: Uint8Array): SampledSequence[] {
  type Sequence = { stopReason: number; tokens: Bytes; logprobs: Bytes };
  const { sequences } = decoded<{ sequences: Sequence[] }>('SampleResponse', bytes);
  return sequences.map(({ stopReason, tokens, logprobs }) => ({
    stopped: stopReason === stop,
    tokens: new Int32Array(bufferOf(tokens, 4)),
    logprobs: new Float32Array(bufferOf(logprobs, 4)),
  }));
}

function decoded<Message>(type: string, bytes: Uint8Array): Message {
  try {
    return root.lookupType(type).decode(bytes) as unknown as Message;
  } catch (cause) {
    throw badReply(`answers with bytes that are no ${type}`, cause);
  }
}

/** The bytes of typed arrays are those of the wire: both are little-endian on every machine that runs Node. */
function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** A copy, because the bytes of a field need not be aligned. */
function bufferOf(bytes: Bytes, size: number): ArrayBuffer {
  if (bytes.length % size !== 0) throw badReply(`has ${bytes.length} bytes of numbers of ${size} bytes`);
  return Uint8Array.from(bytes).buffer;
}

function brief(numbers: readonly number[]): string {
  return numbers.length > 8 ? `${numbers.slice(0, 8).join(', ')}, …` : numbers.join(', ') || 'no';
}

function badReply(what: string, cause?: unknown): ToolEnvError {
  const message = `The Tinker server ${what}: use skyrl 0.4.0, whose messages this package speaks.`;
  return new ToolEnvError('infrastructure.tinker_reply', message, { cause });
}
