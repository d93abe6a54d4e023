/** TensorBoardLog: a run's metrics as the event files that TensorBoard reads. */
import { join } from 'node:path';
import { append, ensureDir } from '@toolenv/core/files';
import type { TrainEvent } from '@toolenv/core/plugins';
import { Writer } from 'protobufjs/minimal.js';
import { type ReportedType, reportedName } from './metric-sink.ts';

/**
 * Each process of a run writes its own file, and TensorBoard reads the files in the order of their names. An interrupted
 * process may have written steps after the checkpoint from which the next process resumes. A session log at the start of
 * the next file makes TensorBoard drop these steps.
 */
export class TensorBoardLog {
  readonly #folder: string;
  readonly #file: string;
  #begun = false;

  constructor(folder: string) {
    const milliseconds = String(Date.now()).padStart(14, '0');
    this.#folder = folder;
    this.#file = join(folder, `events.out.tfevents.${milliseconds}.toolenv`);
  }

  /** Appends an event's metrics. Names are those of `reportedName`: `rollout/reward`. Checkpoints have no metrics. */
  async write(event: TrainEvent): Promise<void> {
    if (event.type === 'checkpoint') return;
    const { type, step, metrics } = event;
    const records = [summaryEvent(step, type, metrics)];
    if (!this.#begun) {
      await ensureDir(this.#folder);
      records.unshift(versionEvent(), sessionStart(step));
      this.#begun = true;
    }
    const bytes = Buffer.concat(records.map((record) => frame(record.finish())));
    await append(this.#file, bytes);
  }
}

// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto, shifted by 3, with the wire type:
// 0 varint, 1 eight bytes, 2 a length and bytes, 5 four bytes.
const wallTime = (1 << 3) | 1;
const stepField = (2 << 3) | 0;
const fileVersion = (3 << 3) | 2;
const summary = (5 << 3) | 2;
const sessionLog = (7 << 3) | 2;

function newEvent(step: number): Writer {
  const event = Writer.create()
    .uint32(wallTime)
    .double(Date.now() / 1000);
  return step === 0 ? event : event.uint32(stepField).int64(step);
}

function versionEvent(): Writer {
  return newEvent(0).uint32(fileVersion).string('brain.Event:2');
}

/** `SessionLog { status: START }`: readers drop this step and later steps of earlier files. */
function sessionStart(step: number): Writer {
  return newEvent(step)
    .uint32(sessionLog)
    .fork()
    .uint32((1 << 3) | 0)
    .int32(1)
    .ldelim();
}

function summaryEvent(step: number, type: ReportedType, metrics: Readonly<Record<string, number>>): Writer {
  const event = newEvent(step).uint32(summary).fork();
  for (const [name, value] of Object.entries(metrics)) {
    event.uint32((1 << 3) | 2).fork();
    event.uint32((1 << 3) | 2).string(reportedName(type, name));
    event.uint32((2 << 3) | 5).float(value);
    event.ldelim();
  }
  return event.ldelim();
}

/** TFRecord: length, its checksum, data, its checksum, little-endian (tensorflow/core/lib/io/record_writer.h). */
function frame(data: Uint8Array): Buffer {
  const record = Buffer.alloc(8 + 4 + data.length + 4);
  record.writeBigUInt64LE(BigInt(data.length), 0);
  record.writeUInt32LE(maskedChecksum(record.subarray(0, 8)), 8);
  record.set(data, 12);
  record.writeUInt32LE(maskedChecksum(data), 12 + data.length);
  return record;
}

/** CRC-32C, masked as tensorflow/core/lib/hash/crc32c.h does, so that checksums of checksums stay sound. */
function maskedChecksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 0xff]!;
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});
