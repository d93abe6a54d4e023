/** How long products of matrices take on this machine in each precision. */
import type { Kernels } from './kernels.ts';
import type { TorchTensor } from './torch-tensor.ts';

/** Milliseconds of one product of 512 × 512 and 512 × 2048: the fastest of several, because other work only adds time. */
export interface ProductTimes {
  float32: number;
  bfloat16: number;
}

const runs = 15;
/** The first runs are slower than the others. */
const warmUp = 3;
const [rows, inner, columns] = [512, 512, 2048] as const;

/** Takes about a tenth of a second. In bfloat16, the time includes that of rounding the input. */
export function measureProducts(kernels: Kernels): ProductTimes {
  const made: TorchTensor[] = [];
  const keep = (tensor: TorchTensor) => {
    made.push(tensor);
    return tensor;
  };
  try {
    // Numbers that bfloat16 rounds.
    const x = keep(kernels.full([rows, inner], 0.1));
    const weight = keep(kernels.full([columns, inner], 0.1));
    const narrow = keep(kernels.cast(weight, 'bfloat16'));
    const products = {
      float32: () => kernels.linear(x, weight),
      bfloat16: () => kernels.linear(kernels.cast(x, 'bfloat16'), narrow),
    };
    const times = { float32: [] as number[], bfloat16: [] as number[] };
    for (let run = 0; run < warmUp + runs; run++) {
      for (const precision of ['float32', 'bfloat16'] as const) {
        const begun = performance.now();
        kernels.tidy(products[precision]).drop();
        if (run >= warmUp) times[precision].push(performance.now() - begun);
      }
    }
    return { float32: Math.min(...times.float32), bfloat16: Math.min(...times.bfloat16) };
  } finally {
    for (const each of made) each.drop();
  }
}

/** How many times as fast bfloat16 must be to be worth its rounding. */
const worthwhile = 1.5;

/** `bfloat16` where it is at least 1.5 times as fast. */
export function fasterPrecision({ float32, bfloat16 }: ProductTimes): 'float32' | 'bfloat16' {
  return float32 >= worthwhile * bfloat16 ? 'bfloat16' : 'float32';
}
