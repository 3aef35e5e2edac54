/** A fast wrong answer must not count: contenders that compute the same must say the same. */

const lossTolerance = 1e-3;
/** Gradients add up many rounded terms in different orders. */
const normTolerance = 1e-2;

export interface Outcome {
  /** Mean loss, in nats. */
  loss: number;
  /** Euclidean norm of the gradient of the mean loss by all parameters. */
  gradientNorm: number;
}

/** @throws Error that names who differs, from whom and by how much. The first is the reference. */
export function requireAgreement(what: string, outcomes: readonly (Outcome & { contender: string })[]): void {
  const [reference, ...others] = outcomes;
  if (!reference) return;
  for (const other of outcomes) {
    if (!Number.isFinite(other.loss) || !Number.isFinite(other.gradientNorm)) {
      throw new Error(`${what}: ${other.contender} gives loss ${other.loss}, norm ${other.gradientNorm}`);
    }
  }
  for (const other of others) {
    compare(what, 'loss', lossTolerance, reference, other, ({ loss }) => loss);
    compare(what, 'gradient norm', normTolerance, reference, other, ({ gradientNorm }) => gradientNorm);
  }
}

function compare(
  what: string,
  quantity: string,
  tolerance: number,
  reference: Outcome & { contender: string },
  other: Outcome & { contender: string },
  pick: (outcome: Outcome) => number,
): void {
  const [expected, found] = [pick(reference), pick(other)];
  const difference = Math.abs(found - expected) / Math.max(Math.abs(expected), 1e-12);
  if (difference <= tolerance) return;
  throw new Error(
    `${what}: ${other.contender} disagrees, ${quantity} ${found.toPrecision(7)} against ` +
      `${expected.toPrecision(7)} of ${reference.contender} (${difference.toExponential(1)} relative, ` +
      `at most ${tolerance})`,
  );
}

/** What an output comes to. */
export interface Fingerprint {
  norm: number;
  /** Scalar product with a fixed vector of the output's shape whose elements are 1 or -1. */
  projection: number;
}

/** Of the norm, for sums of many rounded terms. */
const outputTolerance = 2e-3;

/** @throws Error that names the contender whose outputs differ from the first's. */
export function requireSameOutputs(
  what: string,
  all: readonly { contender: string; outputs: readonly Fingerprint[] }[],
): void {
  const [reference, ...others] = all;
  if (!reference) return;
  for (const { contender, outputs } of others) {
    if (outputs.length !== reference.outputs.length) {
      throw new Error(`${what}: ${contender} has ${outputs.length} outputs, not ${reference.outputs.length}`);
    }
    outputs.forEach((found, index) => {
      const expected = reference.outputs[index] as Fingerprint;
      const allowed = outputTolerance * Math.max(expected.norm, 1e-6);
      const close = (a: number, b: number): boolean => Math.abs(a - b) <= allowed;
      if (close(found.norm, expected.norm) && close(found.projection, expected.projection)) return;
      const words = ({ norm, projection }: Fingerprint): string =>
        `norm ${norm.toPrecision(6)}, projection ${projection.toPrecision(6)}`;
      throw new Error(
        `${what}: ${contender} disagrees in output ${index}, ${words(found)} against ${words(expected)} ` +
          `of ${reference.contender}`,
      );
    });
  }
}
