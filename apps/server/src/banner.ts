/** What the terminal says once the server is up. */
import { renderUnicodeCompact } from 'uqr';
import type { RunningServer } from './server.ts';

export function banner(server: RunningServer): string {
  const link = `${server.localUrl}/admin#token=${server.services.auth.newLinkToken()}`;
  const secure = server.localUrl.startsWith('https:');
  const lan = server.lanUrls[0];
  const lines = [
    '',
    '  Tabweave is ready.',
    '',
    `  Dashboard         ${link}`,
    '                    (this link signs in once)',
    `  Donate, here      ${server.localUrl}/`,
  ];
  for (const url of server.lanUrls) lines.push(`  Donate, LAN       ${url}/`);
  lines.push(`  REST and OpenAPI  ${server.localUrl}/api/docs`);
  if (server.adminTokenFile !== null) lines.push(`  Admin token       in ${server.adminTokenFile}`);
  if (lan !== undefined) {
    lines.push('', '  Scan to donate from another device:', '');
    lines.push(
      ...renderUnicodeCompact(`${lan}/`, { border: 2 })
        .split('\n')
        .map((line) => `    ${line}`),
    );
    if (!lan.startsWith('https:')) {
      lines.push(
        '',
        '  Browsers offer WebGPU on secure pages only: on other machines, over plain http, tabs',
        '  fall back to slower back ends. `npm start -- --https` serves with a self-signed certificate.',
      );
    } else if (secure) {
      lines.push('', '  The certificate is self-signed: browsers warn once; choose to proceed.');
    }
  }
  lines.push('', '  Stop with Ctrl+C; everything is kept, and running runs go on at the next start.', '');
  return lines.join('\n');
}
