export * from './batch/batch-policy.ts';
export * from './batch/speed-estimate.ts';
export * from './batch/split.ts';
export { createCoordinator } from './coordinator/coordinator.ts';
export * from './coordinator/types.ts';
