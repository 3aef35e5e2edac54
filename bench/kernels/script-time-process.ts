/** One contender of `npm run bench:script`: `node script-time-process.ts CONTENDER MODEL` prints its median. */
import { installNodeWebGpu } from '@tabweave/kernels/node';
import { models, type ModelName } from './models.ts';
import { median } from '../statistics.ts';

installNodeWebGpu(['backend=null']);
const [, , id = '', name = ''] = process.argv;
const model = models[name as ModelName];
const { modelData } = await import('./page/data.ts');
const { plainTfjs } = await import('./page/contenders/plain-tfjs.ts');
const { tabweave } = await import('./page/contenders/tabweave.ts');
const contender = id === 'tfjs-webgpu' ? plainTfjs('webgpu') : tabweave(id === 'tabweave');
const trained = await contender.prepare(model, modelData(model));
const [warmUp, steps] = [20, 60];
const times: number[] = [];
for (let i = 0; i < warmUp + steps; i++) {
  const began = performance.now();
  await trained.step();
  times.push(performance.now() - began);
}
console.log(`median ${median(times.slice(warmUp))}`);
process.exit(0);
