/** Installs exactly what the lockfile says, once: with nothing to do it needs no network and no time. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { inRoot, pinnedNode, root, rootPackage } from './paths.mjs';
import { StepError, run } from './process.mjs';

const oldestNode = 20;

/** @throws StepError when the host's Node cannot run pnpm. */
export function checkHostNode() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= oldestNode) return;
  throw new StepError(
    `This is Node ${process.versions.node}; Tabweave needs Node ${oldestNode} or newer to install itself ` +
      '(it then runs on its own pinned Node). Install a current Node from https://nodejs.org and try again.',
  );
}

/** Installs when `node_modules` is not what the lockfile says. @throws StepError with pnpm's output. */
export async function install() {
  checkHostNode();
  if (isInstalled()) return;
  const packageManager = rootPackage().packageManager;
  console.log(`Installing dependencies (${packageManager}; once, about a minute) ...`);
  const started = Date.now();
  // CI=1: pnpm must never stop to ask, for example whether it may replace a node_modules of another tool.
  const env = { ...process.env, CI: '1', npm_config_yes: 'true' };
  // pm-on-fail=ignore: npx has picked the pinned pnpm; without it pnpm wants to write itself into the lockfile.
  const args = ['--yes', packageManager, 'install', '--frozen-lockfile', '--pm-on-fail=ignore'];
  const { code, output } = await run('npx', args, {
    cwd: root,
    env,
    quiet: true,
    shell: process.platform === 'win32',
  });
  if (code !== 0) {
    throw new StepError(
      `${output}\nThe installation failed (exit code ${code}; the output is above). It needs the network ` +
        'and write access to this folder; when both are there, delete node_modules and try again.',
      code,
    );
  }
  if (!existsSync(pinnedNode)) {
    throw new StepError(
      `The installation finished, but ${pinnedNode} is missing. Delete node_modules and try again.`,
    );
  }
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/** pnpm keeps a copy of the lockfile that it last installed to the end: equal means up to date. */
export function isInstalled() {
  try {
    const wanted = readFileSync(inRoot('pnpm-lock.yaml'));
    const present = readFileSync(inRoot('node_modules', '.pnpm', 'lock.yaml'));
    return wanted.equals(present) && existsSync(pinnedNode) && packagesAreLinked();
  } catch {
    return false;
  }
}

/** A package's own node_modules can be deleted by hand; the root's copy of the lockfile would not tell. */
function packagesAreLinked() {
  const groups = ['apps', 'packages'].flatMap((group) =>
    readdirSync(inRoot(group)).map((name) => [group, name]),
  );
  return [...groups, ['e2e']].every(
    (parts) => !existsSync(inRoot(...parts, 'package.json')) || existsSync(inRoot(...parts, 'node_modules')),
  );
}
