import { networkInterfaces } from 'node:os';

/** IPv4 addresses of this machine in its local networks. */
export function lanAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((address) => address.family === 'IPv4' && !address.internal)
    .map((address) => address.address);
}

/** Whether a bind address is reachable from other machines. */
export function listensToAll(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}
