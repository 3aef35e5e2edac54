import type { PassiveCheck } from './device-words.ts';

/** Looks at what the browser shows of itself; asks for no adapter and no permission. */
export function passiveCheck(): PassiveCheck & { userAgent: string } {
  return {
    secureContext: isSecureContext,
    webgpu: 'gpu' in navigator,
    hostname: location.hostname,
    userAgent: navigator.userAgent,
  };
}
