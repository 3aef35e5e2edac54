import { Random, decodeVector, int8Block, type Encoding } from '@tabweave/shared';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ErrorFeedback } from './error-feedback.ts';

const size = 3 * int8Block + 11;

function gradient(seed: number, scale: number): Float32Array {
  const random = new Random(seed);
  return Float32Array.from({ length: size }, () => scale * random.normal());
}

function decode(bytes: Uint8Array, encoding: Encoding): Float32Array {
  const values = new Float32Array(size);
  decodeVector(bytes, encoding, values);
  return values;
}

function add(sum: Float64Array, vector: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (vector[i] as number);
}

/** Half a step of each value's block, for a vector that the server saw. */
function halfSteps(bytes: Uint8Array): Float32Array {
  const blocks = Math.ceil(size / int8Block);
  const scales = new Float32Array(bytes.slice(0, 4 * blocks).buffer);
  return Float32Array.from({ length: size }, (_, i) => (scales[Math.floor(i / int8Block)] as number) / 2);
}

test('the sum of decoded int8 contributions stays within half a quantisation step of the true sum', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1e-6, max: 1e3, noNaN: true }), { minLength: 1, maxLength: 12 }),
      fc.nat(1000),
      (scales, seed) => {
        const feedback = new ErrorFeedback();
        const truth = new Float64Array(size);
        const arrived = new Float64Array(size);
        scales.forEach((scale, step) => {
          const vector = gradient(seed + step, scale);
          add(truth, vector);
          const { bytes, accepted } = feedback.encode('run', vector, 'int8');
          add(arrived, decode(bytes, 'int8'));
          accepted();
          const bound = halfSteps(bytes);
          const largest = Math.max(...scales) * 10 * scales.length;
          for (let i = 0; i < size; i++) {
            const off = Math.abs((truth[i] as number) - (arrived[i] as number));
            // Besides half a step of the last one, only float32 rounding of the residual.
            if (off > (bound[i] as number) * 1.0001 + largest * 1e-6) {
              throw new Error(`value ${i}, step ${step}: off by ${off}, half a step is ${bound[i]}`);
            }
          }
        });
      },
    ),
    { numRuns: 40 },
  );
});

test('without acceptance the next contribution is encoded as if the refused one had not been', () => {
  const feedback = new ErrorFeedback();
  feedback.encode('run', gradient(1, 1), 'int8').accepted();
  const before = feedback.encode('run', gradient(2, 1), 'int8').bytes;
  feedback.encode('run', gradient(3, 100), 'int8');
  const after = feedback.encode('run', gradient(2, 1), 'int8').bytes;
  expect(after).toEqual(before);
  const fresh = new ErrorFeedback().encode('run', gradient(2, 1), 'int8').bytes;
  expect(after).not.toEqual(fresh);
});

test('the residual of another model is dropped', () => {
  const feedback = new ErrorFeedback();
  feedback.encode('run a', gradient(1, 1), 'float16').accepted();
  const other = feedback.encode('run b', gradient(2, 1), 'float16').bytes;
  expect(other).toEqual(new ErrorFeedback().encode('run b', gradient(2, 1), 'float16').bytes);
});

test('an answer that comes late, when the model has changed and changed back, leaves nothing behind', () => {
  const feedback = new ErrorFeedback();
  const late = feedback.encode('run a', gradient(1, 1), 'int8');
  feedback.encode('run b', gradient(2, 1), 'int8');
  late.accepted();
  const b = feedback.encode('run b', gradient(3, 1), 'int8').bytes;
  expect(b).toEqual(new ErrorFeedback().encode('run b', gradient(3, 1), 'int8').bytes);
  feedback.encode('run a', gradient(4, 1), 'int8');
  late.accepted();
  const a = feedback.encode('run a', gradient(5, 1), 'int8').bytes;
  expect(a).toEqual(new ErrorFeedback().encode('run a', gradient(5, 1), 'int8').bytes);
});

test('float32 leaves nothing out', () => {
  const feedback = new ErrorFeedback();
  const vector = gradient(1, 1);
  const { bytes, accepted } = feedback.encode('run', vector.slice(), 'float32');
  accepted();
  expect(decode(bytes, 'float32')).toEqual(vector);
});

test.each([
  ['float32', Number.NaN],
  ['int8', Number.POSITIVE_INFINITY],
  ['float16', Number.NEGATIVE_INFINITY],
  // Finite, but beyond the largest float16.
  ['float16', 70_000],
] as const)('%s refuses a gradient that holds %d', (encoding, value) => {
  const feedback = new ErrorFeedback();
  const vector = gradient(1, 1);
  vector[size - 1] = value;
  expect(() => feedback.encode('run', vector, encoding)).toThrow(
    expect.objectContaining({ reason: 'non-finite' }),
  );
});
