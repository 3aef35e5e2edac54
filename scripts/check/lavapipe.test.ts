import { expect, it } from 'vitest';
import { debianSource, sourceOf } from './lavapipe.mjs';

const stanzas = `# Mirror
Types: deb
URIs: https://other.example/debian
Suites: trixie
Components: main

Enabled: no
Types: deb
URIs: https://off.example/debian
Suites: bookworm

Types: deb deb-src
URIs: https://mirror.example/debian https://second.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/own.gpg
`;

it('backports come from the mirror of the suite, by the key that signs it', () => {
  const source = debianSource(['', stanzas]);
  expect(source).toMatchObject({
    uri: 'https://mirror.example/debian',
    signedBy: '/usr/share/keyrings/own.gpg',
  });
  expect(source && sourceOf(source, 'bookworm-backports').split('\n')).toEqual([
    'Types: deb',
    'URIs: https://mirror.example/debian',
    'Suites: bookworm-backports',
    'Components: main',
    'Architectures: amd64',
    'Signed-By: /usr/share/keyrings/own.gpg',
    '',
  ]);
});

it('the one-line format is read too, with options and without', () => {
  const lines = [
    '# deb https://commented.example/debian bookworm main',
    'deb https://security.example bookworm-security main',
    'deb [arch=amd64 signed-by=/etc/apt/keyrings/a.gpg] https://mirror.example/debian bookworm main contrib',
  ];
  expect(debianSource([lines.join('\n')])).toMatchObject({
    uri: 'https://mirror.example/debian',
    signedBy: '/etc/apt/keyrings/a.gpg',
  });
  const plain = debianSource(['deb https://mirror.example/debian bookworm main']);
  expect(plain && sourceOf(plain, 'bookworm-backports')).toContain(
    'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg',
  );
});

it('without a source of the suite there is none', () => {
  expect(debianSource(['deb https://mirror.example/debian trixie main', ''])).toBeUndefined();
});
