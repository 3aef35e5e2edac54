/** The content security policy forbids `eval`; told beforehand, zod does not try it and the console stays clean. */
const holder = globalThis as { __zod_globalConfig?: { jitless?: boolean } };
holder.__zod_globalConfig = { ...holder.__zod_globalConfig, jitless: true };
export {};
