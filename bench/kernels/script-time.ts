/**
 * `npm run bench:script`: milliseconds of script in one training step, with a GPU that does nothing (Dawn's null back
 * end): what is left of a step on an infinitely fast device. Each contender runs in a process of its own.
 */
import { execFileSync } from 'node:child_process';
import { inRoot } from '../../scripts/workspace/paths.mjs';
import { nameOf } from './contenders.ts';
import { median } from '../statistics.ts';

const [own, models, rounds] = [['tfjs-webgpu', 'tabweave-ops', 'tabweave'], ['tiny', 'small'], 3];

for (const model of models) {
  const times = new Map(own.map((id) => [id, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const id of own) times.get(id)?.push(measured(id, model));
  }
  const base = median(times.get('tfjs-webgpu') ?? []);
  console.log(`${model}:`);
  for (const id of own) {
    const time = median(times.get(id) ?? []);
    const ratio = (base / time).toPrecision(3);
    console.log(
      `  ${nameOf(id).padEnd(24)} ${time.toPrecision(3).padStart(6)} ms a step, ${ratio} times as fast`,
    );
  }
}

function measured(id: string, model: string): number {
  const file = inRoot('bench', 'kernels', 'script-time-process.ts');
  const output = execFileSync(process.execPath, [file, id, model], { encoding: 'utf8', stdio: 'pipe' });
  const line = output.split('\n').find((text) => text.startsWith('median '));
  if (line === undefined) throw new Error(`${id} gave no time: ${output.slice(-500)}`);
  return Number(line.slice('median '.length));
}
