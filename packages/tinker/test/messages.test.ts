import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Datum, decodeLogprobs, decodeSamples, encodeForwardBackward } from '../src/messages.ts';

/** The wire format of protobuf, written by hand from its description: varints, and fields of bytes. */
function varint(number: number): Buffer {
  const bytes: number[] = [];
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest >= 128 ? (rest % 128) | 128 : rest);
    if (rest < 128) return Buffer.from(bytes);
  }
}
const number = (id: number, value: number) => Buffer.concat([varint(id * 8), varint(value)]);
const bytes = (id: number, value: Uint8Array) =>
  Buffer.concat([varint(id * 8 + 2), varint(value.length), value]);
const text = (id: number, value: string) => bytes(id, Buffer.from(value));
const raw = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  Buffer.from(buffer, byteOffset, byteLength);
const float = (id: number, value: number) => Buffer.concat([varint(id * 8 + 5), raw(Float32Array.of(value))]);

function tensor(values: Float32Array | BigInt64Array): Buffer {
  const dtype = values instanceof Float32Array ? 1 : 2;
  return Buffer.concat([bytes(1, raw(values)), number(3, dtype), bytes(4, varint(values.length))]);
}

function datum({ tokens, targets, inputs }: Datum): Buffer {
  const chunk = bytes(1, bytes(1, bytes(1, raw(tokens))));
  const named = { target_tokens: BigInt64Array.from(targets, BigInt), ...inputs };
  const entries = Object.entries(named).map(([name, values]) =>
    bytes(2, Buffer.concat([text(1, name), bytes(2, tensor(values))])),
  );
  return Buffer.concat([chunk, ...entries]);
}

const floats = (length: number) =>
  fc
    .array(fc.float({ noNaN: false }), { minLength: length, maxLength: length })
    .map((values) => Float32Array.from(values));
const data = fc.array(
  fc.integer({ min: 1, max: 40 }).chain((length) =>
    fc
      .tuple(
        fc.array(fc.nat(200_000), { minLength: length + 1, maxLength: length + 1 }),
        floats(length),
        floats(length),
      )
      .map(([ids, weights, advantages]): Datum => {
        const tokens = Int32Array.from(ids);
        return {
          tokens: tokens.subarray(0, -1),
          targets: tokens.subarray(1),
          inputs: { weights, advantages },
        };
      }),
  ),
  { maxLength: 6 },
);

test('requests have the bytes of the wire format', () => {
  const request = fc.record({
    modelId: fc.string({ minLength: 1 }),
    seqId: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    data,
    loss: fc.constantFrom('importance_sampling', 'cross_entropy'),
    forwardOnly: fc.boolean(),
    high: fc.option(fc.float({ noNaN: true }), { nil: undefined }),
  });
  fc.assert(
    fc.property(request, ({ high, ...message }) => {
      const config: Record<string, number> = high === undefined ? {} : { clip_high_threshold: high };
      const expected = Buffer.concat([
        text(1, message.modelId),
        number(2, message.seqId),
        ...message.data.map((each) => bytes(3, datum(each))),
        text(4, message.loss),
        ...Object.entries(config).map(([name, value]) =>
          bytes(5, Buffer.concat([text(1, name), float(2, value)])),
        ),
        ...(message.forwardOnly ? [number(6, 1)] : []),
      ]);
      expect(Buffer.from(encodeForwardBackward({ ...message, config })).equals(expected)).toBe(true);
    }),
  );
});

function forwardOutput(rows: readonly Float32Array[]): Buffer {
  const ends = rows.map((_, b) => rows.slice(0, b + 1).reduce((sum, row) => sum + row.byteLength, 0));
  const batched = Buffer.concat([
    bytes(1, Buffer.concat(rows.map(raw))),
    bytes(2, raw(BigInt64Array.from([0, ...ends], BigInt))),
    number(3, 1),
  ]);
  const entry = bytes(2, Buffer.concat([text(1, 'logprobs'), bytes(2, batched)]));
  return Buffer.concat([
    text(1, 'scalar'),
    bytes(2, Buffer.concat([text(1, 'x'), entry, number(3, rows.length)])),
  ]);
}

const rowsOfFloats = fc.array(
  fc.nat(30).chain((length) => floats(length)),
  { minLength: 1, maxLength: 6 },
);

test('log-probabilities are read to the last bit', () => {
  fc.assert(
    fc.property(rowsOfFloats, (rows) => {
      const lengths = rows.map((row) => row.length);
      const read = decodeLogprobs(forwardOutput(rows), lengths);
      expect(read.map((row) => raw(row).toString('hex'))).toEqual(
        rows.map((row) => raw(row).toString('hex')),
      );
    }),
  );
});

test('log-probabilities of other lengths are a fault of the server', () => {
  const output = forwardOutput([Float32Array.of(-1, -2)]);
  expect(decodeLogprobs(output, [2])).toEqual([Float32Array.of(-1, -2)]);
  for (const lengths of [[3], [2, 2], []]) {
    expect(() => decodeLogprobs(output, lengths)).toThrow(
      expect.objectContaining({ code: 'infrastructure.tinker_reply' }),
    );
  }
});

test('samples are read with their ends', () => {
  const sequence = (stop: number, tokens: number[], logprobs: number[]) =>
    bytes(
      1,
      Buffer.concat([
        ...(stop > 0 ? [number(1, stop)] : []),
        bytes(2, raw(Int32Array.from(tokens))),
        bytes(3, raw(Float32Array.from(logprobs))),
      ]),
    );
  const response = Buffer.concat([sequence(0, [7, 8], [-1, -2]), sequence(1, [9], [-0.5])]);
  expect(decodeSamples(response)).toEqual([
    { stopped: true, tokens: Int32Array.of(7, 8), logprobs: Float32Array.of(-1, -2) },
    { stopped: false, tokens: Int32Array.of(9), logprobs: Float32Array.of(-0.5) },
  ]);
});

test('damaged replies are read or are faults of the server, and nothing else', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
  fc.assert(
    fc.property(rowsOfFloats, damage, fc.nat(), (rows, changes, cut) => {
      const whole = forwardOutput(rows);
      for (const [at, value] of changes) whole[at % whole.length] = value;
      const reply = whole.subarray(0, whole.length - (cut % 8));
      const read = () =>
        decodeLogprobs(
          reply,
          rows.map((row) => row.length),
        );
      let values: Float32Array[] = [];
      try {
        values = read();
      } catch (error) {
        expect(error).toMatchObject({ code: 'infrastructure.tinker_reply' });
        return;
      }
      expect(values.map((row) => row.length)).toEqual(rows.map((row) => row.length));
    }),
  );
});
