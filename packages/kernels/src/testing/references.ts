/** The operations by definition, in float64. Vectors are flat, row major. */

type Vector = Float64Array;
const at = (values: ArrayLike<number>, index: number): number => values[index] as number;
const fill = (length: number, f: (index: number) => number): Vector =>
  Float64Array.from({ length }, (_, i) => f(i));

export const geluReference = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

export function normReference(x: Vector, gamma: Vector, beta: Vector | null, epsilon: number): Vector {
  const columns = gamma.length;
  const y = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += columns) {
    const row = x.subarray(start, start + columns);
    const mean = beta ? row.reduce((sum, value) => sum + value, 0) / columns : 0;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / columns;
    for (let i = 0; i < columns; i++) {
      y[start + i] =
        ((at(row, i) - mean) / Math.sqrt(variance + epsilon)) * at(gamma, i) + (beta ? at(beta, i) : 0);
    }
  }
  return y;
}

export function matMulReference(a: Vector, b: Vector, m: number, k: number, n: number): Vector {
  return fill(m * n, (index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    let sum = 0;
    for (let i = 0; i < k; i++) sum += at(a, row * k + i) * at(b, i * n + column);
    return sum;
  });
}

export interface AttentionSizes {
  samples: number;
  tokens: number;
  heads: number;
  keyValueHeads: number;
  headWidth: number;
}

export function attentionReference(qkv: Vector, sizes: AttentionSizes): Vector {
  const { samples, tokens, heads, keyValueHeads, headWidth } = sizes;
  const columns = (heads + 2 * keyValueHeads) * headWidth;
  const output = new Float64Array(samples * tokens * heads * headWidth);
  for (let sample = 0; sample < samples; sample++) {
    for (let head = 0; head < heads; head++) {
      const shared = Math.floor((head * keyValueHeads) / heads);
      for (let token = 0; token < tokens; token++) {
        const value = (t: number, column: number): number =>
          at(qkv, (sample * tokens + t) * columns + column);
        const scores = fill(token + 1, (j) => {
          let sum = 0;
          for (let d = 0; d < headWidth; d++) {
            sum += value(token, head * headWidth + d) * value(j, (heads + shared) * headWidth + d);
          }
          return sum / Math.sqrt(headWidth);
        });
        const top = Math.max(...scores);
        const weights = scores.map((score) => Math.exp(score - top));
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        for (let d = 0; d < headWidth; d++) {
          let sum = 0;
          for (let j = 0; j <= token; j++) {
            sum += at(weights, j) * value(j, (heads + keyValueHeads + shared) * headWidth + d);
          }
          output[((sample * tokens + token) * heads + head) * headWidth + d] = sum / total;
        }
      }
    }
  }
  return output;
}

export function crossEntropyReference(logits: Vector, labels: readonly number[], scale: number): Vector {
  const classes = logits.length / labels.length;
  let loss = 0;
  labels.forEach((label, row) => {
    if (label < 0) return;
    const values = logits.subarray(row * classes, (row + 1) * classes);
    const top = Math.max(...values);
    const total = values.reduce((sum, value) => sum + Math.exp(value - top), 0);
    loss += Math.log(total) - (at(values, label) - top);
  });
  return Float64Array.of(scale * loss);
}

export function swigluReference(packed: Vector, columns: number): Vector {
  return fill(packed.length / 2, (index) => {
    const start = Math.floor(index / columns) * 2 * columns + (index % columns);
    const gate = at(packed, start);
    return (gate / (1 + Math.exp(-gate))) * at(packed, start + columns);
  });
}

export function rotaryReference(
  x: Vector,
  { tokens, heads, headWidth, base }: { tokens: number; heads: number; headWidth: number; base: number },
): Vector {
  const half = headWidth / 2;
  return fill(x.length, (index) => {
    const d = index % headWidth;
    const token = Math.floor(index / (heads * headWidth)) % tokens;
    const angle = token * base ** (-(d % half) / half);
    const other = d < half ? -at(x, index + half) : at(x, index - half);
    return at(x, index) * Math.cos(angle) + other * Math.sin(angle);
  });
}

/** Slopes of `weights` times f at `inputs`, by central differences in float64. */
export function slopes(
  f: (...inputs: Vector[]) => Vector,
  inputs: readonly Vector[],
  weights: ArrayLike<number>,
): Vector[] {
  const value = (): number =>
    f(...inputs.map((input) => input)).reduce((sum, y, i) => sum + y * at(weights, i), 0);
  return inputs.map((input) =>
    fill(input.length, (i) => {
      const centre = at(input, i);
      const h = 1e-5 * Math.max(1, Math.abs(centre));
      input[i] = centre + h;
      const above = value();
      input[i] = centre - h;
      const below = value();
      input[i] = centre;
      return (above - below) / (2 * h);
    }),
  );
}
