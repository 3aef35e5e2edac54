/** HiGHS as an oracle: linear programs, mixed with integers or not, as LP-format text. */
import highsModule from 'highs';

// Its types are those of a CommonJS module, what Node imports is an ES module.
const loadHighs = highsModule as unknown as typeof highsModule.default;

export interface Solved {
  status: string;
  objective: number;
  values: Record<string, number>;
}

export async function loadSolver(): Promise<(program: string, seconds?: number) => Solved> {
  const highs = await loadHighs();
  return (program, seconds = 60) => {
    const solution = highs.solve(program, { time_limit: seconds, output_flag: false, mip_rel_gap: 1e-9 });
    const values = Object.fromEntries(
      Object.entries(solution.Columns).map(([name, column]) => [
        name,
        'Primal' in column ? (column.Primal ?? 0) : 0,
      ]),
    );
    return { status: solution.Status, objective: solution.ObjectiveValue, values };
  };
}

/** `+ 2.5 x - 1 y`: the terms of a linear expression, without those of coefficient 0. */
export function expression(terms: readonly (readonly [number, string])[]): string {
  const text = terms
    .filter(([coefficient]) => coefficient !== 0)
    .map(([coefficient, name]) => `${coefficient < 0 ? '-' : '+'} ${Math.abs(coefficient)} ${name}`)
    .join(' ');
  return text === '' ? '0 zero' : text;
}
