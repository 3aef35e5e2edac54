/**
 * Finds or fetches lavapipe, the software Vulkan driver of Mesa, for kernel tests with f16 and subgroups, which
 * Chromium's own (SwiftShader) has not. Debian 12's Mesa is too old for Dawn, its backports are not: the package is
 * unpacked into node_modules/.cache, and nothing is installed.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { inRoot } from '../workspace/paths.mjs';
import { run } from '../workspace/process.mjs';

const cache = inRoot('node_modules', '.cache', 'tabweave', 'lavapipe');
const kept = join(cache, 'libvulkan_lvp.so');
const keptLibraries = join(cache, 'libraries');
const debian = { suite: 'bookworm', backports: 'bookworm-backports', architecture: 'amd64' };
const milliseconds = 60_000;
/** What the driver links and a machine without a desktop may lack, each with what it links in turn. */
const libraryPackages = [
  ...['libllvm15', 'libz3-4', 'libedit2', 'libbsd0', 'libmd0', 'libxml2', 'libicu72'],
  ...['libdrm2', 'libexpat1', 'libwayland-client0', 'libffi8', 'libxshmfence1', 'libx11-xcb1', 'libxcb1'],
  ...['libxau6', 'libxdmcp6', 'libxcb-dri3-0', 'libxcb-present0', 'libxcb-randr0', 'libxcb-shm0'],
  ...['libxcb-sync1', 'libxcb-xfixes0'],
];

/**
 * The manifest of a driver, or why there is none.
 * @returns {Promise<{ manifest: string } | { reason: string }>}
 */
export async function findOrFetchLavapipe() {
  const given = process.env.VK_ICD_FILENAMES;
  if (given) {
    return given.split(delimiter).every((path) => existsSync(path))
      ? { manifest: given }
      : { reason: `VK_ICD_FILENAMES is ${given}, and not all of it is there` };
  }
  if (existsSync(kept)) return { manifest: writeManifest() };
  const missing = whatIsMissing();
  if (missing) return { reason: missing };
  console.log(`Fetching lavapipe from ${debian.backports} ...`);
  const unpacked = `${cache}.${process.pid}`;
  try {
    return await fetchDriver(unpacked);
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
}

/**
 * For the process that uses the driver; what it compiles is kept beside it.
 * @param {{ manifest: string }} driver
 * @returns {NodeJS.ProcessEnv}
 */
export function lavapipeEnvironment({ manifest }) {
  return {
    VK_ICD_FILENAMES: manifest,
    MESA_SHADER_CACHE_DIR: inRoot('node_modules', '.cache', 'tabweave'),
    ...(existsSync(keptLibraries) ? withLibraries(keptLibraries) : {}),
  };
}

/** @param {string} folder */
function withLibraries(folder) {
  const before = (process.env.LD_LIBRARY_PATH ?? '').split(delimiter).filter((path) => path !== '');
  return { LD_LIBRARY_PATH: [...before, ...(before.includes(folder) ? [] : [folder])].join(delimiter) };
}

/** @returns {string | null} */
function whatIsMissing() {
  if (process.platform !== 'linux') return 'it is fetched on Linux only';
  if (process.arch !== 'x64') return `no driver is known for ${process.arch}`;
  if (process.getuid?.() !== 0) return 'fetching it takes apt as root';
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  if (!/^ID=debian$/m.test(release) || !release.includes(`VERSION_CODENAME=${debian.suite}`)) {
    return `it is fetched on Debian 12 (${debian.suite}) only`;
  }
  return null;
}

/**
 * @param {string} folder
 * @returns {Promise<{ manifest: string } | { reason: string }>}
 */
async function fetchDriver(folder) {
  const source = debianSource(readSources());
  if (!source) return { reason: `apt has no signed source of ${debian.suite} to take its backports from` };
  const parts = join(folder, 'sources');
  const lists = join(folder, 'lists');
  for (const made of [parts, join(lists, 'partial')]) mkdirSync(made, { recursive: true });
  writeFileSync(join(parts, 'backports.sources'), sourceOf(source, debian.backports));
  // A private list: the machine's own sources, and what it has installed, stay as they are.
  const settings = {
    'Dir::Etc::SourceList': '/dev/null',
    'Dir::Etc::SourceParts': parts,
    'Dir::State::Lists': lists,
    'Dir::Cache::PkgCache': '',
    'Dir::Cache::SrcPkgCache': '',
    'APT::Sandbox::User': 'root',
    'Acquire::Retries': '1',
    'APT::Update::Error-Mode': 'any',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const until = Date.now() + milliseconds;
  const step = (/** @type {string} */ command, /** @type {string[]} */ args) =>
    runUntil(until, command, args, folder);

  /** Downloads packages and unpacks them. @returns {Promise<string | null>} how it failed. */
  const fetch = async (/** @type {string[]} */ packages, /** @type {string} */ into) => {
    for (const args of [['update'], ['download', ...packages]]) {
      const failure = await step('apt-get', ['-q', ...options, ...args]);
      if (failure) return failure;
    }
    for (const archive of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
      const failure = await step('dpkg-deb', ['-x', archive, into]);
      if (failure) return failure;
      rmSync(join(folder, archive));
    }
    return null;
  };

  const failure = await fetch(['mesa-vulkan-drivers'], 'driver');
  if (failure) return { reason: failure };
  const library = findLibrary(join(folder, 'driver'));
  if (!library) return { reason: 'mesa-vulkan-drivers has no lavapipe' };
  if ((await missingLibraries(library)).length > 0) {
    console.log('Fetching the libraries that it needs ...');
    writeFileSync(join(parts, 'suite.sources'), sourceOf(source, debian.suite));
    const failure = await fetch(libraryPackages, 'libraries');
    if (failure) return { reason: failure };
    const libraries = join(folder, 'libraries', 'usr', 'lib', 'x86_64-linux-gnu');
    const lacking = await missingLibraries(library, withLibraries(libraries));
    if (lacking.length > 0) return { reason: `its libraries are not here: ${lacking.join(', ')}` };
    mkdirSync(cache, { recursive: true });
    rmSync(keptLibraries, { recursive: true, force: true });
    renameSync(libraries, keptLibraries);
  }
  // The one library of the many that the package has.
  mkdirSync(cache, { recursive: true });
  renameSync(library, kept);
  return { manifest: writeManifest() };
}

/**
 * Runs a command that must end by then. @returns {Promise<string | null>} how it failed.
 * @param {number} until
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
async function runUntil(until, command, args, cwd) {
  const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000));
  const { code, output } = await run('timeout', ['--kill-after=5', String(seconds), command, ...args], {
    cwd,
    env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    quiet: true,
  });
  if (code === 0) return null;
  if (code === 127) return `there is no ${command} here`;
  if (code === 124) return `${command} ${args.at(-1)} took more than ${milliseconds / 1000} s in all`;
  const told = output.split('\n').find((line) => /^(E|W|dpkg-deb): /.test(line)) ?? output.trim();
  return `${command} failed: ${told.split('\n')[0]}`;
}

/** @param {string} folder */
function findLibrary(folder) {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith('/libvulkan_lvp.so'),
  );
  return found && join(folder, found);
}

/**
 * @param {string} library
 * @param {NodeJS.ProcessEnv} [env]
 */
async function missingLibraries(library, env = {}) {
  const { code, output } = await run('ldd', [library], { env: { ...process.env, ...env }, quiet: true });
  if (code !== 0) return [output.trim()];
  return [...output.matchAll(/^\s*(\S+) => not found/gm)].map(([, name]) => /** @type {string} */ (name));
}

/** Anew each time: it names the library by its whole path, and this folder may have moved. */
function writeManifest() {
  const manifest = join(cache, 'icd.json');
  const icd = { file_format_version: '1.0.0', ICD: { library_path: kept, api_version: '1.4.305' } };
  writeFileSync(manifest, JSON.stringify(icd));
  return manifest;
}

/** The machine's own lists of sources. @returns {string[]} */
function readSources() {
  const folder = '/etc/apt/sources.list.d';
  const parts = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  return ['/etc/apt/sources.list', ...parts]
    .filter((path) => /\.(list|sources)$/.test(path) && existsSync(path))
    .map((path) => readFileSync(path, 'utf8'));
}

/**
 * The mirror of the suite, and the key that signs it.
 * @typedef {{ uri: string, signedBy: string | undefined }} Source
 * @param {string[]} lists in either of apt's formats
 * @returns {Source | undefined}
 */
export function debianSource(lists) {
  return lists
    .flatMap((text) => [...stanzas(text), ...lines(text)])
    .find(({ suites }) => suites.includes(debian.suite));
}

/** @param {string} text */
function stanzas(text) {
  return text
    .replaceAll(/^#.*\n?/gm, '')
    .split(/\n\s*\n/)
    .flatMap((stanza) => {
      const field = (/** @type {string} */ name) =>
        new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(stanza)?.[1]?.trim();
      const uri = field('URIs')?.split(/\s+/)[0];
      const used = /\bdeb\b/.test(field('Types') ?? '') && field('Enabled')?.toLowerCase() !== 'no';
      if (!uri || !used) return [];
      return [
        { uri, suites: (field('Suites') ?? '').split(/\s+/), signedBy: field('Signed-By') || undefined },
      ];
    });
}

/** @param {string} text */
function lines(text) {
  return [...text.matchAll(/^deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)/gm)].map(([, options, uri, suite]) => ({
    uri: /** @type {string} */ (uri),
    suites: [/** @type {string} */ (suite)],
    signedBy: /signed-by=(\S+)/.exec(options ?? '')?.[1],
  }));
}

/**
 * @param {Source} source
 * @param {string} suite
 */
export function sourceOf({ uri, signedBy }, suite) {
  const signed = signedBy ?? '/usr/share/keyrings/debian-archive-keyring.gpg';
  return `Types: deb
URIs: ${uri}
Suites: ${suite}
Components: main
Architectures: ${debian.architecture}
Signed-By: ${signed}
`;
}
