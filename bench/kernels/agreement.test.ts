import { expect, test } from 'vitest';
import { requireAgreement, requireSameOutputs } from './agreement.ts';

const fair = { contender: 'reference', loss: 4.2, gradientNorm: 2 };

test('contenders within rounding agree', () => {
  expect(() =>
    requireAgreement('tiny', [fair, { contender: 'other', loss: 4.2035, gradientNorm: 2.015 }]),
  ).not.toThrow();
});

test('a wrong loss is refused, with the name of whose it is', () => {
  expect(() => requireAgreement('tiny', [fair, { ...fair, contender: 'quick', loss: 4.21 }])).toThrow(
    /tiny: quick disagrees, loss 4\.21\d* against 4\.2\d* of reference \(2\.4e-3 relative/,
  );
});

test('a right loss with wrong gradients is refused', () => {
  expect(() => requireAgreement('tiny', [fair, { ...fair, contender: 'quick', gradientNorm: 0 }])).toThrow(
    'gradient norm 0.000000 against 2.000000 of reference',
  );
});

test('not-a-number is refused even from the reference alone', () => {
  expect(() => requireAgreement('tiny', [{ ...fair, loss: NaN }])).toThrow('reference gives loss NaN');
});

test('outputs of the same norm in another order are refused', () => {
  const outputs = [{ norm: 10, projection: 3 }];
  const all = (projection: number) => [
    { contender: 'reference', outputs },
    { contender: 'other', outputs: [{ norm: 10.001, projection }] },
  ];
  expect(() => requireSameOutputs('matmul', all(3.01))).not.toThrow();
  expect(() => requireSameOutputs('matmul', all(3.1))).toThrow('matmul: other disagrees in output 0');
});

test('a missing output is refused', () => {
  const output = { norm: 1, projection: 1 };
  expect(() =>
    requireSameOutputs('layer norm', [
      { contender: 'reference', outputs: [output, output] },
      { contender: 'other', outputs: [output] },
    ]),
  ).toThrow('other has 1 outputs, not 2');
});
