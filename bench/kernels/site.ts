/** Builds the page and serves it on 127.0.0.1, a secure context, isolated so that its clock is fine-grained. */
import { build, preview } from 'vite';
import { inRoot } from '../../scripts/workspace/paths.mjs';

export async function serveSite(): Promise<{ url: string; close: () => Promise<void> }> {
  const root = inRoot('bench', 'kernels', 'page');
  const outDir = inRoot('.cache', 'bench-kernels');
  const common = { root, configFile: false, base: '/', logLevel: 'warn' } as const;
  await build({
    ...common,
    build: { outDir, emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 8000 },
  });
  const server = await preview({
    ...common,
    build: { outDir },
    preview: {
      host: '127.0.0.1',
      port: 0,
      headers: {
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      },
    },
  });
  const url = server.resolvedUrls?.local[0];
  if (url === undefined) throw new Error('the page is not served');
  return { url, close: () => server.close() };
}
