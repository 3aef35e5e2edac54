/** A self-signed certificate for `--https`: kept in the data folder, made anew when this machine's addresses change or it nears its end. */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { writeDurable } from '../storage/durable.ts';
import { lanAddresses } from './addresses.ts';

export interface Certificate {
  cert: string;
  key: string;
}

const validDays = 365;
const renewBeforeDays = 14;

export async function selfSignedCertificate(folder: string): Promise<Certificate> {
  const path = join(folder, 'certificate.json');
  const addresses = ['127.0.0.1', ...lanAddresses()];
  const kept = readCertificate(path);
  if (kept && stillGood(kept, addresses)) return kept;
  const made = await generate([{ name: 'commonName', value: 'Tabweave' }], {
    keySize: 2048,
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + validDays * 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 2, value: hostname() },
          ...addresses.map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
  });
  const certificate: Certificate = { cert: made.cert, key: made.private };
  writeDurable(path, [Buffer.from(JSON.stringify(certificate))], 0o600);
  return certificate;
}

function readCertificate(path: string): Certificate | null {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Certificate;
  } catch {
    return null;
  }
}

function stillGood(certificate: Certificate, addresses: string[]): boolean {
  const parsed = new X509Certificate(certificate.cert);
  const fresh = new Date(parsed.validTo).getTime() - Date.now() > renewBeforeDays * 86_400_000;
  return fresh && addresses.every((ip) => parsed.checkIP(ip) !== undefined);
}
