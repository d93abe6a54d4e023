/** The part of ONNX's protobuf format (onnx.proto3, IR version 10) that the graphs of this package need. */
import protobuf from 'protobufjs/light.js';

export interface NodeProto {
  name?: string;
  opType: string;
  domain: string;
  input: string[];
  output: string[];
  attribute: AttributeProto[];
}

export interface AttributeProto {
  name: string;
  type: number;
  f?: number;
  i?: number;
  s?: Uint8Array;
  ints?: readonly number[];
}

export interface TensorProto {
  name: string;
  dataType: number;
  dims: readonly number[];
  rawData?: Uint8Array;
  /** The tensor's place outside of the model, as keys and values. */
  externalData?: readonly { key: string; value: string }[];
  /** 1: `externalData` has the numbers. */
  dataLocation?: 1;
}

export interface ValueInfoProto {
  name: string;
  type: { tensorType: { elemType: number; shape: { dim: ({ dimValue: number } | { dimParam: string })[] } } };
}

export interface GraphProto {
  name: string;
  node: NodeProto[];
  initializer: TensorProto[];
  input: ValueInfoProto[];
  output: ValueInfoProto[];
  /** Of values between the nodes. */
  valueInfo?: ValueInfoProto[];
}

/** TensorProto.DataType. */
export const dataType = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, float16: 10 } as const;

const field = (type: string, id: number) => ({ type, id });
const repeated = (type: string, id: number) => ({ type, id, rule: 'repeated' });
const root = protobuf.Root.fromJSON({
  nested: {
    OperatorSetId: { fields: { domain: field('string', 1), version: field('int64', 2) } },
    Attribute: {
      fields: {
        name: field('string', 1),
        f: field('float', 2),
        i: field('int64', 3),
        s: field('bytes', 4),
        ints: repeated('int64', 8),
        type: field('int32', 20),
      },
    },
    Node: {
      fields: {
        input: repeated('string', 1),
        output: repeated('string', 2),
        name: field('string', 3),
        opType: field('string', 4),
        attribute: repeated('Attribute', 5),
        domain: field('string', 7),
      },
    },
    Tensor: {
      fields: {
        dims: repeated('int64', 1),
        dataType: field('int32', 2),
        name: field('string', 8),
        rawData: field('bytes', 9),
        externalData: repeated('Entry', 13),
        dataLocation: field('int32', 14),
      },
    },
    Entry: { fields: { key: field('string', 1), value: field('string', 2) } },
    Dimension: { fields: { dimValue: field('int64', 1), dimParam: field('string', 2) } },
    Shape: { fields: { dim: repeated('Dimension', 1) } },
    TensorType: { fields: { elemType: field('int32', 1), shape: field('Shape', 2) } },
    Type: { fields: { tensorType: field('TensorType', 1) } },
    ValueInfo: { fields: { name: field('string', 1), type: field('Type', 2) } },
    Graph: {
      fields: {
        node: repeated('Node', 1),
        name: field('string', 2),
        initializer: repeated('Tensor', 5),
        input: repeated('ValueInfo', 11),
        output: repeated('ValueInfo', 12),
        valueInfo: repeated('ValueInfo', 13),
      },
    },
    Model: {
      fields: {
        irVersion: field('int64', 1),
        producerName: field('string', 2),
        graph: field('Graph', 7),
        opsetImport: repeated('OperatorSetId', 8),
      },
    },
  },
});
const Model = root.lookupType('Model');

/** Encodes a model with this graph, opset 21 and ONNX Runtime's own operators. */
export function encodeModel(graph: GraphProto): Uint8Array {
  const opsetImport = [
    { domain: '', version: 21 },
    { domain: 'com.microsoft', version: 1 },
  ];
  return Model.encode({ irVersion: 10, producerName: 'toolenv', graph, opsetImport }).finish();
}

/** The graph of an encoded model. Fields that are not declared above are left out. */
export function decodeGraph(model: Uint8Array): GraphProto {
  const { graph } = Model.toObject(Model.decode(model), { longs: Number, arrays: true }) as {
    graph: GraphProto;
  };
  return graph;
}
