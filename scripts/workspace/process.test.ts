/** `become`, in real processes: what a service manager or an impatient person does to `npm start`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { inRoot } from './paths.mjs';

const server = `
  process.on('SIGTERM', () => process.exit(7));
  setInterval(() => {}, 1000);
  console.log('pid ' + process.pid);
`;
const stand = `
  import { become } from ${JSON.stringify(inRoot('scripts', 'workspace', 'process.mjs'))};
  become(process.execPath, ['-e', ${JSON.stringify(server)}]);
`;

/** The pid that the inner process tells when it is up. */
async function innerPid(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error('no output to read');
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('pid ')) return Number(line.slice(4));
  }
  throw new Error('the inner process never came up');
}

async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a signal reaches the child, and its exit code comes back', async () => {
  const outer = spawn(process.execPath, ['--input-type=module', '-e', stand], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const inner = await innerPid(outer);
  outer.kill('SIGTERM');
  const [code] = (await once(outer, 'exit')) as [number | null];
  expect(code).toBe(7);
  await gone(inner);
});

test('the child does not outlive a killed npm, whose shell says nothing', async () => {
  // The second command keeps the shell from replacing itself with the first.
  const shell = spawn('sh', ['-c', '"$0" --input-type=module -e "$1"; true', process.execPath, stand], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, npm_lifecycle_event: 'start' },
  });
  const inner = await innerPid(shell);
  shell.kill('SIGKILL');
  await gone(inner);
});
