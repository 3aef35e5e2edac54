/** The device and its limits, in words for its owner. */
import type { DeviceReport } from '@tabweave/shared';

const backendNames: Record<DeviceReport['backend'], string> = {
  webgpu: 'WebGPU',
  webgl: 'WebGL',
  wasm: 'WebAssembly (CPU)',
  cpu: 'plain JavaScript (CPU)',
};

export function backendLine(device: DeviceReport): string {
  const where = device.adapter === '' ? '' : ` on ${device.adapter}`;
  return `${backendNames[device.backend]}${where}`;
}

export interface PassiveCheck {
  secureContext: boolean;
  /** `navigator.gpu` is there; no adapter has been asked for. */
  webgpu: boolean;
  hostname: string;
}

export interface Outlook {
  good: boolean;
  text: string;
}

/** What can be said about WebGPU before Start, from what the browser shows of itself. */
export function outlook({ secureContext, webgpu, hostname }: PassiveCheck): Outlook {
  if (webgpu) {
    return { good: true, text: 'This browser offers WebGPU, the fast way to compute.' };
  }
  if (!secureContext) {
    return {
      good: false,
      text:
        `Browsers offer WebGPU only over HTTPS or on localhost, and this page came from http://${hostname}. ` +
        'It works here with WebGL or WebAssembly, more slowly. Ask whoever runs the server for an https:// address.',
    };
  }
  return {
    good: false,
    text:
      'This browser does not offer WebGPU, so the work runs with WebGL or WebAssembly, more slowly. ' +
      'A recent Chrome, Edge, Firefox or Safari with a current graphics driver offers it.',
  };
}
