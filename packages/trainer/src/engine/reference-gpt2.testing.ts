/**
 * GPT-2 forward and backward in float64, written for the tests from the formulas with plain loops, sharing nothing
 * with the engine but the layout of the flat parameter vector.
 */
import { gpt2Layout, type Gpt2Config } from '@tabweave/shared';

type Vector = Float64Array;

export interface Reference {
  /** Sum over samples of the mean token loss. */
  loss: number;
  /** [layout.size] */
  gradient: Float64Array;
  /** [samples x tokens x vocabSize] */
  logits: Float64Array;
}

const geluScale = Math.sqrt(2 / Math.PI);

/** y[rows, out] = x[rows, inn] W[inn, out] + b */
function affine(x: Vector, w: Vector, b: Vector, rows: number, inn: number, out: number): Vector {
  const y = new Float64Array(rows * out);
  for (let r = 0; r < rows; r++) {
    for (let o = 0; o < out; o++) {
      let sum = b[o] as number;
      for (let i = 0; i < inn; i++) sum += (x[r * inn + i] as number) * (w[i * out + o] as number);
      y[r * out + o] = sum;
    }
  }
  return y;
}

function affineBackward(
  dy: Vector,
  x: Vector,
  w: Vector,
  rows: number,
  inn: number,
  out: number,
  dw: Vector,
  db: Vector,
): Vector {
  const dx = new Float64Array(rows * inn);
  for (let r = 0; r < rows; r++) {
    for (let o = 0; o < out; o++) {
      const g = dy[r * out + o] as number;
      db[o] = (db[o] as number) + g;
      for (let i = 0; i < inn; i++) {
        dw[i * out + o] = (dw[i * out + o] as number) + g * (x[r * inn + i] as number);
        dx[r * inn + i] = (dx[r * inn + i] as number) + g * (w[i * out + o] as number);
      }
    }
  }
  return dx;
}

function normalise(x: Vector, g: Vector, b: Vector, rows: number, c: number, epsilon: number) {
  const y = new Float64Array(rows * c);
  const hat = new Float64Array(rows * c);
  const reciprocal = new Float64Array(rows);
  for (let r = 0; r < rows; r++) {
    const row = x.subarray(r * c, (r + 1) * c);
    const mean = row.reduce((s, v) => s + v, 0) / c;
    const variance = row.reduce((s, v) => s + (v - mean) ** 2, 0) / c;
    const rstd = 1 / Math.sqrt(variance + epsilon);
    reciprocal[r] = rstd;
    for (let i = 0; i < c; i++) {
      hat[r * c + i] = ((row[i] as number) - mean) * rstd;
      y[r * c + i] = (hat[r * c + i] as number) * (g[i] as number) + (b[i] as number);
    }
  }
  return { y, hat, reciprocal };
}

function normaliseBackward(
  dy: Vector,
  hat: Vector,
  reciprocal: Vector,
  g: Vector,
  rows: number,
  c: number,
  dg: Vector,
  db: Vector,
): Vector {
  const dx = new Float64Array(rows * c);
  for (let r = 0; r < rows; r++) {
    let [meanD, meanDHat] = [0, 0];
    for (let i = 0; i < c; i++) {
      const at = r * c + i;
      const upstream = dy[at] as number;
      dg[i] = (dg[i] as number) + upstream * (hat[at] as number);
      db[i] = (db[i] as number) + upstream;
      meanD += (upstream * (g[i] as number)) / c;
      meanDHat += (upstream * (g[i] as number) * (hat[at] as number)) / c;
    }
    for (let i = 0; i < c; i++) {
      const at = r * c + i;
      const d = (dy[at] as number) * (g[i] as number);
      dx[at] = (reciprocal[r] as number) * (d - meanD - (hat[at] as number) * meanDHat);
    }
  }
  return dx;
}

function causalAttention(qkv: Vector, samples: number, tokens: number, heads: number, c: number) {
  const d = c / heads;
  const out = new Float64Array(samples * tokens * c);
  const probabilities = new Float64Array(samples * heads * tokens * tokens);
  const at = (s: number, t: number, part: number, h: number, i: number): number =>
    (s * tokens + t) * 3 * c + part * c + h * d + i;
  for (let s = 0; s < samples; s++) {
    for (let h = 0; h < heads; h++) {
      for (let t = 0; t < tokens; t++) {
        const scores: number[] = [];
        for (let u = 0; u <= t; u++) {
          let dot = 0;
          for (let i = 0; i < d; i++)
            dot += (qkv[at(s, t, 0, h, i)] as number) * (qkv[at(s, u, 1, h, i)] as number);
          scores.push(dot / Math.sqrt(d));
        }
        const top = Math.max(...scores);
        const weights = scores.map((score) => Math.exp(score - top));
        const total = weights.reduce((a, b) => a + b, 0);
        weights.forEach((weight, u) => {
          const p = weight / total;
          probabilities[((s * heads + h) * tokens + t) * tokens + u] = p;
          for (let i = 0; i < d; i++) {
            const o = (s * tokens + t) * c + h * d + i;
            out[o] = (out[o] as number) + p * (qkv[at(s, u, 2, h, i)] as number);
          }
        });
      }
    }
  }
  return { out, probabilities };
}

function attentionBackward(
  dOut: Vector,
  qkv: Vector,
  probabilities: Vector,
  samples: number,
  tokens: number,
  heads: number,
  c: number,
): Vector {
  const d = c / heads;
  const dQkv = new Float64Array(qkv.length);
  const at = (s: number, t: number, part: number, h: number, i: number): number =>
    (s * tokens + t) * 3 * c + part * c + h * d + i;
  const add = (index: number, value: number): void => void (dQkv[index] = (dQkv[index] as number) + value);
  for (let s = 0; s < samples; s++) {
    for (let h = 0; h < heads; h++) {
      for (let t = 0; t < tokens; t++) {
        const row = ((s * heads + h) * tokens + t) * tokens;
        const dP: number[] = [];
        for (let u = 0; u <= t; u++) {
          let sum = 0;
          for (let i = 0; i < d; i++) {
            const g = dOut[(s * tokens + t) * c + h * d + i] as number;
            sum += g * (qkv[at(s, u, 2, h, i)] as number);
            add(at(s, u, 2, h, i), g * (probabilities[row + u] as number));
          }
          dP.push(sum);
        }
        const inner = dP.reduce((sum, value, u) => sum + value * (probabilities[row + u] as number), 0);
        dP.forEach((value, u) => {
          const dScore = ((probabilities[row + u] as number) * (value - inner)) / Math.sqrt(d);
          for (let i = 0; i < d; i++) {
            add(at(s, t, 0, h, i), dScore * (qkv[at(s, u, 1, h, i)] as number));
            add(at(s, u, 1, h, i), dScore * (qkv[at(s, t, 0, h, i)] as number));
          }
        });
      }
    }
  }
  return dQkv;
}

/** @param tokens [samples, blockSize + 1]. */
export function referenceGpt2(
  config: Gpt2Config,
  parameters: ArrayLike<number>,
  tokens: ArrayLike<number>,
  samples: number,
  blockSize: number,
): Reference {
  const layout = gpt2Layout(config);
  const { width: c, inner, heads, layers, vocabSize: v, layerNormEpsilon: epsilon } = config;
  const rows = samples * blockSize;
  const all = Float64Array.from(parameters);
  const gradient = new Float64Array(layout.size);
  const named = new Map(layout.tensors.map((tensor) => [tensor.name.replace('transformer.', ''), tensor]));
  const slice = (of: Vector, name: string): Vector => {
    const tensor = named.get(name);
    if (!tensor) throw new Error(name);
    return of.subarray(tensor.offset, tensor.offset + tensor.size);
  };
  const p = (name: string): Vector => slice(all, name);
  const g = (name: string): Vector => slice(gradient, name);
  const input = (row: number): number =>
    tokens[Math.floor(row / blockSize) * (blockSize + 1) + (row % blockSize)] as number;
  const target = (row: number): number =>
    tokens[Math.floor(row / blockSize) * (blockSize + 1) + (row % blockSize) + 1] as number;

  let x = new Float64Array(rows * c);
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < c; i++) {
      x[r * c + i] =
        (p('wte.weight')[input(r) * c + i] as number) + (p('wpe.weight')[(r % blockSize) * c + i] as number);
    }
  }
  const saved = [];
  for (let l = 0; l < layers; l++) {
    const n = `h.${l}.`;
    const norm1 = normalise(x, p(`${n}ln_1.weight`), p(`${n}ln_1.bias`), rows, c, epsilon);
    const qkv = affine(norm1.y, p(`${n}attn.c_attn.weight`), p(`${n}attn.c_attn.bias`), rows, c, 3 * c);
    const attended = causalAttention(qkv, samples, blockSize, heads, c);
    const projected = affine(
      attended.out,
      p(`${n}attn.c_proj.weight`),
      p(`${n}attn.c_proj.bias`),
      rows,
      c,
      c,
    );
    const middle = x.map((value, i) => value + (projected[i] as number));
    const norm2 = normalise(middle, p(`${n}ln_2.weight`), p(`${n}ln_2.bias`), rows, c, epsilon);
    const before = affine(norm2.y, p(`${n}mlp.c_fc.weight`), p(`${n}mlp.c_fc.bias`), rows, c, inner);
    const after = before.map((u) => 0.5 * u * (1 + Math.tanh(geluScale * (u + 0.044715 * u ** 3))));
    const out = affine(after, p(`${n}mlp.c_proj.weight`), p(`${n}mlp.c_proj.bias`), rows, inner, c);
    saved.push({ norm1, qkv, attended, norm2, before, after });
    x = middle.map((value, i) => value + (out[i] as number));
  }
  const last = normalise(x, p('ln_f.weight'), p('ln_f.bias'), rows, c, epsilon);
  const logits = new Float64Array(rows * v);
  const dLogits = new Float64Array(rows * v);
  let loss = 0;
  for (let r = 0; r < rows; r++) {
    for (let w = 0; w < v; w++) {
      for (let i = 0; i < c; i++) {
        logits[r * v + w] =
          (logits[r * v + w] as number) +
          (last.y[r * c + i] as number) * (p('wte.weight')[w * c + i] as number);
      }
    }
    const row = logits.subarray(r * v, (r + 1) * v);
    const top = Math.max(...row);
    const total = row.reduce((sum, value) => sum + Math.exp(value - top), 0);
    loss += (Math.log(total) + top - (row[target(r)] as number)) / blockSize;
    row.forEach((value, w) => {
      dLogits[r * v + w] = (Math.exp(value - top) / total - (w === target(r) ? 1 : 0)) / blockSize;
    });
  }

  const dLast = new Float64Array(rows * c);
  for (let r = 0; r < rows; r++) {
    for (let w = 0; w < v; w++) {
      const d = dLogits[r * v + w] as number;
      for (let i = 0; i < c; i++) {
        dLast[r * c + i] = (dLast[r * c + i] as number) + d * (p('wte.weight')[w * c + i] as number);
        g('wte.weight')[w * c + i] =
          (g('wte.weight')[w * c + i] as number) + d * (last.y[r * c + i] as number);
      }
    }
  }
  let dx = normaliseBackward(
    dLast,
    last.hat,
    last.reciprocal,
    p('ln_f.weight'),
    rows,
    c,
    g('ln_f.weight'),
    g('ln_f.bias'),
  );
  for (let l = layers - 1; l >= 0; l--) {
    const n = `h.${l}.`;
    const { norm1, qkv, attended, norm2, before, after } = saved[l] as (typeof saved)[number];
    const dAfter = affineBackward(
      dx,
      after,
      p(`${n}mlp.c_proj.weight`),
      rows,
      inner,
      c,
      g(`${n}mlp.c_proj.weight`),
      g(`${n}mlp.c_proj.bias`),
    );
    const dBefore = dAfter.map((upstream, i) => {
      const u = before[i] as number;
      const t = Math.tanh(geluScale * (u + 0.044715 * u ** 3));
      return upstream * (0.5 * (1 + t) + 0.5 * u * (1 - t * t) * geluScale * (1 + 3 * 0.044715 * u * u));
    });
    const dNorm2 = affineBackward(
      dBefore,
      norm2.y,
      p(`${n}mlp.c_fc.weight`),
      rows,
      c,
      inner,
      g(`${n}mlp.c_fc.weight`),
      g(`${n}mlp.c_fc.bias`),
    );
    const dMiddle = normaliseBackward(
      dNorm2,
      norm2.hat,
      norm2.reciprocal,
      p(`${n}ln_2.weight`),
      rows,
      c,
      g(`${n}ln_2.weight`),
      g(`${n}ln_2.bias`),
    );
    dx = dx.map((value, i) => value + (dMiddle[i] as number));
    const dAttended = affineBackward(
      dx,
      attended.out,
      p(`${n}attn.c_proj.weight`),
      rows,
      c,
      c,
      g(`${n}attn.c_proj.weight`),
      g(`${n}attn.c_proj.bias`),
    );
    const dQkv = attentionBackward(dAttended, qkv, attended.probabilities, samples, blockSize, heads, c);
    const dNorm1 = affineBackward(
      dQkv,
      norm1.y,
      p(`${n}attn.c_attn.weight`),
      rows,
      c,
      3 * c,
      g(`${n}attn.c_attn.weight`),
      g(`${n}attn.c_attn.bias`),
    );
    const dInput = normaliseBackward(
      dNorm1,
      norm1.hat,
      norm1.reciprocal,
      p(`${n}ln_1.weight`),
      rows,
      c,
      g(`${n}ln_1.weight`),
      g(`${n}ln_1.bias`),
    );
    dx = dx.map((value, i) => value + (dInput[i] as number));
  }
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < c; i++) {
      const d = dx[r * c + i] as number;
      g('wte.weight')[input(r) * c + i] = (g('wte.weight')[input(r) * c + i] as number) + d;
      g('wpe.weight')[(r % blockSize) * c + i] = (g('wpe.weight')[(r % blockSize) * c + i] as number) + d;
    }
  }
  return { loss, gradient, logits };
}
