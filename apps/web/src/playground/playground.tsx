import type { Run } from '@tabweave/shared';
import { Sparkles, Square } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore, type SyntheticEvent } from 'react';
import { Alert, Button, Card, Slider, Spinner, TextAreaField, TextField, plural } from '../ui/index.ts';
import { Generator } from './generator.ts';

const backends: Record<string, string> = {
  webgpu: 'WebGPU',
  webgl: 'WebGL',
  wasm: 'WebAssembly',
  cpu: 'JavaScript',
};

/** Has the run's model continue a text, in this tab. */
export default function Playground({ run }: { run: Run }) {
  const [generator] = useState(() => new Generator());
  const state = useSyncExternalStore(generator.subscribe, generator.state);
  useEffect(() => () => generator.dispose(), [generator]);
  const [prompt, setPrompt] = useState('Once upon a time');
  const [length, setLength] = useState(200);
  const [temperature, setTemperature] = useState(0.8);
  const [topK, setTopK] = useState(0);
  const [seed, setSeed] = useState('1');
  const busy = state.phase !== 'idle';
  const badPrompt = prompt === '' ? 'Type something for the model to continue.' : null;
  const badSeed = /^\d{1,15}$/.test(seed) ? null : 'Enter a whole number, 0 or more.';
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (badPrompt !== null || badSeed !== null) return;
    void generator.generate(run, { prompt, length, sampling: { temperature, topK }, seed: Number(seed) });
  };
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[22rem_minmax(0,1fr)]">
      <Card title="Continue a text" description="Generated in this tab, with the run’s present parameters.">
        <form onSubmit={submit} className="grid gap-4" noValidate>
          <TextAreaField
            label="Prompt"
            value={prompt}
            maxLength={4000}
            error={badPrompt}
            onChange={(event) => setPrompt(event.target.value)}
          />
          <Slider label="Tokens" value={length} min={1} max={1000} onChange={setLength} />
          <Slider
            label="Temperature"
            value={temperature}
            min={0}
            max={2}
            step={0.05}
            hint="Low: likely and repetitive. High: varied and wild."
            onChange={setTemperature}
          />
          <Slider
            label="Top-k"
            value={topK}
            min={0}
            max={Math.min(200, run.config.vocabSize)}
            hint="Only the k likeliest tokens; 0 for all."
            onChange={setTopK}
          />
          <TextField
            label="Seed"
            inputMode="numeric"
            value={seed}
            error={badSeed}
            hint="The same seed and parameters give the same text."
            onChange={(event) => setSeed(event.target.value)}
          />
          {busy ? (
            <Button icon={Square} onClick={() => generator.stop()}>
              Stop
            </Button>
          ) : (
            <Button type="submit" tone="primary" icon={Sparkles}>
              Generate
            </Button>
          )}
        </form>
      </Card>
      <Card title="Text">
        {state.error && (
          <Alert tone="bad" title={state.error.title}>
            {state.error.detail}
          </Alert>
        )}
        {state.phase === 'loading' && <Spinner label={state.activity} />}
        {state.text === '' && state.phase === 'idle' && !state.error && (
          <p className="text-muted">The continuation appears here as it is drawn.</p>
        )}
        {(state.text !== '' || state.phase === 'generating') && (
          // A region that scrolls must be reachable by keyboard.
          <div
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            tabIndex={0}
            role="region"
            aria-label="Generated text"
            className="max-h-[32rem] overflow-y-auto rounded-lg bg-sunken p-4 font-mono text-sm leading-6 whitespace-pre-wrap"
          >
            <span className="text-muted">{state.prompt}</span>
            {state.text}
            {busy && <span aria-hidden className="ml-0.5 inline-block h-4 w-2 bg-accent align-middle" />}
          </div>
        )}
        <p role="status" className="mt-3 text-sm text-muted">
          {state.model &&
            state.phase === 'idle' &&
            state.tokens > 0 &&
            `${plural(state.tokens, 'token')} from the parameters of step ${state.model.version}, on ${backends[state.model.device] ?? state.model.device}.`}
        </p>
      </Card>
    </div>
  );
}
