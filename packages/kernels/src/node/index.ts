export { installNodeWebGpu } from './install-webgpu.ts';
export { vulkanDriverEnvironment } from './vulkan-driver.ts';
