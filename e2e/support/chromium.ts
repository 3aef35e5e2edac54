/** The Chromium of the tests, the bench and the screenshots. */
import { chromium, type Browser } from '@playwright/test';
import { findChromium } from '../../scripts/check/chromium.mjs';

/**
 * WebGPU on SwiftShader wherever there is no GPU, so that the shaders run for real on any machine; and no traffic
 * of Chromium's own.
 */
export const chromiumArguments = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** @throws Error when no Chromium is installed. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = await findChromium();
  if (!executablePath) throw new Error('No Chromium was found; set TABWEAVE_CHROMIUM to its executable.');
  return chromium.launch({ executablePath, args: chromiumArguments });
}
