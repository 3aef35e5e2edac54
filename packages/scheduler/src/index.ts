export * from './coordinator/types.ts';
