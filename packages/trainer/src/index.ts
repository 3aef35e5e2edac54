export * from './engine/engine.ts';
export { createEngine } from './engine/tfjs-engine.ts';
export type { BackendOptions } from './engine/backend.ts';
export { runSelfTest } from './self-test/self-test.ts';
export * from './session/index.ts';
export * from './session/volunteer-state.ts';
