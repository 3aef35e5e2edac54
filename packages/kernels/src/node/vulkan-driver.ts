/**
 * A software Vulkan driver for tests where there is no GPU: the loader and SwiftShader that come with Chromium.
 * The loader is found at process start, so these variables must be set before the process that uses Dawn begins.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const chromiumFolders = ['/usr/lib/chromium', '/usr/lib/chromium-browser', '/opt/google/chrome'];

/**
 * Environment variables for a child process, or null when no driver is found. A driver named by VK_ICD_FILENAMES is left
 * as it is, and only gets the loader, where there may be none.
 */
export function vulkanDriverEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> | null {
  const named = environment['VK_ICD_FILENAMES'];
  const given = environment['TABWEAVE_CHROMIUM_FOLDER'];
  const folder = [...(given === undefined ? [] : [given]), ...chromiumFolders].find((candidate) =>
    existsSync(join(candidate, 'vk_swiftshader_icd.json')),
  );
  if (folder === undefined) return named === undefined ? null : {};
  const libraries = [folder, environment['LD_LIBRARY_PATH']].filter(
    (path) => path !== undefined && path !== '',
  );
  return {
    VK_ICD_FILENAMES: named ?? join(folder, 'vk_swiftshader_icd.json'),
    LD_LIBRARY_PATH: libraries.join(':'),
  };
}
