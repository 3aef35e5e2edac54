/** What a volunteer agrees to by pressing Start: short enough to be read. */
import { formatBytes } from '../format.ts';

/** @param parameters of the model; a gradient is as large as the model, as float32. */
export function WhatRuns({ parameters }: { parameters: number }) {
  return (
    <dl className="space-y-3 text-sm">
      <div>
        <dt className="font-medium">What runs here</dt>
        <dd className="text-muted">
          Matrix arithmetic of this model, on your GPU or CPU, in this tab, at the share of time you choose.
          Only code of this page: a model never brings its own.
        </dd>
      </div>
      <div>
        <dt className="font-medium">What is sent</dt>
        <dd className="text-muted">
          Gradients (about {formatBytes(4 * parameters)} a step), how long they took, and what kind of browser
          and GPU this is. Nothing of yours is read: no files, no history, no camera.
        </dd>
      </div>
      <div>
        <dt className="font-medium">How it ends</dt>
        <dd className="text-muted">
          Closing the tab is always safe: nothing is installed and nothing stays.
        </dd>
      </div>
    </dl>
  );
}
