/** Tabweave's engine, as a volunteer's tab runs it. */
import { createEngine } from '@tabweave/trainer';
import { norm, type Contender } from '../contender.ts';
import { tabweaveCnn } from './tabweave-cnn.ts';

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
        dispose: () => engine.dispose(),
      };
    },
  };
}
