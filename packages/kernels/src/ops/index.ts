export * from './attention.ts';
export * from './cross-entropy.ts';
export * from './embedding.ts';
export * from './gelu.ts';
export * from './linear.ts';
export * from './norm.ts';
export * from './rotary.ts';
