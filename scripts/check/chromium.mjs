/** Finds a Chromium for the browser tests, or installs one. */
import { accessSync, constants, existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { inRoot, pinnedNode } from '../workspace/paths.mjs';
import { StepError, run } from '../workspace/process.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * Order: TABWEAVE_CHROMIUM, then one that is installed, then Playwright's own.
 * @returns {Promise<string | undefined>} the path of an executable
 * @throws StepError when TABWEAVE_CHROMIUM names something that cannot be run.
 */
export async function findChromium() {
  const named = process.env.TABWEAVE_CHROMIUM;
  if (named) {
    if (isExecutable(named)) return named;
    throw new StepError(`TABWEAVE_CHROMIUM is ${named}, which is not an executable file.`);
  }
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => names.map((name) => join(folder, name)));
  return [...onPath, ...usualPaths].find(isExecutable) ?? (await playwrightsOwn());
}

/**
 * A Chromium, installed if there is none: by apt on Debian and Ubuntu as root, else by Playwright.
 * @returns {Promise<string>} the path of an executable
 * @throws StepError that says what was tried and what to do.
 */
export async function findOrInstallChromium() {
  const found = await findChromium();
  if (found) return found;
  const tried = [];
  if (canUseApt()) {
    console.log('No Chromium found; installing it with apt-get ...');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    let output = '';
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
      const step = await run('apt-get', args, { env, quiet: true });
      output += step.output;
      if (step.code !== 0) break;
    }
    const installed = await findChromium();
    if (installed) return installed;
    tried.push(`apt-get install chromium:\n${lastLines(output)}`);
  }
  console.log('No Chromium found; asking Playwright to download its own ...');
  const { output } = await run(pinnedNode, [playwrightCli(), 'install', 'chromium'], { quiet: true });
  const downloaded = await playwrightsOwn();
  if (downloaded) return downloaded;
  tried.push(`playwright install chromium:\n${lastLines(output)}`);
  throw new StepError(
    `No Chromium was found, and none could be installed.\n\n${tried.join('\n\n')}\n\n` +
      'Install Chromium or Chrome, or set TABWEAVE_CHROMIUM to its executable.',
  );
}

/**
 * Where Chromium's software Vulkan driver (SwiftShader) lies, for WebGPU in Node, if it is not one of the places
 * where the kernels' tests look by themselves (packages/kernels/src/node/vulkan-driver.ts).
 * @param {string | undefined} chromium
 * @returns {NodeJS.ProcessEnv}
 */
export function softwareGpu(chromium) {
  if (process.env.TABWEAVE_CHROMIUM_FOLDER || chromium === undefined) return {};
  const folder = dirname(realpathSync(chromium));
  return existsSync(join(folder, 'vk_swiftshader_icd.json')) ? { TABWEAVE_CHROMIUM_FOLDER: folder } : {};
}

/** Playwright is a dependency of e2e/, not of the root. */
export const requireFromE2e = createRequire(inRoot('e2e', 'package.json'));

export const playwrightCli = () =>
  join(dirname(requireFromE2e.resolve('@playwright/test/package.json')), 'cli.js');

async function playwrightsOwn() {
  const { chromium } = requireFromE2e('@playwright/test');
  const path = chromium.executablePath();
  return path && isExecutable(path) ? path : undefined;
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Debian's package is a browser; Ubuntu's of the same name installs a snap, which the caller then finds or not. */
function canUseApt() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/etc/os-release'))
    return false;
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync('/etc/os-release', 'utf8'));
}

/** @param {string} text */
const lastLines = (text) => text.trimEnd().split('\n').slice(-12).join('\n');
