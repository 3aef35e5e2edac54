/** Stands for the npm package `webgpu` where a test runs in a browser, which has WebGPU of its own. */
export const globals = {};
export const create = (): GPU => navigator.gpu;
