export * from './engine/engine.ts';
export { createEngine, type EngineOptions } from './engine/tfjs-engine.ts';
export type { BackendOptions } from './engine/backend.ts';
export type { TileStore } from './engine/slack-tuner.ts';
export { runSelfTest } from './self-test/self-test.ts';
export * from './session/index.ts';
export * from './session/volunteer-state.ts';
