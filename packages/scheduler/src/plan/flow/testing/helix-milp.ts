/**
 * Helix's mixed-integer program (ASPLOS'25, section 4.4, with partial inference), for HiGHS: start s_d, one-hot number
 * of layers b_dk, flow f, and switch x of each edge. The end is e_d = s_d + sum over k of k b_dk.
 */
import type { FlowProblem, Placement } from '../flow-problem.ts';
import { expression } from './highs.ts';
import type { Solved } from './highs.ts';

/** @param problem rates must depend on the number of layers alone. */
export function helixProgram(problem: FlowProblem): string {
  const { layers, devices } = problem;
  const ids = [...Array(devices).keys()];
  const room = ids.map((d) => problem.reach(d, 0));
  const lengths = (d: number): number[] => Array.from({ length: room[d]! }, (_, index) => index + 1);
  const end = (d: number, sign: number): [number, string][] => [
    [sign, `s${d}`],
    ...lengths(d).map((k): [number, string] => [sign * k, `b${d}_${k}`]),
  ];
  const most = ids.reduce((sum, d) => sum + problem.rate(d, 0, 1), 0);
  const capped = (capacity: number): number => Math.min(capacity, most);
  const pairs = ids.flatMap((d) => ids.filter((e) => e !== d).map((e) => [d, e] as const));
  const rows: string[] = [];
  for (const d of ids) {
    const inFlow: [number, string][] = [
      [1, `fs_${d}`],
      ...pairs.filter(([, e]) => e === d).map(([c]): [number, string] => [1, `f${c}_${d}`]),
    ];
    const outFlow: [number, string][] = [
      [-1, `f${d}_t`],
      ...pairs.filter(([c]) => c === d).map(([, e]): [number, string] => [-1, `f${d}_${e}`]),
    ];
    rows.push(`${expression(lengths(d).map((k) => [1, `b${d}_${k}`]))} = 1`);
    rows.push(`${expression(end(d, 1))} <= ${layers}`);
    rows.push(`${expression([...inFlow, ...outFlow])} = 0`);
    rows.push(
      `${expression([...inFlow, ...lengths(d).map((k): [number, string] => [-problem.rate(d, 0, k), `b${d}_${k}`])])} <= 0`,
    );
    rows.push(`s${d} + ${layers} xs_${d} <= ${layers}`);
    rows.push(`${expression([...end(d, -1), [layers, `x${d}_t`]])} <= 0`);
    rows.push(`fs_${d} - ${capped(problem.source(d))} xs_${d} <= 0`);
    rows.push(`f${d}_t - ${capped(problem.sink(d))} x${d}_t <= 0`);
  }
  for (const [d, e] of pairs) {
    // x = 1 only where s_e <= e_d < e_e.
    rows.push(`${expression([[1, `s${e}`], ...end(d, -1), [layers, `x${d}_${e}`]])} <= ${layers}`);
    rows.push(`${expression([...end(d, 1), ...end(e, -1), [layers + 1, `x${d}_${e}`]])} <= ${layers}`);
    rows.push(`f${d}_${e} - ${capped(problem.link(d, e, 1))} x${d}_${e} <= 0`);
  }
  const binaries = [
    ...ids.flatMap((d) => [...lengths(d).map((k) => `b${d}_${k}`), `xs_${d}`, `x${d}_t`]),
    ...pairs.map(([d, e]) => `x${d}_${e}`),
  ];
  return `Maximize
 flow: ${expression(ids.map((d) => [1, `fs_${d}`]))}
Subject To
${rows.map((row, index) => ` r${index}: ${row}`).join('\n')}
Bounds
${ids.map((d) => ` 0 <= s${d} <= ${layers - 1}`).join('\n')}
Binary
 ${binaries.join('\n ')}
General
 ${ids.map((d) => `s${d}`).join('\n ')}
End`;
}

export function placementOf({ values }: Solved, devices: number): Placement {
  const from = Int32Array.from({ length: devices }, (_, d) => Math.round(values[`s${d}`]!));
  const to = from.map((start, d) => {
    const [name] = Object.entries(values).find(([key, value]) => key.startsWith(`b${d}_`) && value > 0.5)!;
    return start + Number(name.split('_')[1]);
  });
  return { from, to };
}
