/** Tabweave's engine, as a volunteer's tab runs it. */
import { presentRuntime, tileChoices } from '@tabweave/kernels';
import { createEngine } from '@tabweave/trainer';
import { norm, type Contender } from '../contender.ts';
import { tabweaveCnn } from './tabweave-cnn.ts';

/** At most so long, or until so many contributions in a row have found nothing to tune. */
const settlingMilliseconds = 20_000;
const settledContributions = 12;

export function tabweave(captured: boolean): Contender {
  return {
    async prepare(model, data) {
      if (model.kind !== 'gpt2') return tabweaveCnn(captured).prepare(model, data);
      const { config, tokens, samples } = model;
      const engine = await createEngine({ backend: 'webgpu', captured });
      await engine.load({ config, blockSize: tokens }, data.parameters);
      const step = async (): Promise<void> => {
        engine.begin();
        await engine.accumulate(data.tokens, samples);
      };
      return {
        step,
        async outcome() {
          await step();
          const { lossSum, gradientSum } = await engine.finish();
          return { loss: lossSum / samples, gradientNorm: norm([gradientSum]) / samples };
        },
        // The engine tunes its products between contributions, in a tenth of the time that it has worked.
        async settle() {
          const end = performance.now() + settlingMilliseconds;
          let [choices, unchanged] = [-1, 0];
          while (captured && performance.now() < end && unchanged < settledContributions) {
            for (let pass = 0; pass < 5; pass++) await step();
            await engine.finish();
            const runtime = presentRuntime();
            const now = runtime ? Object.keys(tileChoices(runtime)).length : 0;
            unchanged = now === choices ? unchanged + 1 : 0;
            choices = now;
          }
        },
        dispose: () => engine.dispose(),
      };
    },
  };
}
