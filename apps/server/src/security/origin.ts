/**
 * Whether a socket handshake may proceed. Same-origin policy does not hold for WebSockets, and socket.io's `cors`
 * does not stop them either, so the Origin header is compared here. No Origin means no browser.
 */
export function originAllowed(
  origin: string | undefined,
  host: string | undefined,
  allowed: readonly string[],
): boolean {
  if (origin === undefined) return true;
  if (allowed.includes(origin)) return true;
  let url: URL;
  try {
    url = new URL(origin);
  } catch {
    return false;
  }
  return url.host === host;
}
