/** Settings: from the environment, overridden by the command line. */
import { parseArgs } from 'node:util';
import { resolve } from 'node:path';

export interface ServerConfig {
  host: string;
  port: number;
  dataDir: string;
  /** Null: one is made at the first start and kept in the data folder. */
  adminToken: string | null;
  https: boolean;
  /** Public address when behind a reverse proxy; null to use this machine's own. */
  publicUrl: string | null;
  /** Further origins whose pages may open sockets. */
  allowedOrigins: string[];
  /** Trust X-Forwarded-* headers of a reverse proxy. */
  trustProxy: boolean;
  demo: boolean;
  logLevel: string;
  gatherMilliseconds: number;
}

export const usage = `Usage: npm start -- [options]

  --port N          port to listen on            (PORT, default 8080)
  --host ADDRESS    address to listen on         (HOST, default 0.0.0.0)
  --data FOLDER     where everything is kept     (DATA_DIR, default ./data)
  --https           serve with a self-signed certificate, so that other
                    machines on the LAN may use WebGPU
  --public-url URL  address that volunteers use, when behind a proxy (PUBLIC_URL)
  --trust-proxy     believe a reverse proxy's X-Forwarded-* headers (TRUST_PROXY=1)
  --no-demo         do not make the demo run at the first start
  --help            this text

Environment: ADMIN_TOKEN sets the admin token; ALLOWED_ORIGINS lists further
origins, separated by commas; LOG_LEVEL is one of pino's levels.
`;

/** @throws Error in words for the person at the terminal. */
export function readConfig(argv: string[], environment: NodeJS.ProcessEnv): ServerConfig | 'help' {
  const { values } = parseArgs({
    args: argv,
    allowNegative: true,
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      data: { type: 'string' },
      https: { type: 'boolean' },
      'public-url': { type: 'string' },
      'trust-proxy': { type: 'boolean' },
      demo: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return 'help';
  // An empty variable is one that is not set.
  const set = (name: string): string | undefined => environment[name] || undefined;
  const portText = values.port ?? set('PORT') ?? '8080';
  const port = portText.trim() === '' ? NaN : Number(portText);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`The port must be a number from 0 to 65535, not "${portText}".`);
  }
  const adminToken = set('ADMIN_TOKEN') ?? null;
  if (adminToken !== null && !/^\S{8,200}$/.test(adminToken)) {
    throw new Error('ADMIN_TOKEN must have 8 to 200 characters, none of them a space.');
  }
  const publicUrl = values['public-url'] ?? set('PUBLIC_URL') ?? null;
  if (publicUrl !== null && !/^https?:$/.test(URL.canParse(publicUrl) ? new URL(publicUrl).protocol : '')) {
    throw new Error(`The public URL "${publicUrl}" is not a URL such as https://train.example.org.`);
  }
  const gatherMilliseconds = Number(set('GATHER_MS') ?? 1500);
  if (!(gatherMilliseconds >= 0 && gatherMilliseconds <= 600_000)) {
    throw new Error('GATHER_MS must be a number of milliseconds up to 600000.');
  }
  return {
    host: values.host ?? set('HOST') ?? '0.0.0.0',
    port,
    dataDir: resolve(values.data ?? set('DATA_DIR') ?? 'data'),
    adminToken,
    https: values.https ?? isOn(set('HTTPS')),
    publicUrl: publicUrl?.replace(/\/+$/, '') ?? null,
    allowedOrigins: (set('ALLOWED_ORIGINS') ?? '')
      .split(',')
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ''),
    trustProxy: values['trust-proxy'] ?? isOn(set('TRUST_PROXY')),
    demo: values.demo ?? isOn(set('DEMO') ?? '1'),
    logLevel: set('LOG_LEVEL') ?? 'warn',
    gatherMilliseconds,
  };
}

/** @throws Error for a word that is neither. */
function isOn(value: string | undefined): boolean {
  if (value === undefined || /^(0|false|no|off)$/i.test(value)) return false;
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  throw new Error(`A switch is 1 or 0, not "${value}".`);
}
