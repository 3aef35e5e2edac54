import { useState } from 'react';
import { useOverview } from '../../api/queries.ts';
import { Alert, Select, controlStyle } from '../../ui/index.ts';
import { CopyButton } from './copy-button.tsx';
import { QrCode } from './qr-code.tsx';

/** The address to give to volunteers, of one run or of all. */
export function DonateLinks({ runId }: { runId: string | null }) {
  const { data } = useOverview();
  const [chosen, setChosen] = useState<string | null>(null);
  // An address of this network, where there is one, is what others can open.
  const origins = data === undefined || data.donateUrls.length === 0 ? [location.origin] : data.donateUrls;
  const origin = chosen ?? preferred(origins);
  const address = donateAddress(origin, runId);
  return (
    <div className="flex flex-wrap items-start gap-4">
      <QrCode text={address} label={`QR code of ${address}`} />
      <div className="grid min-w-52 max-w-2xl flex-1 gap-3">
        {origins.length > 1 && (
          <Select
            label="Address of this server"
            value={origin}
            options={origins.map((value) => ({ value, label: value }))}
            onChange={setChosen}
          />
        )}
        <div className="flex flex-wrap items-center gap-2">
          <input
            readOnly
            aria-label="Donate link"
            value={address}
            className={`${controlStyle} min-w-48 flex-1 font-mono text-sm`}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton text={address} label="Copy link" />
        </div>
        {data?.secureDonateUrls === false && (
          <Alert tone="warn" title="Other machines cannot use their GPU over plain HTTP">
            Browsers offer WebGPU over HTTPS only (and on this machine itself). They can still help with their
            CPU. To switch HTTPS on, start the server with{' '}
            <code className="font-mono whitespace-nowrap">npm start -- --https</code>.
          </Alert>
        )}
      </div>
    </div>
  );
}

/** @param runId null for the page where the volunteer chooses. */
export function donateAddress(origin: string, runId: string | null): string {
  const base = origin.replace(/\/+$/, '');
  return runId === null ? `${base}/` : `${base}/donate/${runId}`;
}

function preferred(origins: readonly string[]): string {
  return origins.find((url) => !/\/\/(localhost|127\.)/.test(url)) ?? origins[0] ?? location.origin;
}
