/**
 * Which room may import what, as ESLint configuration. Imports go one way: shared <- scheduler <- server and
 * shared <- kernels <- trainer <- web (docs/architecture.md, "Rooms").
 */

const tfjs = String.raw`@tensorflow/tfjs(-|/|$)`;
const shared = String.raw`@tabweave/shared$`;
const kernels = String.raw`@tabweave/kernels$`;
const node = 'node:';

/**
 * `only`: everything else is refused. `never`: just these are. Both are regular expressions on the specifier;
 * relative imports within the room are always allowed.
 * @type {{ room: string, only?: string[], never?: string[], inNodeFolders?: string[], why: string }[]}
 */
const rooms = [
  {
    room: 'packages/shared',
    only: ['zod$'],
    why: 'shared is the contract: it imports zod and nothing else, so that it runs anywhere.',
  },
  {
    room: 'packages/scheduler',
    only: [shared],
    why: 'The scheduler is sans-I/O: it imports @tabweave/shared and nothing else.',
  },
  {
    room: 'packages/kernels',
    only: [shared, tfjs],
    inNodeFolders: [node, 'webgpu$'],
    why: 'Kernels import @tabweave/shared and TensorFlow.js only.',
  },
  {
    room: 'packages/trainer',
    only: [shared, kernels, tfjs, 'socket.io-client$', '@noble/hashes(/|$)'],
    inNodeFolders: [node, '@tabweave/kernels/node$'],
    why: 'The trainer runs in a tab: shared, kernels, TensorFlow.js, socket.io-client and @noble/hashes only.',
  },
  {
    room: 'apps/server',
    never: [tfjs, '@tabweave/(kernels|trainer)'],
    why: 'The server computes no gradients: it never imports TensorFlow.js, kernels or trainer.',
  },
  {
    room: 'apps/web',
    never: ['@tabweave/(scheduler|server)'],
    why: 'The page talks to the server over the network: it never imports the server or its scheduler.',
  },
];

const testFiles = '**/{*.test,testing/**/*}.{ts,tsx}';
const testTools = [
  'highs$',
  'vitest$',
  'fast-check$',
  node,
  'webgpu$',
  '@huggingface/tokenizers$',
  '@tabweave/kernels/node$',
];
/** A relative path that passes through a src/ folder has left its own. */
const outOfTheRoom = String.raw`^\.\.?/.*/src/`;

/**
 * @param {{ only?: string[], never?: string[] }} rule
 * @param {string[]} [more]
 */
function refused({ only, never }, more = []) {
  if (only) return String.raw`^(?!\.\.?/|${[...only, ...more].join('|')})`;
  return `^(${(never ?? []).join('|')})`;
}

/**
 * The same rule for `import x from`, `export from` and `import()`; the built-in rule does not see the last.
 * @param {string[]} files
 * @param {string} regex
 * @param {string} why
 * @param {object[]} bannedSyntax further no-restricted-syntax entries: a later configuration replaces an earlier one
 * @returns {import('eslint').Linter.Config}
 */
function config(files, regex, why, bannedSyntax) {
  const leaves = 'Import another room by its package name, @tabweave/NAME.';
  const dynamic = (/** @type {string} */ pattern, /** @type {string} */ message) => ({
    selector: `ImportExpression[source.value=/${pattern.replaceAll('/', String.raw`\/`)}/]`,
    message,
  });
  return {
    files,
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex, message: why },
            { regex: outOfTheRoom, message: leaves },
          ],
        },
      ],
      'no-restricted-syntax': ['error', dynamic(regex, why), dynamic(outOfTheRoom, leaves), ...bannedSyntax],
    },
  };
}

/** @param {Record<string, object[]>} bannedSyntax by room */
export function importDirection(bannedSyntax) {
  return rooms.flatMap((rule) => {
    const source = `${rule.room}/src/**/*.{ts,tsx}`;
    const banned = bannedSyntax[rule.room] ?? [];
    const configs = [config([source], refused(rule), rule.why, banned)];
    if (rule.inNodeFolders) {
      const files = [`${rule.room}/src/**/node/**/*.ts`];
      configs.push(config(files, refused(rule, rule.inNodeFolders), rule.why, banned));
    }
    if (rule.only) {
      configs.push(config([`${rule.room}/src/${testFiles}`], refused(rule, testTools), rule.why, []));
    }
    return configs;
  });
}
